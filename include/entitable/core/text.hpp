// SPDX-License-Identifier: MIT
// Copyright (c) 2026 the entitable authors
#pragma once

/// \file
/// UTF-8 text with the rules of the table service, which counts and compares UTF-16 code units. In valid UTF-8 the two orders differ only
/// between U+E000..U+FFFF and the supplementary planes.

#if !defined(ENTITABLE_IMPORTED)
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

/// A code point, with its size in UTF-8.
struct code_point {
    char32_t value{};   ///< the code point
    std::size_t size{}; ///< size in bytes; 0 if the bytes are not valid UTF-8
};

/// Decodes the code point at the start of `bytes`, which must not be empty (Unicode, table 3-7: well-formed byte sequences).
ENTITABLE_LAZY [[nodiscard]] code_point first_code_point(std::string_view bytes) noexcept;

/// The rank of a byte. Comparing valid UTF-8 by the ranks of its bytes gives the UTF-16 order: the lead bytes of
/// U+E000..U+FFFF (EE, EF) come after those of the supplementary planes (F0..F4).
[[nodiscard]] constexpr unsigned utf16_rank(unsigned char byte) noexcept {
    return byte == 0xEE || byte == 0xEF ? byte + 0x10U : byte;
}

/// Returns the number of UTF-16 code units of `utf8`, or nullopt if it is not valid UTF-8 (overlong forms and surrogates are invalid).
ENTITABLE_LAZY [[nodiscard]] std::optional<std::size_t> utf16_length(std::string_view utf8) noexcept;

/// Whether `test` holds for all bytes. `test` receives eight bytes at once as a number; some bytes are passed twice, and fewer than eight
/// are padded with 'a'.
template <class Test>
[[nodiscard]] bool all_eights(std::string_view bytes, Test const& test) {
    if (bytes.empty()) { return true; }
    std::uint64_t eight{};
    std::size_t const last = bytes.size() < sizeof eight ? 0 : bytes.size() - sizeof eight;
    if (bytes.size() >= sizeof eight) {
        std::memcpy(&eight, bytes.data(), sizeof eight);
    } else {
        std::uint32_t halves[2] = {0x61616161U, 0x61616161U};
        if (bytes.size() >= sizeof halves[0]) {
            std::memcpy(&halves[0], bytes.data(), sizeof halves[0]);
            std::memcpy(&halves[1], bytes.data() + bytes.size() - sizeof halves[1], sizeof halves[1]);
        } else {
            for (char const each : bytes) { halves[0] = halves[0] << 8U | static_cast<unsigned char>(each); }
        }
        std::memcpy(&eight, halves, sizeof eight);
    }
    for (std::size_t at = 0;;) { // one call of the test, so that it is inlined
        if (!test(eight)) { return false; }
        if (at == last) { return true; }
        at = at + sizeof eight < last ? at + sizeof eight : last;
        std::memcpy(&eight, bytes.data() + at, sizeof eight);
    }
}

/// Whether two texts are equal. Quick for neighbours in an order, which differ at their end.
[[nodiscard]] inline bool are_equal(std::string_view left, std::string_view right) noexcept {
    if (left.size() != right.size()) { return false; }
    if (std::uint64_t one = 0, other = 0; left.size() >= sizeof one) {
        std::memcpy(&one, left.data() + left.size() - sizeof one, sizeof one);
        std::memcpy(&other, right.data() + right.size() - sizeof other, sizeof other);
        if (one != other) { return false; }
    }
    return left == right;
}

/// Returns the number of ASCII bytes at the start.
ENTITABLE_LAZY [[nodiscard]] std::size_t ascii_prefix(std::string_view bytes) noexcept;

/// Returns the offset of the first byte that is not valid UTF-8; the size if all of it is valid.
ENTITABLE_LAZY [[nodiscard]] std::size_t valid_utf8_prefix(std::string_view utf8) noexcept;

/// Compares by UTF-16 code units: returns a negative number if `left` comes first, 0 if both are equal, otherwise a positive number. Both
/// must be valid UTF-8.
ENTITABLE_LAZY [[nodiscard]] int compare_utf16(std::string_view left, std::string_view right) noexcept;

/// Returns the smallest text greater than every text that starts with `prefix`, in UTF-16 order; nullopt if there is none.
ENTITABLE_LAZY [[nodiscard]] std::optional<std::string> successor_of_prefix(std::string_view prefix);

/// Removes the part before the first `separator` from `rest`, with the separator, and returns it; all of `rest` if there is no separator.
[[nodiscard]] inline std::string_view take_part(std::string_view& rest, char separator) noexcept {
    std::string_view const part = rest.substr(0, rest.find(separator));
    rest.remove_prefix(part.size() + (part.size() < rest.size() ? 1 : 0));
    return part;
}

/// Converts ASCII letters to lower case; leaves other characters unchanged.
ENTITABLE_LAZY [[nodiscard]] std::string ascii_lower(std::string_view text);

/// Returns at most `limit` bytes of `text`, cut between characters, followed by "..." if it was cut.
ENTITABLE_LAZY [[nodiscard]] std::string shortened(std::string_view text, std::size_t limit = 64);

/// Appends `value` in decimal, padded with zeros on the left to at least `width` digits.
ENTITABLE_LAZY void append_decimal(std::string& out, std::uint64_t value, std::size_t width = 1);

/// Concatenates the parts. Cheaper to compile than a chain of +, each of which tries dozens of operators.
ENTITABLE_LAZY [[nodiscard]] std::string joined(std::initializer_list<std::string_view> parts);

/// Makes `text` readable: control characters and invalid UTF-8 become `\xNN`.
ENTITABLE_LAZY [[nodiscard]] std::string printable(std::string_view text);

} // namespace text
ENTITABLE_END_NAMESPACE

#if !defined(ENTITABLE_SEPARATE_COMPILATION)
#include <entitable/core/impl/text.ipp>
#endif

#endif
