// SPDX-License-Identifier: MIT
// Copyright (c) 2026 the entitable authors
#pragma once

/// \file
/// Key codecs: a component's value as text, such that decode(encode(v)) == v and, where `ordered`, text order is
/// the order of values. Golden values are in docs/stored_formats.md.

#include <entitable/core/config.hpp>
#include <entitable/mapping/key_layout.hpp>

#include <concepts>
#include <cstdint>
#include <limits>
#include <optional>
#include <string>
#include <string_view>
#include <type_traits>

ENTITABLE_BEGIN_NAMESPACE
namespace detail {

/// The integers that can be a key; characters and bool are not numbers here.
template <class T>
concept key_integer = std::integral<T> && !std::same_as<T, bool> && !std::same_as<T, char> &&
    !std::same_as<T, wchar_t> && !std::same_as<T, char8_t> && !std::same_as<T, char16_t> && !std::same_as<T, char32_t>;

/// Appends `value` with zeros to `width` digits; a negative one as '-' and its distance from the least value.
ENTITABLE_LAZY void append_key_integer(std::string& out, std::uint64_t magnitude, bool negative, std::size_t width);
/// The reverse; false unless the text is exactly of that form.
ENTITABLE_LAZY [[nodiscard]] bool parse_key_integer(
    std::string_view text, std::size_t width, std::uint64_t& magnitude, bool& negative) noexcept;

} // namespace detail

/// The codec of a component of type T. A type of the user becomes a key component by specialising it.
///
///     using value_type = T;
///     using argument = what the value is passed as (std::string_view for text)
///     static constexpr bool ordered;            text order is value order
///     static constexpr bool variable;           the text has no fixed width: ordered only as the last component
///     static constexpr bool optional;           may be absent
///     static void append(std::string& out, argument value);
///     static bool parse(std::string_view text, T& out);
///
/// The primary template is the answer for all other types: it has the constants but no functions, so that the one message
/// is the one of ENTITABLE.
template <class T>
struct key_codec {
    using value_type = T;
    using argument = T const&;
    static constexpr bool ordered = false;
    static constexpr bool variable = false;
    static constexpr bool optional = false;
};

/// Integers: zero-padded to the decimal width of the type, "0000001234"; negative ones sort before them as '-' and the distance
/// from the least value, "-2147483647" for -1 of 32 bits.
template <detail::key_integer T>
struct key_codec<T> {
    using value_type = T;
    using argument = T;
    static constexpr bool ordered = true;
    static constexpr bool variable = false;
    static constexpr bool optional = false;
    static constexpr std::size_t width = std::numeric_limits<T>::digits10 + 1;

    static void append(std::string& out, T value) {
        if constexpr (std::is_signed_v<T>) {
            auto const distance =
                static_cast<std::uint64_t>(value) - static_cast<std::uint64_t>(std::numeric_limits<T>::min());
            detail::append_key_integer(out, value < 0 ? distance : static_cast<std::uint64_t>(value), value < 0, width);
        } else {
            detail::append_key_integer(out, value, false, width);
        }
    }
    static bool parse(std::string_view text, T& out) noexcept {
        std::uint64_t magnitude = 0;
        bool negative = false;
        if (!detail::parse_key_integer(text, width, magnitude, negative) ||
            magnitude > static_cast<std::uint64_t>(std::numeric_limits<T>::max()) ||
            (negative && !std::is_signed_v<T>)) {
            return false;
        }
        // Unsigned arithmetic wraps to the right value for negative ones.
        out = static_cast<T>(
            negative ? magnitude + static_cast<std::uint64_t>(std::numeric_limits<T>::min()) : magnitude);
        return true;
    }
};

/// Text as it is. Ordered only as the last component: in front of a separator "a" + "__" stands behind "a b" + "__".
template <>
struct key_codec<std::string> {
    using value_type = std::string;
    using argument = std::string_view;
    static constexpr bool ordered = true;
    static constexpr bool variable = true;
    static constexpr bool optional = false;

    static void append(std::string& out, std::string_view value) { out += value; }
    static bool parse(std::string_view text, std::string& out) {
        out = text;
        return true;
    }
};

/// An optional number: "~" when absent, behind every number. Comparisons are false for an absent one.
template <class T>
    requires(key_codec<T>::ordered && !key_codec<T>::variable && !key_codec<T>::optional)
struct key_codec<std::optional<T>> {
    using value_type = std::optional<T>;
    using argument = std::optional<T>;
    static constexpr bool ordered = true;
    static constexpr bool variable = false;
    static constexpr bool optional = true;

    static void append(std::string& out, std::optional<T> const& value) {
        if (value) {
            key_codec<T>::append(out, *value);
        } else {
            out += absent_key_text;
        }
    }
    static bool parse(std::string_view text, std::optional<T>& out) {
        if (text == absent_key_text) {
            out.reset();
            return true;
        }
        return key_codec<T>::parse(text, out.emplace());
    }
};

/// The type can be a component of a key.
template <class T>
concept key_value =
    requires(std::string& out, typename key_codec<T>::argument value) { key_codec<T>::append(out, value); };

/// A value for a key component as the caller writes it: lossless conversions only.
template <class T>
struct key_argument {
    T value;
    key_argument(T const& given) : value(given) {} // NOLINT: implicit on purpose

    operator T const&() const noexcept { return value; }
};

namespace detail {

template <class From, class To>
concept fits_losslessly = key_integer<From> && key_integer<To> &&
    ((std::is_signed_v<From> == std::is_signed_v<To> && sizeof(From) <= sizeof(To)) ||
        (std::is_unsigned_v<From> && sizeof(From) < sizeof(To)));

} // namespace detail

template <detail::key_integer T>
struct key_argument<T> {
    T value;

    template <class From>
    key_argument(From given) : value(static_cast<T>(given)) { // NOLINT: implicit on purpose
        static_assert(
            detail::fits_losslessly<From, T>, "a key component takes an integer of its own type or a narrower one");
    }
    operator T() const noexcept { return value; }
};

template <>
struct key_argument<std::string> {
    std::string_view value;

    template <class From>
        requires std::convertible_to<From const&, std::string_view>
    key_argument(From const& given) : value(given) {} // NOLINT: implicit on purpose
    operator std::string_view() const noexcept { return value; }
};

template <class T>
struct key_argument<std::optional<T>> {
    std::optional<T> value;

    key_argument(std::nullopt_t) {}                               // NOLINT: implicit on purpose
    key_argument(std::optional<T> const& given) : value(given) {} // NOLINT: implicit on purpose
    template <class From>
        requires std::convertible_to<From, key_argument<T>>
    key_argument(From const& given) : value(static_cast<T>(key_argument<T>{given})) {} // NOLINT: implicit on purpose
    operator std::optional<T> const&() const noexcept { return value; }
};

ENTITABLE_END_NAMESPACE

#if !defined(ENTITABLE_SEPARATE_COMPILATION)
#include <entitable/mapping/impl/key_codec.ipp>
#endif
