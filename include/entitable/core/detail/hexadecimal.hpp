// SPDX-License-Identifier: MIT
// Copyright (c) 2026 the entitable authors
#pragma once

/// \file
/// Numbers and bytes as hexadecimal digits, and back.

#include <entitable/core/detail/characters.hpp>

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

ENTITABLE_BEGIN_NAMESPACE
namespace detail {

/// Appends a number as 16 lower-case digits.
inline void append_hexadecimal(std::string& to, std::uint64_t number) {
    char digits[16];
    for (unsigned at = 16; at > 0; number >>= 4U) { digits[--at] = hexadecimal_of(number); }
    to.append(digits, sizeof digits);
}

/// Appends two lower-case digits for each byte.
inline void append_hexadecimal(std::string& to, std::string_view bytes) {
    for (char const each : bytes) {
        auto const byte = static_cast<unsigned char>(each);
        to += hexadecimal_of(byte >> 4U);
        to += hexadecimal_of(byte);
    }
}

/// Decodes an even number of digits, in either case, into bytes.
[[nodiscard]] inline std::optional<std::string> from_hexadecimal(std::string_view digits) {
    if (digits.size() % 2 != 0) { return std::nullopt; }
    std::string bytes;
    bytes.reserve(digits.size() / 2);
    for (std::size_t at = 0; at < digits.size(); at += 2) {
        int const high = hexadecimal_digit(digits[at]);
        int const low = hexadecimal_digit(digits[at + 1]);
        if (high < 0 || low < 0) { return std::nullopt; }
        bytes += static_cast<char>(static_cast<unsigned char>(high * 16 + low));
    }
    return bytes;
}

/// Appends the bytes of percent-encoded text (RFC 3986, 2.1); false if a % is not followed by two hexadecimal digits.
[[nodiscard]] inline bool append_url_unescaped(std::string& out, std::string_view text) {
    while (!text.empty()) {
        std::size_t const percent = text.find('%');
        out.append(text.substr(0, percent));
        if (percent == std::string_view::npos) { return true; }
        text.remove_prefix(percent + 1);
        int const high = text.size() < 2 ? -1 : hexadecimal_digit(text[0]);
        int const low = text.size() < 2 ? -1 : hexadecimal_digit(text[1]);
        if (high < 0 || low < 0) { return false; }
        out += static_cast<char>(static_cast<unsigned char>(high * 16 + low));
        text.remove_prefix(2);
    }
    return true;
}

} // namespace detail
ENTITABLE_END_NAMESPACE
