// SPDX-License-Identifier: MIT
// Copyright (c) 2026 the entitable authors
#pragma once

#include <entitable/core/detail/base64.hpp>

#include <cstdint>

ENTITABLE_BEGIN_NAMESPACE
namespace detail {

ENTITABLE_DECL void append_base64(std::string& out, std::string_view bytes) {
    constexpr char alphabet[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    auto const byte = [bytes](std::size_t at) -> std::uint32_t {
        return at < bytes.size() ? static_cast<unsigned char>(bytes[at]) : 0U;
    };
    for (std::size_t at = 0; at < bytes.size(); at += 3) {
        std::uint32_t const group = byte(at) << 16U | byte(at + 1) << 8U | byte(at + 2);
        char const text[4] = {alphabet[group >> 18U], alphabet[(group >> 12U) & 63U],
            at + 1 < bytes.size() ? alphabet[(group >> 6U) & 63U] : '=',
            at + 2 < bytes.size() ? alphabet[group & 63U] : '='};
        out.append(text, 4);
    }
}

/// Returns the six bits of a character; 64 or more for an invalid character.
ENTITABLE_DECL std::uint32_t from_base64_character(char character) noexcept {
    if (character >= 'A' && character <= 'Z') { return static_cast<std::uint32_t>(character - 'A'); }
    if (character >= 'a' && character <= 'z') { return static_cast<std::uint32_t>(character - 'a') + 26; }
    if (character >= '0' && character <= '9') { return static_cast<std::uint32_t>(character - '0') + 52; }
    return character == '+' ? 62U : character == '/' ? 63U : 64U;
}

ENTITABLE_DECL bool append_from_base64(std::string& out, std::string_view text) {
    if (text.size() % 4 != 0) { return false; }
    std::size_t padding = 0;
    while (padding < 2 && !text.empty() && text.back() == '=') {
        text.remove_suffix(1);
        ++padding;
    }
    std::uint32_t bits = 0;
    std::size_t count = 0;
    for (char const character : text) {
        std::uint32_t const six = from_base64_character(character);
        if (six > 63) { return false; }
        bits = bits << 6U | six;
        if (std::size_t const place = count++ % 4; place != 0) {
            out += static_cast<char>(static_cast<unsigned char>(bits >> (6 - 2 * place) & 0xFFU));
        }
    }
    return true;
}

} // namespace detail
ENTITABLE_END_NAMESPACE
