// SPDX-License-Identifier: MIT
// Copyright (c) 2026 the entitable authors
#pragma once

#include <entitable/core/guid.hpp>

ENTITABLE_BEGIN_NAMESPACE
namespace detail {

ENTITABLE_LAZY int hexadecimal_digit(char character) noexcept {
    return character >= '0' && character <= '9' ? character - '0'
        : character >= 'a' && character <= 'f'  ? character - 'a' + 10
        : character >= 'A' && character <= 'F'  ? character - 'A' + 10
                                                : -1;
}

} // namespace detail

ENTITABLE_LAZY_BODY std::optional<guid> guid::parse(std::string_view text) noexcept {
    guid read;
    if (text.size() != 36) {
        return std::nullopt;
    }
    std::size_t at = 0;
    for (std::size_t index = 0; index < read.bytes.size(); ++index) {
        if (at == 8 || at == 13 || at == 18 || at == 23) {
            if (text[at++] != '-') {
                return std::nullopt;
            }
        }
        int const high = detail::hexadecimal_digit(text[at]);
        int const low = detail::hexadecimal_digit(text[at + 1]);
        if (high < 0 || low < 0) {
            return std::nullopt;
        }
        read.bytes[index] = static_cast<unsigned char>(high * 16 + low);
        at += 2;
    }
    return read;
}

ENTITABLE_LAZY_BODY void guid::append_to(std::string& out) const {
    constexpr char digits[] = "0123456789abcdef";
    char text[36];
    std::size_t at = 0;
    for (std::size_t index = 0; index < bytes.size(); ++index) {
        if (index == 4 || index == 6 || index == 8 || index == 10) {
            text[at++] = '-';
        }
        text[at++] = digits[bytes[index] >> 4U];
        text[at++] = digits[bytes[index] & 0x0FU];
    }
    out.append(text, at);
}

ENTITABLE_LAZY_BODY std::string guid::to_string() const {
    std::string out;
    append_to(out);
    return out;
}

ENTITABLE_END_NAMESPACE
