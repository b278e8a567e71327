// SPDX-License-Identifier: MIT
// Copyright (c) 2026 the entitable authors
#pragma once

/// \file
/// Fields, the operands of predicates and merges: types that name their entity and member. The comparisons are in the folder `query`.

#include <entitable/client/mapping/chunked.hpp>
#include <entitable/client/mapping/component.hpp>
#include <entitable/client/mapping/key_argument.hpp>

#include <optional>

ENTITABLE_BEGIN_NAMESPACE

/// A component of a key of `Entity`.
template <class Entity, key_part Part, class Component>
struct key_field {
    using entity_type = Entity;                        ///< entity of the key
    using value_type = typename Component::value_type; ///< the member's type
    using codec = typename Component::codec;           ///< codec of its text form
};

namespace detail {

/// Type of a member, or of the value of an optional member.
template <class T>
struct held_by {
    using type = T;
};
template <class T>
struct held_by<std::optional<T>> {
    using type = T;
};

} // namespace detail

/// A new value of a property, for `merge`.
template <class Entity, auto Member>
struct member_change {
    std::string_view name;                                             ///< property name as stored
    typename detail::held_by<detail::member_type<Member>>::type value; ///< new value of the property
};

/// Removal of a property, for `merge`.
template <class Entity, auto Member>
struct member_removal {
    std::string_view name; ///< property name as stored
};

/// The type of `absent`.
struct absent_t {
    explicit absent_t() = default;
};
/// Removes a property in a `merge`: `merge(at("ann", 7), o::note = absent, any_etag)`.
inline constexpr absent_t absent{};

/// A property of `Entity`.
template <class Entity, auto Member>
struct property_field {
    using entity_type = Entity;                     ///< entity of the property
    using value_type = detail::member_type<Member>; ///< the member's type

    std::string_view name; ///< property name as stored

    /// Sets the property: for `merge(at(keys...), field = value, condition)`.
    template <class From>
    [[nodiscard]] member_change<Entity, Member> operator=(From&& from) const { // NOLINT: assigns nothing
        using type = typename detail::held_by<value_type>::type;
        constexpr bool is_value = std::is_convertible_v<From, type> &&
            (!std::is_arithmetic_v<type> || std::is_same_v<std::remove_cvref_t<From>, type> ||
                detail::fits_losslessly<std::remove_cvref_t<From>, type> ||
                (std::is_same_v<type, double> && std::is_arithmetic_v<std::remove_cvref_t<From>> &&
                    !std::is_same_v<std::remove_cvref_t<From>, bool>));
        constexpr bool is_absence = std::is_same_v<std::remove_cvref_t<From>, std::nullopt_t>;
        static_assert(!is_absence,
            "a merge cannot remove a property, because the service ignores null: write `member = absent`, which reads "
            "the entity first, or use update(...)");
        static_assert(
            is_value || is_absence, "a member must be assigned a value of its own type, or of a narrower type");
        if constexpr (is_value) {
            return {name, static_cast<type>(std::forward<From>(from))};
        } else {
            return {name, type{}};
        }
    }
    /// Removes the property in a `merge`, which then reads the entity first.
    [[nodiscard]] member_removal<Entity, Member> operator=(absent_t) const { // NOLINT: assigns nothing
        using type = typename detail::held_by<value_type>::type;
        static_assert(
            !std::is_same_v<value_type, type>, "only an optional member can be absent: this member is always present");
        return {name};
    }
};

namespace detail {

/// Whether the member of the field is stored as several properties.
template <class Field>
inline constexpr bool is_field_in_parts = false;
template <class Entity, auto Member>
inline constexpr bool is_field_in_parts<property_field<Entity, Member>> = is_in_parts<Member>;

} // namespace detail
ENTITABLE_END_NAMESPACE
