// SPDX-License-Identifier: MIT
// Copyright (c) 2026 the entitable authors
#pragma once

/// \file
/// Classes of ASCII characters, the same in every locale.

#include <entitable/core/config.hpp>

ENTITABLE_BEGIN_NAMESPACE
namespace detail {

[[nodiscard]] constexpr bool is_decimal(char c) noexcept { return c >= '0' && c <= '9'; }

[[nodiscard]] constexpr bool is_letter(char c) noexcept { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z'); }

/// Whether a byte needs no escape in any part of a URL (RFC 3986, 2.3).
[[nodiscard]] constexpr bool is_unreserved(char c) noexcept {
    return is_letter(c) || is_decimal(c) || c == '-' || c == '.' || c == '_' || c == '~';
}

/// Converts an ASCII letter to lower case; returns any other byte unchanged.
[[nodiscard]] constexpr char ascii_lower_case(char c) noexcept {
    return c >= 'A' && c <= 'Z' ? static_cast<char>(c + ('a' - 'A')) : c;
}

/// Returns the value of a hexadecimal digit in either case; -1 for any other byte.
[[nodiscard]] constexpr int hexadecimal_digit(char c) noexcept {
    return is_decimal(c) ? c - '0' : c >= 'a' && c <= 'f' ? c - 'a' + 10 : c >= 'A' && c <= 'F' ? c - 'A' + 10 : -1;
}

/// Returns the lowest four bits of a number as a lower-case digit.
template <class Number>
[[nodiscard]] constexpr char hexadecimal_of(Number bits) noexcept {
    return "0123456789abcdef"[static_cast<unsigned>(bits & 15)];
}

} // namespace detail
ENTITABLE_END_NAMESPACE
