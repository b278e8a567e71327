// SPDX-License-Identifier: MIT
// Copyright (c) 2026 the entitable authors
#pragma once

/// \file
/// The C++ types that can be properties, and their EDM types.

#if !defined(ENTITABLE_IMPORTED)
#include <entitable/client/mapping/enumeration.hpp>
#include <entitable/core/value.hpp>

#include <concepts>
#include <optional>
#include <string>
#include <type_traits>

ENTITABLE_BEGIN_NAMESPACE

/// Conversion of a C++ type to a property: defined for std::string, std::int32_t, std::int64_t (which reads an Int32 too), double, bool,
/// `date_time`, `guid`, `binary` and enumerations (by name if they have `enum_names`, otherwise by number: as Int32 if it fits, otherwise
/// as Int64). Specialise it to make your own type a property.
///
///     static constexpr edm_type type;
///     static value_view view(T const& value);        borrows from the value
///     static bool assign(T& to, value_view from);    false if the type of `from` does not fit
template <class T>
struct property_type;

/// \cond
namespace detail {

/// A property that a view of a value holds itself.
template <class T, edm_type Type, T (value_view::*Read)() const noexcept>
struct scalar_property {
    static constexpr edm_type type = Type;
    static value_view view(T value) noexcept { return value; }
    static bool assign(T& to, value_view from) noexcept {
        to = (from.*Read)();
        return from.type() == type;
    }
};

} // namespace detail

template <>
struct property_type<std::string> {
    static constexpr edm_type type = edm_type::string;
    static value_view view(std::string const& value) noexcept { return value_view{std::string_view{value}}; }
    ENTITABLE_LAZY static bool assign(std::string& to, value_view from) {
        to = from.as_string();
        return from.type() == type;
    }
};

template <>
struct property_type<std::int32_t> : detail::scalar_property<std::int32_t, edm_type::int32, &value_view::as_int32> {};

// Also reads an Int32.
template <>
struct property_type<std::int64_t> {
    static constexpr edm_type type = edm_type::int64;
    static value_view view(std::int64_t value) noexcept { return value; }
    static bool assign(std::int64_t& to, value_view from) noexcept {
        to = from.as_int64();
        return from.type() == type || from.type() == edm_type::int32;
    }
};

template <>
struct property_type<double> : detail::scalar_property<double, edm_type::float64, &value_view::as_float64> {};

template <>
struct property_type<bool> : detail::scalar_property<bool, edm_type::boolean, &value_view::as_boolean> {};

template <>
struct property_type<date_time> : detail::scalar_property<date_time, edm_type::date_time, &value_view::as_date_time> {};

template <>
struct property_type<guid> {
    static constexpr edm_type type = edm_type::guid;
    ENTITABLE_LAZY static value_view view(guid const& value) noexcept {
        return {type, std::string_view{reinterpret_cast<char const*>(value.bytes.data()), value.bytes.size()}};
    }
    static bool assign(guid& to, value_view from) noexcept {
        to = from.as_guid();
        return from.type() == type;
    }
};

template <>
struct property_type<binary> {
    static constexpr edm_type type = edm_type::binary;
    ENTITABLE_LAZY static value_view view(binary const& value) noexcept {
        return {type, std::string_view{reinterpret_cast<char const*>(value.data()), value.size()}};
    }
    ENTITABLE_LAZY static bool assign(binary& to, value_view from);
};

/// An enumeration without names: its number, as Int32 if it fits, otherwise as Int64. Every number of the underlying type is allowed; a
/// stored number out of its range is refused when it is read.
template <class T>
    requires(std::is_enum_v<T> && !named_enumeration<T>)
struct property_type<T> {
    using underlying = std::underlying_type_t<T>;
    using number = std::conditional_t<(sizeof(underlying) < 4 || std::is_same_v<underlying, std::int32_t>),
        std::int32_t, std::int64_t>;
    static_assert(sizeof(underlying) < 8 || std::is_signed_v<underlying>,
        "an enumeration whose underlying type is std::uint64_t cannot be a property unless its values have names");

    static constexpr edm_type type = property_type<number>::type;
    static value_view view(T value) noexcept { return property_type<number>::view(static_cast<number>(value)); }
    static bool assign(T& to, value_view from) noexcept {
        number read{};
        bool const good = property_type<number>::assign(read, from);
        to = static_cast<T>(static_cast<underlying>(read));
        return good && static_cast<number>(to) == read;
    }
};

/// An enumeration with names (`enum_names`): the name. A value without a name is refused when it is written; an unknown name is refused
/// when it is read, unless `unknown` is defined.
template <named_enumeration T>
struct property_type<T> {
    static constexpr edm_type type = edm_type::string;
    static value_view view(T value) noexcept { return value_view{name_of(value)}; }
    static bool assign(T& to, value_view from) noexcept {
        return from.type() == type && value_named(from.as_string(), to);
    }
};
/// \endcond

namespace detail {

template <class T>
struct property_shape {
    using value_type = T;
    static constexpr bool optional = false;
};

/// An optional member is a property that may be absent.
template <class T>
struct property_shape<std::optional<T>> {
    using value_type = T;
    static constexpr bool optional = true;
};

} // namespace detail

/// Whether the type can be a property.
template <class T>
concept property_value = requires(typename detail::property_shape<T>::value_type const& value) {
    { property_type<typename detail::property_shape<T>::value_type>::view(value) } -> std::same_as<value_view>;
};

ENTITABLE_END_NAMESPACE

#if !defined(ENTITABLE_SEPARATE_COMPILATION)
#include <entitable/client/mapping/impl/property_type.ipp>
#endif

#endif
