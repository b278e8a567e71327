// SPDX-License-Identifier: MIT
// Copyright (c) 2026 the entitable authors
#pragma once

/// \file
/// Enumerations as properties and key components: by number, or by name if the user specified names.

#if !defined(ENTITABLE_IMPORTED)
#include <entitable/core/config.hpp>

#include <concepts>
#include <string_view>
#include <type_traits>

ENTITABLE_BEGIN_NAMESPACE

/// A value of an enumeration and its stored name.
template <class Enum>
struct enum_name {
    Enum value;            ///< the value
    std::string_view name; ///< stored text of the enumerator
};

/// Specialised by the user, before the first entity that has such a member, to store an enumeration by name:
///
///     template <>
///     struct entitable::enum_names<colour> {
///         static constexpr entitable::enum_name<colour> values[] = {{colour::red, "red"}, {colour::blue, "blue"}};
///         static constexpr colour unknown = colour::red;    // optional: the value for an unknown name
///     };
///
/// Without `unknown`, a row with an unknown name is refused with RowMismatch. An enumeration without names is stored by
/// number, and every number is allowed.
template <class Enum>
struct enum_names;

/// Whether an enumeration is stored by name.
template <class T>
concept named_enumeration = std::is_enum_v<T> && requires { enum_names<T>::values; };

/// Returns the name of a value; empty if the value has no name.
template <named_enumeration Enum>
[[nodiscard]] constexpr std::string_view name_of(Enum value) noexcept {
    for (auto const& known : enum_names<Enum>::values) {
        if (known.value == value) { return known.name; }
    }
    return {};
}

/// Finds the value of a name; false if there is none and no `unknown`.
template <named_enumeration Enum>
[[nodiscard]] constexpr bool value_named(std::string_view name, Enum& out) noexcept {
    for (auto const& known : enum_names<Enum>::values) {
        if (known.name == name) {
            out = known.value;
            return true;
        }
    }
    if constexpr (requires { enum_names<Enum>::unknown; }) {
        out = enum_names<Enum>::unknown;
        return true;
    }
    return false;
}

ENTITABLE_END_NAMESPACE

#endif
