// SPDX-License-Identifier: MIT
// Copyright (c) 2026 the entitable authors
#pragma once

/// \file
/// Operands that do not compile, with one message each: values of other types than the member, and computations with members.

#if !defined(ENTITABLE_IMPORTED)
#include <entitable/client/query/predicate.hpp>
#include <entitable/core/date_time.hpp>

#include <string>
#include <string_view>

ENTITABLE_BEGIN_NAMESPACE

/// Whether T is a field, which can be compared; `between`, `in` and `starts_with` take fields.
template <class T>
inline constexpr bool is_field = false;
/// The field of a property.
template <class Entity, auto Member>
inline constexpr bool is_field<property_field<Entity, Member>> = true;
/// The field of a key component.
template <class Entity, key_part Part, class Component>
inline constexpr bool is_field<key_field<Entity, Part, Component>> = true;

namespace detail {

/// Reports in one line why a value cannot be compared with a member of type T.
template <class T, class From>
consteval void refuse_operand() {
    constexpr bool is_member = requires {
        typename From::entity_type;
        typename From::value_type;
    };
    constexpr bool is_text = std::convertible_to<From const&, std::string_view>;
    if constexpr (is_member) {
        static_assert(!is_member,
            "a member must be compared with a value of its own type, not with another member: compare two members in "
            "for_each(...)");
    } else if constexpr (std::same_as<From, std::nullptr_t>) {
        static_assert(!std::same_as<From, std::nullptr_t>, "an absent member is std::nullopt, not nullptr");
    } else if constexpr (std::same_as<T, date_time>) {
        static_assert(!std::same_as<T, date_time>,
            "a date_time must be compared with a value of its own type: this value has a different type; "
            "date_time::parse(\"2026-01-31T00:00:00Z\").value(), parse_date(\"2026-01-31\").value(), or a time of "
            "std::chrono::system_clock");
    } else if constexpr (is_text && key_integer<T>) {
        static_assert(!is_text,
            "a number must be compared with a value of its own type: this value has a different type, a text");
    } else if constexpr (key_integer<From> && key_integer<T>) {
        static_assert(!key_integer<From>,
            "an integer member must be compared with a value of its own type, or of a narrower type: this value has a "
            "different type, whose values can be outside of the member's range");
    } else if constexpr (std::same_as<T, std::string>) {
        static_assert(!std::same_as<T, std::string>,
            "a text must be compared with a value of its own type: this value has a different type");
    } else {
        static_assert(is_member,
            "a member must be compared with a value of its own type, or of a narrower type: this value has a different "
            "type");
    }
}

template <class Field>
consteval void refuse_expression() {
    static_assert(sizeof(Field) == 0,
        "a store does not compute with members: compare a member alone, group_by(member, ...), or compute in "
        "for_each(...)");
}

} // namespace detail

/// \cond
#define ENTITABLE_REFUSED_EXPRESSION(sign)          \
    template <class Field, class Other>             \
        requires is_field<Field>                    \
    auto operator sign(Field field, Other const&) { \
        detail::refuse_expression<Other>();         \
        return field;                               \
    }
ENTITABLE_REFUSED_EXPRESSION(+)
ENTITABLE_REFUSED_EXPRESSION(-)
ENTITABLE_REFUSED_EXPRESSION(*)
ENTITABLE_REFUSED_EXPRESSION(/)
ENTITABLE_REFUSED_EXPRESSION(%)
#undef ENTITABLE_REFUSED_EXPRESSION
/// \endcond

/// Does not compile: a field alone is not a condition.
template <class Field>
    requires is_field<Field>
detail::refused_predicate operator!(Field const&) {
    static_assert(sizeof(Field) == 0, "a member alone is not a condition: compare it, as in r::finished == false");
    return {};
}

ENTITABLE_END_NAMESPACE

#endif
