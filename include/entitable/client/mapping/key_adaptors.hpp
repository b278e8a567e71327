// SPDX-License-Identifier: MIT
// Copyright (c) 2026 the entitable authors
#pragma once

/// \file
/// Key codecs selected by name inside `partition_key(...)` and `row_key(...)`:
///
///     width(member, digits)       fewer digits than the type's maximum: "01234"
///     descending(member)          greatest first: 1 of 32 bits is "2147483646"
///     descending(width(member, digits))    the same in fewer digits: 1 of 5 digits is "99998"
///     escaped(member)             any text, ordered in any position
///     salted(member, buckets)     spread over buckets: "07__2026-11-20"; see `key_component::kind::bucket`
///     literal("BIB:")             constant text

#if !defined(ENTITABLE_IMPORTED)
#include <entitable/client/mapping/key_codec.hpp>

ENTITABLE_BEGIN_NAMESPACE

/// An integer of at most `Digits` digits, zero-padded. Larger and negative values have no text.
template <class T, std::size_t Digits>
struct width_codec : detail::key_codec_base<T> {
    static_assert(detail::key_integer<T>, "width(member, digits) needs an integer member");
    static_assert(Digits >= 1 && Digits <= std::numeric_limits<T>::digits10 + 1,
        "width(member, digits): the type of the member has fewer digits");

    static constexpr bool low = true; ///< the text contains only digits
    /// The largest value that has a text.
    static constexpr std::uint64_t greatest = [] {
        if (Digits > std::numeric_limits<T>::digits10) {
            return static_cast<std::uint64_t>((std::numeric_limits<T>::max)());
        }
        std::uint64_t all_nines = 0;
        for (std::size_t digit = 0; digit < Digits; ++digit) { all_nines = all_nines * 10 + 9; }
        return all_nines;
    }();

    /// See `key_codec`.
    static bool append(std::string& out, T value) {
        bool const fits = value >= T{} && static_cast<std::uint64_t>(value) <= greatest;
        if (fits) { detail::append_key_integer(out, static_cast<std::uint64_t>(value), false, Digits); }
        return fits;
    }
    /// Appends an operand for a comparison with a value without a text: it sorts before or after all texts.
    static void append_operand(std::string& out, T value) {
        if (value > T{}) {
            out += ':'; // this is the character after '9'
        }
    }
    /// See `key_codec`.
    static bool parse(std::string_view text, T& out) noexcept {
        std::uint64_t magnitude = 0;
        bool negative = false;
        bool const good = detail::parse_key_integer(text, Digits, magnitude, negative) && !negative &&
            magnitude <= static_cast<std::uint64_t>((std::numeric_limits<T>::max)());
        out = good ? static_cast<T>(magnitude) : T{};
        return good;
    }
};

/// An integer or a time, greatest first: the distance to the greatest value of the type, with as many digits as that distance can have.
template <class T>
struct descending_codec : detail::key_codec_base<T> {
    static_assert(
        detail::key_integer<T>, "descending(member) needs a member of an integer type or entitable::date_time");
    static constexpr bool reversed = true; ///< greatest first
    static constexpr bool low = true;      ///< the text contains only digits
    /// Number of digits of the text.
    static constexpr std::size_t width = std::numeric_limits<std::make_unsigned_t<T>>::digits10 + 1;

    /// See `key_codec`.
    static bool append(std::string& out, T value) {
        detail::append_key_integer(out,
            detail::distance_from_least((std::numeric_limits<T>::max)()) - detail::distance_from_least(value), false,
            width);
        return true;
    }
    /// See `key_codec`.
    static bool parse(std::string_view text, T& out) noexcept {
        std::uint64_t distance = 0;
        bool negative = false;
        std::uint64_t const most = detail::distance_from_least((std::numeric_limits<T>::max)());
        bool const good = detail::parse_key_integer(text, width, distance, negative) && !negative && distance <= most;
        // Unsigned arithmetic wraps to the correct value for negative numbers.
        out =
            good ? static_cast<T>(most - distance + static_cast<std::uint64_t>((std::numeric_limits<T>::min)())) : T{};
        return good;
    }
};

/// A time, latest first.
template <>
struct descending_codec<date_time> : detail::key_codec_base<date_time> {
    static constexpr bool reversed = true; ///< latest first
    static constexpr bool low = true;      ///< the text contains only digits

    /// See `key_codec`.
    static bool append(std::string& out, date_time value) {
        return descending_codec<std::int64_t>::append(out, value.ticks);
    }
    /// See `key_codec`.
    static bool parse(std::string_view text, date_time& out) {
        return descending_codec<std::int64_t>::parse(text, out.ticks);
    }
};

/// An integer of at most `Digits` digits, greatest first: the distance to the greatest number with that many digits. Larger and negative
/// values have no text.
template <class T, std::size_t Digits>
struct descending_width_codec : width_codec<T, Digits> {
    static constexpr bool reversed = true; ///< greatest first

    /// See `key_codec`.
    static bool append(std::string& out, T value) {
        bool const fits = value >= T{} && static_cast<std::uint64_t>(value) <= width_codec<T, Digits>::greatest;
        if (fits) {
            std::uint64_t const distance = width_codec<T, Digits>::greatest - static_cast<std::uint64_t>(value);
            detail::append_key_integer(out, distance, false, Digits);
        }
        return fits;
    }
    /// Appends an operand for a comparison with a value without a text: a greater value sorts before all texts, a
    /// negative value sorts after them.
    static void append_operand(std::string& out, T value) {
        if (value < T{}) {
            out += ':'; // this is the character after '9'
        }
    }
    /// See `key_codec`.
    static bool parse(std::string_view text, T& out) noexcept {
        std::uint64_t distance = 0;
        bool negative = false;
        bool const good = detail::parse_key_integer(text, Digits, distance, negative) && !negative &&
            distance <= width_codec<T, Digits>::greatest;
        out = good ? static_cast<T>(width_codec<T, Digits>::greatest - distance) : T{};
        return good;
    }
};

namespace detail {

/// Appends `text` in a form without the characters that keys refuse and without characters below '"', which preserves the order of texts.
ENTITABLE_LAZY void append_escaped(std::string& out, std::string_view text);
/// Parses that form; false unless the text has exactly that form.
ENTITABLE_LAZY [[nodiscard]] bool parse_escaped(std::string_view escaped, std::string& out);

} // namespace detail

/// Any text, including `/ \ # ?`, control characters and separators, in the order of texts at any position in the key.
template <class T>
struct escaped_codec : detail::key_codec_base<T, std::string_view> {
    static_assert(std::same_as<T, std::string>, "escaped(member) needs a std::string member");
    static constexpr bool escaped = true; ///< followed by `escaped_key_separator`

    /// See `key_codec`.
    static bool append(std::string& out, std::string_view value) {
        detail::append_escaped(out, value);
        return true;
    }
    /// See `key_codec`.
    static bool parse(std::string_view text, std::string& out) { return detail::parse_escaped(text, out); }
};

ENTITABLE_END_NAMESPACE

#if !defined(ENTITABLE_SEPARATE_COMPILATION)
#include <entitable/client/mapping/impl/key_adaptors.ipp>
#endif

#endif
