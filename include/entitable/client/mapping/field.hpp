// SPDX-License-Identifier: MIT
// Copyright (c) 2026 the entitable authors
#pragma once

/// \file
/// Fields, the operands of predicates and merges: types that name their entity and member. The comparisons are in the folder `query`.

#if !defined(ENTITABLE_IMPORTED)
#include <entitable/client/mapping/chunked.hpp>
#include <entitable/client/mapping/component.hpp>
#include <entitable/client/mapping/key_argument.hpp>

#include <optional>

ENTITABLE_BEGIN_NAMESPACE

namespace detail {

/// Stands for a predicate that was refused at compile time, so that one mistake gives one message.
struct refused_predicate {
    friend constexpr refused_predicate operator!(refused_predicate) { return {}; }
    template <class Other>
    friend constexpr refused_predicate operator&&(refused_predicate, Other const&) {
        return {};
    }
    template <class Other>
    friend constexpr refused_predicate operator||(refused_predicate, Other const&) {
        return {};
    }
};

template <class Field>
consteval void refuse_contains() {
    static_assert(sizeof(Field) == 0,
        "no store searches within a text: starts_with(member, prefix) is a condition; for other conditions test the "
        "entities in for_each(...)");
}
template <class Field>
consteval void refuse_member_call() {
    static_assert(sizeof(Field) == 0,
        "conditions are functions of a member: starts_with(o::name, \"A\"), in(o::name, {\"A\", \"B\"}), "
        "between(o::age, "
        "18, 30)");
}

} // namespace detail

/// A component of a key of `Entity`.
template <class Entity, key_part Part, class Component>
struct key_field {
    using entity_type = Entity;                        ///< entity of the key
    using value_type = typename Component::value_type; ///< the member's type
    using codec = typename Component::codec;           ///< codec of its text form

    /// Does not compile: == compares, and a key cannot be changed.
    template <class From>
    auto operator=(From const&) const { // NOLINT: assigns nothing
        static_assert(sizeof(From) == 0,
            "this member is part of a key: compare it with ==; a merge cannot change it, so insert the entity under "
            "its new key and remove the old entity");
        return detail::refused_predicate{};
    }
    /// Does not compile: no store searches within a text.
    template <class Text>
    auto contains(Text const&) const {
        detail::refuse_contains<Text>();
        return detail::refused_predicate{};
    }
    /// Does not compile: see the function `starts_with`.
    template <class Text>
    auto starts_with(Text const&) const {
        detail::refuse_member_call<Text>();
        return detail::refused_predicate{};
    }
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
    /// Does not compile: no store searches within a text.
    template <class Text>
    auto contains(Text const&) const {
        detail::refuse_contains<Text>();
        return detail::refused_predicate{};
    }
    /// Does not compile: see the function `starts_with`.
    template <class Text>
    auto starts_with(Text const&) const {
        detail::refuse_member_call<Text>();
        return detail::refused_predicate{};
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

#endif
