// SPDX-License-Identifier: MIT
// Copyright (c) 2026 the entitable authors
#pragma once

/// \file
/// A second implementation of UTF-8 and UTF-16, to compare the library with.

#include <cstddef>
#include <string>
#include <string_view>

namespace entitable_test {

/// One code point in `size` bytes; more bytes than necessary make an overlong form.
inline std::string utf8(char32_t point, std::size_t size) {
    if (size == 1) { return std::string(1, static_cast<char>(point)); }
    constexpr unsigned leads[] = {0, 0, 0xC0, 0xE0, 0xF0};
    std::string bytes(size, '\0');
    for (std::size_t index = size - 1; index > 0; --index) {
        bytes[index] = static_cast<char>(0x80U | (point & 0x3FU));
        point >>= 6U;
    }
    bytes[0] = static_cast<char>(leads[size] | point);
    return bytes;
}

inline std::string utf8(char32_t point) {
    return utf8(point, point < 0x80 ? 1U : point < 0x800 ? 2U : point < 0x10000 ? 3U : 4U);
}

/// The UTF-16 code units of valid UTF-8.
inline std::u16string utf16(std::string_view text) {
    std::u16string units;
    for (std::size_t at = 0; at < text.size();) {
        auto const lead = static_cast<unsigned char>(text[at]);
        std::size_t const size = lead < 0x80 ? 1U : lead < 0xE0 ? 2U : lead < 0xF0 ? 3U : 4U;
        char32_t point = size == 1 ? lead : lead & (0x7FU >> size);
        for (std::size_t index = 1; index < size; ++index) {
            point = point * 64 + (static_cast<unsigned char>(text[at + index]) & 0x3FU);
        }
        if (size == 4) {
            units += static_cast<char16_t>(0xD800 + ((point - 0x10000) >> 10U));
            units += static_cast<char16_t>(0xDC00 + ((point - 0x10000) & 0x3FFU));
        } else {
            units += static_cast<char16_t>(point);
        }
        at += size;
    }
    return units;
}

inline std::string repeated(std::string_view part, std::size_t times) {
    std::string all;
    for (std::size_t index = 0; index < times; ++index) { all += part; }
    return all;
}

} // namespace entitable_test
