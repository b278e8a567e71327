// SPDX-License-Identifier: MIT
// Copyright (c) 2026 the entitable authors
#pragma once

#include <entitable/client/mapping/detail/value_reader.hpp>
#include <entitable/client/mapping/key_codec.hpp>
#include <entitable/core/text.hpp>

ENTITABLE_BEGIN_NAMESPACE
namespace detail {

ENTITABLE_LAZY_BODY void append_key_integer(
    std::string& out, std::uint64_t magnitude, bool negative, std::size_t width) {
    if (negative) { out += '-'; }
    text::append_decimal(out, magnitude, width);
}

ENTITABLE_LAZY_BODY bool parse_key_integer(
    std::string_view text, std::size_t width, std::uint64_t& magnitude, bool& negative) noexcept {
    negative = !text.empty() && text.front() == '-';
    if (negative) { text.remove_prefix(1); }
    if (text.size() != width) { return false; }
    magnitude = 0;
    constexpr std::size_t always_fits = 19; // digits
    std::size_t const rest = text.size() < always_fits ? text.size() : always_fits;
    for (char const character : text.substr(0, rest)) {
        unsigned const digit = static_cast<unsigned char>(character) - unsigned{'0'};
        if (digit > 9) { return false; }
        magnitude = magnitude * 10 + digit;
    }
    for (char const character : text.substr(rest)) {
        if (character < '0' || character > '9') { return false; }
        auto const digit = static_cast<std::uint64_t>(character - '0');
        if (magnitude > (~std::uint64_t{0} - digit) / 10) { return false; }
        magnitude = magnitude * 10 + digit;
    }
    return true;
}

} // namespace detail

ENTITABLE_LAZY_BODY bool key_codec<guid>::append(std::string& out, guid const& value) {
    out += value.to_string();
    return true;
}

ENTITABLE_LAZY_BODY bool key_codec<guid>::parse(std::string_view text, guid& out) {
    auto const read = guid::parse(text);
    out = read.value_or(guid{});
    return read && read->to_string() == text; // each value has only one text
}

ENTITABLE_LAZY_BODY bool key_codec<std::string>::append(std::string& out, std::string_view value) {
    out += value;
    return true;
}

ENTITABLE_LAZY_BODY bool key_codec<std::string>::parse(std::string_view text, std::string& out) {
    detail::assign_text(out, text);
    return true;
}

ENTITABLE_END_NAMESPACE
