// SPDX-License-Identifier: MIT
// Copyright (c) 2026 the entitable authors
#pragma once

#include <entitable/client/mapping/key_adaptors.hpp>
#include <entitable/core/detail/characters.hpp>
#include <entitable/core/text.hpp>

ENTITABLE_BEGIN_NAMESPACE
namespace detail {

// The escapes, in the order of the characters:
//
//     U+0000..U+0023          '"' and two hexadecimal digits; so the separator '!' sorts before every escape
//     .  /                    ".0"  ".1"
//     >  ?                    ">0"  ">1"
//     [  \                    "[0"  "[1"
//     ~  U+007F..U+009F       "~0"  "~1" and two hexadecimal digits
//     everything else         itself

inline constexpr std::string_view escape_pairs = "./>?[\\";

ENTITABLE_LAZY_BODY void append_escaped(std::string& out, std::string_view text) {
    auto const append_hexadecimal = [&](unsigned value) {
        out += hexadecimal_of(value >> 4U);
        out += hexadecimal_of(value);
    };
    for (std::size_t at = 0; at < text.size(); ++at) {
        auto const byte = static_cast<unsigned char>(text[at]);
        std::size_t const pair = escape_pairs.find(text[at]);
        bool const control = byte == 0xC2 && at + 1 < text.size() && static_cast<unsigned char>(text[at + 1]) < 0xA0;
        if (byte <= 0x23) {
            out += '"';
            append_hexadecimal(byte);
        } else if (pair != std::string_view::npos) {
            out += escape_pairs[pair & ~std::size_t{1}];
            out += pair % 2 == 0 ? '0' : '1';
        } else if (byte == '~') {
            out += "~0";
        } else if (byte == 0x7F || control) {
            out += "~1";
            append_hexadecimal(control ? static_cast<unsigned char>(text[++at]) : byte);
        } else {
            out += text[at];
        }
    }
}

ENTITABLE_LAZY_BODY bool parse_escaped(std::string_view escaped, std::string& out) {
    out.clear();
    std::size_t at = 0;
    auto const hexadecimal = [&]() -> int {
        int value = 0;
        for (int digit = 0; digit < 2; ++digit, ++at) {
            char const character = at < escaped.size() ? escaped[at] : 'z';
            bool const number = character >= '0' && character <= '9';
            if (!number && (character < 'a' || character > 'f')) { return -1; }
            value = value * 16 + (number ? character - '0' : character - 'a' + 10);
        }
        return value;
    };
    while (at < escaped.size()) {
        char const character = escaped[at++];
        std::size_t const pair = escape_pairs.find(character);
        if (pair != std::string_view::npos && pair % 2 == 1) { return false; }
        if (character == '"') {
            int const value = hexadecimal();
            if (value < 0 || value > 0x23) { return false; }
            out += static_cast<char>(value);
        } else if (pair != std::string_view::npos || character == '~') {
            char const which = at < escaped.size() ? escaped[at++] : 'z';
            if (which != '0' && which != '1') { return false; }
            if (character != '~') {
                out += escape_pairs[pair + (which == '1' ? 1 : 0)];
            } else if (which == '0') {
                out += '~';
            } else {
                int const value = hexadecimal();
                if (value < 0x7F || value > 0x9F) { return false; }
                out += value == 0x7F ? "" : "\xC2";
                out += static_cast<char>(static_cast<unsigned char>(value));
            }
        } else if (static_cast<unsigned char>(character) <= 0x23 || character == 0x7F ||
            (character == '\xC2' && at < escaped.size() && static_cast<unsigned char>(escaped[at]) < 0xA0)) {
            return false;
        } else {
            out += character;
        }
    }
    return true;
}

} // namespace detail
ENTITABLE_END_NAMESPACE
