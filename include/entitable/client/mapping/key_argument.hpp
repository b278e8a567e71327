// SPDX-License-Identifier: MIT
// Copyright (c) 2026 the entitable authors
#pragma once

/// \file
/// A key component as an argument, for example of `get`: lossless conversions only. For an `int`, the type of a literal, the range of the
/// component is checked at run time.

#if !defined(ENTITABLE_IMPORTED)
#include <entitable/client/mapping/key_codec.hpp>

#include <utility>

ENTITABLE_BEGIN_NAMESPACE

/// A value of a component of type T.
template <class T>
struct key_argument {
    T value; ///< the value
    /// Takes a value of the type itself.
    key_argument(T const& given) : value(given) {} // NOLINT: implicit on purpose

    /// The value.
    operator T const&() const noexcept { return value; }
};

namespace detail {

template <class From, class To>
concept fits_losslessly = key_integer<From> && key_integer<To> &&
    ((std::is_signed_v<From> == std::is_signed_v<To> && sizeof(From) <= sizeof(To)) ||
        (std::is_unsigned_v<From> && sizeof(From) < sizeof(To)));

/// Whether From is the type of a literal without a suffix: an `int`, which may be out of T's range.
template <class From, class To>
concept literal_for = key_integer<To> && std::same_as<From, int> && !fits_losslessly<From, To>;

/// Returns the position of an integer relative to the values of a different type: -1 before them, 0 among them, 1 after them.
template <key_integer To>
[[nodiscard]] constexpr int place_in(int given) noexcept {
    if (std::cmp_less(given, (std::numeric_limits<To>::min)())) { return -1; }
    return std::cmp_greater(given, (std::numeric_limits<To>::max)()) ? 1 : 0;
}

} // namespace detail

/// An integer: made from an integer type that converts without loss, or from a literal.
template <detail::key_integer T>
struct key_argument<T> {
    T value;         ///< the value
    bool fits{true}; ///< whether `value` equals the argument; otherwise the key is OutOfRangeInput

    /// Takes an integer of the same or a narrower type, or an `int`; other types do not compile.
    template <class From>
    key_argument(From given) : value(fitting(given)) { // NOLINT: implicit on purpose
        if constexpr (detail::literal_for<From, T>) { fits = detail::place_in<T>(given) == 0; }
    }
    /// The value.
    operator T() const noexcept { return value; }

private:
    template <class From>
    [[nodiscard]] static constexpr T fitting(From const& given) noexcept {
        if constexpr (detail::fits_losslessly<From, T> || detail::literal_for<From, T>) {
            return static_cast<T>(given);
        } else {
            static_assert(detail::fits_losslessly<From, T>,
                "an integer key component must be given a value of its own type, of a narrower type, or an int, such "
                "as "
                "a literal");
            return T{};
        }
    }
};

/// Text, by reference.
template <>
struct key_argument<std::string> {
    std::string_view value; ///< valid for the lifetime of the argument

    /// Takes anything that converts to a string view.
    template <class From>
        requires std::convertible_to<From const&, std::string_view>
    key_argument(From const& given) : value(given) {} // NOLINT: implicit on purpose
    key_argument(std::nullptr_t) = delete;            // a std::string_view would be read from the null pointer
    /// The value.
    operator std::string_view() const noexcept { return value; }
};

/// A value that may be absent.
template <class T>
struct key_argument<std::optional<T>> {
    std::optional<T> value; ///< the value
    bool fits{true};        ///< whether `value` equals the argument

    /// Takes an absent value.
    key_argument(std::nullopt_t) {} // NOLINT: implicit on purpose
    /// Takes a value that may be absent.
    key_argument(std::optional<T> const& given) : value(given) {} // NOLINT: implicit on purpose
    /// Takes a value like `key_argument<T>`.
    template <class From>
        requires(!std::same_as<From, key_argument> && std::convertible_to<From, key_argument<T>>)
    key_argument(From const& given) : key_argument(key_argument<T>{given}) {} // NOLINT: implicit on purpose
    /// The value.
    operator std::optional<T> const&() const noexcept { return value; }

private:
    explicit key_argument(key_argument<T> const& given) : value(static_cast<T>(given)) {
        if constexpr (requires { given.fits; }) { fits = given.fits; }
    }
};

ENTITABLE_END_NAMESPACE

#endif
