// SPDX-License-Identifier: MIT
// Copyright (c) 2026 the entitable authors
#pragma once

/// \file
/// Numbers and bytes as hexadecimal digits, and back.

#include <entitable/core/detail/characters.hpp>

#include <cstdint>
#include <cstring>
#include <optional>
#include <string>
#include <string_view>

ENTITABLE_BEGIN_NAMESPACE
namespace detail {

/// Writes a number as 8 lower-case digits, all at once: one digit for each byte of a word.
inline void write_hexadecimal(char* to, std::uint32_t number) noexcept {
    std::uint64_t digits = number;
    digits = (digits << 16U | digits) & 0x0000'FFFF'0000'FFFFU;
    digits = (digits << 8U | digits) & 0x00FF'00FF'00FF'00FFU;
    digits = (digits << 4U | digits) & 0x0F0F'0F0F'0F0F'0F0FU;
    std::uint64_t const letters = (digits + 0x0606'0606'0606'0606U) >> 4U & 0x0101'0101'0101'0101U;
    constexpr std::uint64_t to_letter = 'a' - 10 - '0';
    digits += 0x3030'3030'3030'3030U + letters * to_letter;
#if defined(__GNUC__) && __BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__
    digits = __builtin_bswap64(digits);
    std::memcpy(to, &digits, sizeof digits);
#else
    for (unsigned at = 0; at < 8; ++at) {
        to[at] = static_cast<char>(static_cast<unsigned char>(digits >> (56 - 8 * at)));
    }
#endif
}
/// Writes a number as 16 lower-case digits.
inline void write_hexadecimal(char* to, std::uint64_t number) noexcept {
    write_hexadecimal(to, static_cast<std::uint32_t>(number >> 32U));
    write_hexadecimal(to + 8, static_cast<std::uint32_t>(number));
}
/// Appends a number as 16 lower-case digits.
inline void append_hexadecimal(std::string& to, std::uint64_t number) {
    char digits[16];
    write_hexadecimal(digits, number);
    to.append(digits, sizeof digits);
}

/// Appends two lower-case digits for each byte.
inline void append_hexadecimal(std::string& to, std::string_view bytes) {
    std::size_t const before = to.size();
    to.resize(before + 2 * bytes.size());
    char* digit = to.data() + before;
    for (char const each : bytes) {
        auto const byte = static_cast<unsigned char>(each);
        *digit++ = hexadecimal_of(byte >> 4U);
        *digit++ = hexadecimal_of(byte);
    }
}

/// Decodes an even number of digits, in either case, into bytes.
[[nodiscard]] inline std::optional<std::string> from_hexadecimal(std::string_view digits) {
    if (digits.size() % 2 != 0) { return std::nullopt; }
    std::optional<std::string> bytes{std::in_place, digits.size() / 2, '\0'};
    char const* digit = digits.data();
    for (char& each : *bytes) {
        int const high = hexadecimal_digit(*digit++);
        int const low = hexadecimal_digit(*digit++);
        if (high < 0 || low < 0) { return std::nullopt; }
        each = static_cast<char>(static_cast<unsigned char>(high * 16 + low));
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
