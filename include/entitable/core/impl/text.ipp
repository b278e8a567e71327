// SPDX-License-Identifier: MIT
// Copyright (c) 2026 the entitable authors
#pragma once

#include <entitable/core/text.hpp>

ENTITABLE_BEGIN_NAMESPACE
namespace text {

ENTITABLE_LAZY_BODY code_point first_code_point(std::string_view bytes) noexcept {
    auto const byte = [&](std::size_t index) { return static_cast<unsigned char>(bytes[index]); };
    auto const continues = [&](std::size_t index) { return index < bytes.size() && (byte(index) & 0xC0U) == 0x80U; };
    unsigned const lead = byte(0);
    if (lead < 0x80) { return {lead, 1}; }
    std::size_t const size = lead >= 0xF0 ? 4U : lead >= 0xE0 ? 3U : 2U;
    char32_t value = size == 4 ? lead & 0x07U : size == 3 ? lead & 0x0FU : lead & 0x1FU;
    if (lead < 0xC2 || lead > 0xF4) { return {}; }
    for (std::size_t index = 1; index < size; ++index) {
        if (!continues(index)) { return {}; }
        value = (value << 6U) | (byte(index) & 0x3FU);
    }
    bool const overlong = (size == 3 && value < 0x800) || (size == 4 && value < 0x10000);
    bool const surrogate = value >= 0xD800 && value <= 0xDFFF;
    if (overlong || surrogate || value > 0x10FFFF) { return {}; }
    return {value, size};
}

namespace detail {

ENTITABLE_LAZY void append_code_point(std::string& out, char32_t value) {
    auto const put = [&](char32_t unit) { out.push_back(static_cast<char>(static_cast<unsigned char>(unit))); };
    if (value < 0x80) {
        put(value);
    } else if (value < 0x800) {
        put(0xC0U | (value >> 6U));
        put(0x80U | (value & 0x3FU));
    } else if (value < 0x10000) {
        put(0xE0U | (value >> 12U));
        put(0x80U | ((value >> 6U) & 0x3FU));
        put(0x80U | (value & 0x3FU));
    } else {
        put(0xF0U | (value >> 18U));
        put(0x80U | ((value >> 12U) & 0x3FU));
        put(0x80U | ((value >> 6U) & 0x3FU));
        put(0x80U | (value & 0x3FU));
    }
}

} // namespace detail

ENTITABLE_LAZY_BODY std::size_t ascii_prefix(std::string_view bytes) noexcept {
    std::size_t at = 0;
    auto const eight = [&bytes](std::size_t from) {
        std::uint64_t made = 0;
        std::memcpy(&made, bytes.data() + from, sizeof made);
        return made;
    };
    constexpr std::uint64_t high = 0x8080808080808080U;
    for (; bytes.size() - at >= 32; at += 32) { // values may have 64 kB
        if (((eight(at) | eight(at + 8) | eight(at + 16) | eight(at + 24)) & high) != 0) { break; }
    }
    while (bytes.size() - at >= 8 && (eight(at) & high) == 0) { at += 8; }
    while (at < bytes.size() && static_cast<unsigned char>(bytes[at]) < 0x80) { ++at; }
    return at;
}

ENTITABLE_LAZY_BODY std::optional<std::size_t> utf16_length(std::string_view utf8) noexcept {
    std::size_t units = ascii_prefix(utf8);
    utf8.remove_prefix(units);
    while (!utf8.empty()) {
        auto const point = first_code_point(utf8);
        if (point.size == 0) { return std::nullopt; }
        units += point.size == 4 ? 2U : 1U;
        utf8.remove_prefix(point.size);
    }
    return units;
}

ENTITABLE_LAZY_BODY std::size_t valid_utf8_prefix(std::string_view utf8) noexcept {
    constexpr std::size_t some = 256;
    if (utf8.size() <= some &&
        all_eights(utf8, [](std::uint64_t eight) { return (eight & 0x8080808080808080U) == 0; })) {
        return utf8.size(); // the usual case
    }
    std::size_t offset = 0;
    for (;;) {
        offset += ascii_prefix(utf8.substr(offset));
        if (offset == utf8.size()) { return offset; }
        auto const point = first_code_point(utf8.substr(offset));
        if (point.size == 0) { return offset; }
        offset += point.size;
    }
}

ENTITABLE_LAZY_BODY int compare_utf16(std::string_view left, std::string_view right) noexcept {
    std::size_t const common = left.size() < right.size() ? left.size() : right.size();
    std::size_t index = 0;
    for (std::uint64_t ours = 0, theirs = 0; index + sizeof ours <= common; index += sizeof ours) { // equal eights
        std::memcpy(&ours, left.data() + index, sizeof ours);
        std::memcpy(&theirs, right.data() + index, sizeof theirs);
        if (ours != theirs) { break; }
    }
    for (; index < common; ++index) {
        if (left[index] != right[index]) {
            auto const ours = utf16_rank(static_cast<unsigned char>(left[index]));
            auto const theirs = utf16_rank(static_cast<unsigned char>(right[index]));
            return ours < theirs ? -1 : 1;
        }
    }
    return left.size() == right.size() ? 0 : left.size() < right.size() ? -1 : 1;
}

ENTITABLE_LAZY_BODY std::optional<std::string> successor_of_prefix(std::string_view prefix) {
    // In UTF-16 order the code points are 0..D7FF, 10000..10FFFF, E000..FFFF.
    while (!prefix.empty()) {
        std::size_t start = prefix.size() - 1;
        while (start > 0 && (static_cast<unsigned char>(prefix[start]) & 0xC0U) == 0x80U) { --start; }
        auto const last = first_code_point(prefix.substr(start));
        std::string_view const before = prefix.substr(0, start);
        if (last.size != 0 && last.value != 0xFFFF) {
            char32_t const next = last.value == 0xD7FF ? 0x10000U : last.value == 0x10FFFF ? 0xE000U : last.value + 1;
            std::string successor{before};
            // U+007F..U+009F and the like are possible here: a bound is compared with keys, never stored as a key.
            detail::append_code_point(successor, next);
            return successor;
        }
        prefix = before; // the greatest code unit has no successor, so the one before it is incremented
    }
    return std::nullopt;
}

ENTITABLE_LAZY_BODY std::string ascii_lower(std::string_view text) {
    std::string lower{text};
    for (char& character : lower) {
        if (character >= 'A' && character <= 'Z') { character = static_cast<char>(character - 'A' + 'a'); }
    }
    return lower;
}

ENTITABLE_LAZY_BODY std::string shortened(std::string_view text, std::size_t limit) {
    if (text.size() <= limit) { return std::string{text}; }
    while (limit > 0 && (static_cast<unsigned char>(text[limit]) & 0xC0U) == 0x80U) { --limit; }
    return std::string{text.substr(0, limit)} + "...";
}

ENTITABLE_LAZY_BODY void append_decimal(std::string& out, std::uint64_t value, std::size_t width) {
    char digits[20];
    std::size_t first = sizeof digits;
    do {
        digits[--first] = static_cast<char>('0' + value % 10);
        value /= 10;
    } while (value != 0);
    while (first > 0 && sizeof digits - first < width) { digits[--first] = '0'; }
    std::size_t const count = sizeof digits - first;
    if (count < width) { out.append(width - count, '0'); }
    out.append(digits + first, count);
}

ENTITABLE_LAZY_BODY std::string joined(std::initializer_list<std::string_view> parts) {
    std::string out;
    for (std::string_view const part : parts) { out.append(part); }
    return out;
}

ENTITABLE_LAZY_BODY std::string printable(std::string_view text) {
    constexpr std::string_view hexadecimal = "0123456789abcdef";
    std::string out;
    while (!text.empty()) {
        auto const point = first_code_point(text);
        bool const control = point.value < 0x20 || (point.value >= 0x7F && point.value <= 0x9F);
        std::size_t const size = point.size == 0 ? 1 : point.size;
        if (point.size == 0 || control) {
            for (char const character : text.substr(0, size)) {
                auto const byte = static_cast<unsigned char>(character);
                out += {'\\', 'x', hexadecimal[byte >> 4U], hexadecimal[byte & 0x0FU]};
            }
        } else {
            out += text.substr(0, size);
        }
        text.remove_prefix(size);
    }
    return out;
}

} // namespace text
ENTITABLE_END_NAMESPACE
