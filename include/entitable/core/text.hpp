// SPDX-License-Identifier: MIT
// Copyright (c) 2026 the entitable authors
#pragma once

/// \file
/// UTF-8 text as the table service sees it: it counts and compares UTF-16 code units. In valid UTF-8 the
/// two orders differ only between U+E000..U+FFFF and the supplementary planes.

#include <entitable/core/config.hpp>

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <initializer_list>
#include <optional>
#include <string>
#include <string_view>

ENTITABLE_BEGIN_NAMESPACE
namespace text {

/// A code point at the start of some bytes.
struct code_point {
    char32_t value{};   ///< the code point
    std::size_t size{}; ///< bytes; 0 when the bytes are not valid UTF-8
};

/// The code point at the start of `bytes`, which are not empty (Unicode, table 3-7: well-formed byte sequences).
ENTITABLE_LAZY [[nodiscard]] code_point first_code_point(std::string_view bytes) noexcept;

/// Bytes of valid UTF-8 compare by this number as the text compares in UTF-16: the lead bytes of U+E000..U+FFFF (EE, EF) come after
/// those of the supplementary planes (F0..F4).
[[nodiscard]] constexpr unsigned utf16_rank(unsigned char byte) noexcept {
    return byte == 0xEE || byte == 0xEF ? byte + 0x10U : byte;
}

/// The number of UTF-16 code units of `utf8`, or nothing when it is not valid UTF-8 (overlong forms and
/// surrogates are not).
ENTITABLE_LAZY [[nodiscard]] std::optional<std::size_t> utf16_length(std::string_view utf8) noexcept;

/// Whether `test` holds for all bytes. It gets eight at once as a number; some bytes are given twice, and fewer than eight are filled
/// up with 'a'.
template <class Test>
[[nodiscard]] bool all_eights(std::string_view bytes, Test const& test) {
    std::uint64_t eight = 0x6161616161616161U;
    if (bytes.empty()) {
        return true;
    }
    if (bytes.size() < sizeof eight) {
        std::memcpy(&eight, bytes.data(), bytes.size());
        return test(eight);
    }
    std::size_t const last = bytes.size() - sizeof eight;
    for (std::size_t at = 0; at < last; at += sizeof eight) {
        std::memcpy(&eight, bytes.data() + at, sizeof eight);
        if (!test(eight)) {
            return false;
        }
    }
    std::memcpy(&eight, bytes.data() + last, sizeof eight);
    return test(eight);
}

/// How many bytes at the start are ASCII.
ENTITABLE_LAZY [[nodiscard]] std::size_t ascii_prefix(std::string_view bytes) noexcept;

/// The offset of the first byte that does not continue valid UTF-8; the size when all of it is valid.
ENTITABLE_LAZY [[nodiscard]] std::size_t valid_utf8_prefix(std::string_view utf8) noexcept;

/// Negative, 0 or positive, as `left` compares with `right` by UTF-16 code units. Both are valid UTF-8.
ENTITABLE_LAZY [[nodiscard]] int compare_utf16(std::string_view left, std::string_view right) noexcept;

/// The least text greater than every text that starts with `prefix`, in UTF-16 order; nothing when there is none.
ENTITABLE_LAZY [[nodiscard]] std::optional<std::string> successor_of_prefix(std::string_view prefix);

/// ASCII letters to lower case; other characters unchanged.
ENTITABLE_LAZY [[nodiscard]] std::string ascii_lower(std::string_view text);

/// At most `limit` bytes of `text`, cut between characters, and "..." when something was cut.
ENTITABLE_LAZY [[nodiscard]] std::string shortened(std::string_view text, std::size_t limit = 64);

/// Appends `value` in decimal, padded with zeros on the left to at least `width` digits.
ENTITABLE_LAZY void append_decimal(std::string& out, std::uint64_t value, std::size_t width = 1);

/// The parts, concatenated. Cheaper to compile than a chain of +, each of which tries dozens of operators.
ENTITABLE_LAZY [[nodiscard]] std::string joined(std::initializer_list<std::string_view> parts);

/// `text` for a person to read: control characters and bytes that are not UTF-8 become `\xNN`.
ENTITABLE_LAZY [[nodiscard]] std::string printable(std::string_view text);

} // namespace text
ENTITABLE_END_NAMESPACE

#if !defined(ENTITABLE_SEPARATE_COMPILATION)
#include <entitable/core/impl/text.ipp>
#endif
