// SPDX-License-Identifier: MIT
// Copyright (c) 2026 the entitable authors
#pragma once

#include <entitable/core/detail/characters.hpp>
#include <entitable/core/detail/value_text.hpp>
#include <entitable/core/guid.hpp>
#include <entitable/core/random_seed.hpp>

ENTITABLE_BEGIN_NAMESPACE
namespace detail {

/// Value of each character as a hexadecimal digit; 0x80 for any other character.
inline constexpr std::array<unsigned char, 256> hexadecimal_values = [] {
    std::array<unsigned char, 256> values{};
    for (std::size_t byte = 0; byte < 256; ++byte) {
        int const value = hexadecimal_digit(static_cast<char>(byte));
        values[byte] = value < 0 ? 0x80U : static_cast<unsigned char>(value);
    }
    return values;
}();

/// Makes a UUID of a version from two numbers, the high half first.
[[nodiscard]] inline guid guid_of(std::uint64_t high, std::uint64_t low, std::uint64_t version) noexcept {
    high = (high & ~std::uint64_t{0xF000}) | version << 12U;
    low = (low & ~std::uint64_t{0} >> 2U) | std::uint64_t{1} << 63U;
    guid made;
    for (std::size_t index = 0; index < 8; ++index) {
        made.bytes[index] = static_cast<unsigned char>((high >> (56 - 8 * index)) & 0xFFU);
        made.bytes[index + 8] = static_cast<unsigned char>((low >> (56 - 8 * index)) & 0xFFU);
    }
    return made;
}

} // namespace detail

ENTITABLE_LAZY_BODY guid guid::random() noexcept { return detail::guid_of(random_seed(), random_seed(), 4); }

ENTITABLE_LAZY_BODY guid guid::ordered(date_time time) noexcept {
    constexpr std::int64_t ticks_per_millisecond = date_time::ticks_per_second / 1000;
    std::int64_t const since = time.ticks > date_time::unix_epoch ? time.ticks - date_time::unix_epoch : 0;
    auto const milliseconds = static_cast<std::uint64_t>(since / ticks_per_millisecond);
    auto const fraction = static_cast<std::uint64_t>(since % ticks_per_millisecond * 4096 / ticks_per_millisecond);
    return detail::guid_of(milliseconds << 16U | fraction, random_seed(), 7);
}

ENTITABLE_LAZY_BODY std::optional<guid> guid::parse(std::string_view text) noexcept {
    if (text.size() != 36 || text[8] != '-' || text[13] != '-' || text[18] != '-' || text[23] != '-') {
        return std::nullopt;
    }
    guid read;
    unsigned bad = 0; // checked once, at the end
    std::size_t at = 0;
    for (std::size_t index = 0; index < read.bytes.size(); ++index) {
        at += index == 4 || index == 6 || index == 8 || index == 10 ? 1U : 0U;
        unsigned const high = detail::hexadecimal_values[static_cast<unsigned char>(text[at])];
        unsigned const low = detail::hexadecimal_values[static_cast<unsigned char>(text[at + 1])];
        bad |= high | low;
        read.bytes[index] = static_cast<unsigned char>((high << 4U | low) & 0xFFU);
        at += 2;
    }
    return bad > 15 ? std::nullopt : std::optional{read};
}

namespace detail {

ENTITABLE_LAZY_BODY void write_guid(char* to, guid const& id) noexcept {
    constexpr char digits[] = "0123456789abcdef";
    for (std::size_t index = 0; index < id.bytes.size(); ++index) {
        if (index == 4 || index == 6 || index == 8 || index == 10) { *to++ = '-'; }
        *to++ = digits[id.bytes[index] >> 4U];
        *to++ = digits[id.bytes[index] & 0x0FU];
    }
}

} // namespace detail

ENTITABLE_LAZY_BODY void guid::append_to(std::string& out) const {
    char text[36];
    detail::write_guid(text, *this);
    out.append(text, sizeof text);
}

ENTITABLE_LAZY_BODY std::string guid::to_string() const {
    std::string out;
    append_to(out);
    return out;
}

ENTITABLE_END_NAMESPACE
