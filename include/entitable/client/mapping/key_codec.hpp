// SPDX-License-Identifier: MIT
// Copyright (c) 2026 the entitable authors
#pragma once

/// \file
/// Key codecs convert a component's value to text, such that decode(encode(v)) == v and, if `ordered`, text order is the order of values.
/// Golden values are in docs/stored_formats.md.

#if !defined(ENTITABLE_IMPORTED)
#include <entitable/client/mapping/enumeration.hpp>
#include <entitable/client/mapping/key_layout.hpp>
#include <entitable/core/date_time.hpp>
#include <entitable/core/guid.hpp>

#include <concepts>
#include <cstdint>
#include <limits>
#include <optional>
#include <string>
#include <string_view>
#include <type_traits>

ENTITABLE_BEGIN_NAMESPACE
namespace detail {

/// The integers that can be a key; characters and bool do not count as numbers here.
template <class T>
concept key_integer = std::integral<T> && !std::same_as<T, bool> && !std::same_as<T, char> &&
    !std::same_as<T, wchar_t> && !std::same_as<T, char8_t> && !std::same_as<T, char16_t> && !std::same_as<T, char32_t>;

/// Appends `magnitude`, zero-padded to `width` digits, after a '-' if it is negative.
ENTITABLE_LAZY void append_key_integer(std::string& out, std::uint64_t magnitude, bool negative, std::size_t width);
/// Parses that form; false unless the text has exactly that form.
ENTITABLE_LAZY [[nodiscard]] bool parse_key_integer(
    std::string_view text, std::size_t width, std::uint64_t& magnitude, bool& negative) noexcept;

/// Returns the distance of a value from the smallest value of its type.
template <key_integer T>
[[nodiscard]] constexpr std::uint64_t distance_from_least(T value) noexcept {
    return static_cast<std::uint64_t>(value) - static_cast<std::uint64_t>((std::numeric_limits<T>::min)());
}

/// Defaults shared by most codecs.
template <class T, class Argument = T>
struct key_codec_base {
    using value_type = T;
    using argument = Argument;
    static constexpr bool ordered = true;   ///< text order is the order of values ...
    static constexpr bool reversed = false; ///< ... or the reverse
    static constexpr bool variable = false; ///< the text is not self-delimiting: ordered only as the last component
    static constexpr bool optional = false; ///< may be absent
    static constexpr bool escaped = false;  ///< followed by `escaped_key_separator`
    static constexpr bool low = false;      ///< every text sorts before "~"
};

} // namespace detail

/// The codec of a component of type T. Specialise it to make your own type a key component: derive from `key_codec<U>` of the type that is
/// written, or define
///
///     using value_type = T;  using argument = the parameter type of a value (std::string_view for text);
///     static constexpr bool ordered, reversed, variable, optional, escaped;
///     static constexpr bool low;                                 may be omitted; true: each text of a value sorts before "~"
///     static constexpr std::string_view first_characters;        may be omitted: each text begins with one of these, and none is empty;
///                                                                distinguishes the keys of this type from those of other types
///     static bool append(std::string& out, argument value);      false: the value has no text
///     static bool parse(std::string_view text, T& out);          false: no value has this text; it is not a part of `out`
///     static void append_operand(std::string& out, argument value);   if `append` refuses values: a text that no value has
///                                                                     and that sorts where the value would
///
/// Without `append_operand`, a query for values less or greater than a value without a text fails with OutOfRangeInput. The
/// primary template is for all other types: it has the constants but no functions, so that ENTITABLE gives the only
/// message.
template <class T>
struct key_codec : detail::key_codec_base<T, T const&> {
    static constexpr bool ordered = false; ///< unknown
};

/// Integers: zero-padded to the decimal width of the type, "0000001234"; negative integers sort before them, as '-' and the distance from the
/// smallest value, "-2147483647" for -1 of 32 bits.
template <detail::key_integer T>
struct key_codec<T> : detail::key_codec_base<T> {
    static constexpr bool low = true; ///< the text contains only digits and a '-'
    /// Number of digits of the text.
    static constexpr std::size_t width = std::numeric_limits<T>::digits10 + 1;

    /// See `key_codec`.
    static bool append(std::string& out, T value) {
        bool const negative = std::is_signed_v<T> && value < T{};
        std::uint64_t const magnitude =
            negative ? detail::distance_from_least(value) : static_cast<std::uint64_t>(value);
        detail::append_key_integer(out, magnitude, negative, width);
        return true;
    }
    /// See `key_codec`.
    static bool parse(std::string_view text, T& out) noexcept {
        std::uint64_t magnitude = 0;
        bool negative = false;
        if (!detail::parse_key_integer(text, width, magnitude, negative) ||
            magnitude > static_cast<std::uint64_t>((std::numeric_limits<T>::max)()) ||
            (negative && !std::is_signed_v<T>)) {
            return false;
        }
        // Unsigned arithmetic wraps to the correct value for negative numbers.
        out = static_cast<T>(
            negative ? magnitude + static_cast<std::uint64_t>((std::numeric_limits<T>::min)()) : magnitude);
        return true;
    }
};

/// Text, which is unchanged. It is ordered only as the last component: with a separator, "a" + "__" comes after "a b" + "__".
template <>
struct key_codec<std::string> : detail::key_codec_base<std::string, std::string_view> {
    static constexpr bool variable = true;

    ENTITABLE_LAZY static bool append(std::string& out, std::string_view value);
    ENTITABLE_LAZY static bool parse(std::string_view text, std::string& out);
};

/// A time: its ticks of 100 ns, 19 digits.
template <>
struct key_codec<date_time> : detail::key_codec_base<date_time> {
    static constexpr bool low = true; ///< the text contains only digits

    /// See `key_codec`.
    static bool append(std::string& out, date_time value) { return key_codec<std::int64_t>::append(out, value.ticks); }
    /// See `key_codec`.
    static bool parse(std::string_view text, date_time& out) { return key_codec<std::int64_t>::parse(text, out.ticks); }
};

/// A GUID: 36 characters in lower case; ordered by its bytes.
template <>
struct key_codec<guid> : detail::key_codec_base<guid, guid const&> {
    static constexpr bool low = true; ///< the text contains only hexadecimal digits

    /// See `key_codec`.
    ENTITABLE_LAZY static bool append(std::string& out, guid const& value);
    /// See `key_codec`.
    ENTITABLE_LAZY static bool parse(std::string_view text, guid& out);
};

/// An enumeration without names: its number.
template <class T>
    requires(std::is_enum_v<T> && !named_enumeration<T>)
struct key_codec<T> : detail::key_codec_base<T> {
    using enumeration = T;                    ///< the type whose codec this is
    using number = std::underlying_type_t<T>; ///< the written type
    static constexpr bool low = true;         ///< the text contains only the digits of a number

    /// See `key_codec`.
    static bool append(std::string& out, T value) { return key_codec<number>::append(out, static_cast<number>(value)); }
    /// See `key_codec`.
    static bool parse(std::string_view text, T& out) {
        number read{};
        bool const good = key_codec<number>::parse(text, read);
        out = static_cast<T>(read);
        return good;
    }
};

/// An enumeration with names (`enum_names`): the name, which is not in the order of values. A value without a name has
/// no text.
template <named_enumeration T>
struct key_codec<T> : detail::key_codec_base<T> {
    using enumeration = T;                 ///< the type whose codec this is
    static constexpr bool ordered = false; ///< the names have no order
    static constexpr bool variable = true; ///< names have no fixed width

    /// See `key_codec`.
    static bool append(std::string& out, T value) {
        std::string_view const name = name_of(value);
        out += name;
        return !name.empty();
    }
    /// See `key_codec`.
    static bool parse(std::string_view text, T& out) { return value_named(text, out); }
};

/// An optional value of fixed width: "~" when absent, which sorts after every number. Comparisons with an absent value are false.
template <class T>
    requires(key_codec<T>::ordered && !key_codec<T>::variable && !key_codec<T>::optional)
struct key_codec<std::optional<T>> : detail::key_codec_base<std::optional<T>, std::optional<T> const&> {
    static constexpr bool optional = true;
    static constexpr bool low = requires { requires key_codec<T>::low; }; ///< the same as for a present value

    static bool append(std::string& out, std::optional<T> const& value) {
        if (value) { return key_codec<T>::append(out, *value); }
        out += absent_key_text;
        return true;
    }
    static void append_operand(std::string& out, std::optional<T> const& value)
        requires requires(typename key_codec<T>::argument present) { key_codec<T>::append_operand(out, present); }
    {
        key_codec<T>::append_operand(out, *value); // an absent value is encoded as `absent_key_text`
    }
    static bool parse(std::string_view text, std::optional<T>& out) {
        if (text == absent_key_text) {
            out.reset();
            return true;
        }
        return key_codec<T>::parse(text, out.emplace());
    }
};

/// Whether the type can be a component of a key.
template <class T>
concept key_value =
    requires(std::string& out, typename key_codec<T>::argument value) { key_codec<T>::append(out, value); };

ENTITABLE_END_NAMESPACE

#if !defined(ENTITABLE_SEPARATE_COMPILATION)
#include <entitable/client/mapping/impl/key_codec.ipp>
#endif

#endif
