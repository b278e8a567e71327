// SPDX-License-Identifier: MIT
// Copyright (c) 2026 the entitable authors
#pragma once

/// \file
/// The part of ENTITABLE for members whose name or type has changed: `formerly` and `retyped`, with the numbers of the lines in `entity_macro.hpp`.

// Marked as a system header: GCC then omits its macro expansion notes from a user's messages.
#if defined(__GNUC__) && !defined(__clang__)
#pragma GCC system_header
#endif

/// \cond
// formerly(item, "Old") and retyped(item, function): the item is a member, or property(member, "Name"); in formerly it may be retyped(...).
#define ENTITABLE_PROPERTY_MEMBER_formerly(item, old) ENTITABLE_IN_FORMERLY(MEMBER, item)
#define ENTITABLE_PROPERTY_MEMBER_retyped(item, function) ENTITABLE_IN_RETYPED(MEMBER, item)
#define ENTITABLE_PROPERTY_NAME_formerly(item, old) ENTITABLE_IN_FORMERLY(NAME, item)
#define ENTITABLE_PROPERTY_NAME_retyped(item, function) ENTITABLE_IN_RETYPED(NAME, item)
#define ENTITABLE_PROPERTY_POINTER_formerly(item, old) ENTITABLE_CHANGED_MEMBER(ENTITABLE_IN_FORMERLY(MEMBER, item))
#define ENTITABLE_PROPERTY_POINTER_retyped(item, function) ENTITABLE_CHANGED_MEMBER(ENTITABLE_IN_RETYPED(MEMBER, item))
#define ENTITABLE_HISTORY_formerly(item, old) \
    ENTITABLE_HISTORY(ENTITABLE_IN_FORMERLY(MEMBER, item), old, ENTITABLE_IN_FORMERLY(CONVERT, item))
#define ENTITABLE_HISTORY_retyped(item, function) ENTITABLE_HISTORY(ENTITABLE_IN_RETYPED(MEMBER, item), "", &function)
#define ENTITABLE_CHANGED_MEMBER(member) ENTITABLE_CHANGED_MEMBER_I(member)
#define ENTITABLE_CHANGED_MEMBER_I(member) \
    (::entitable::changed_member<entitable_members::member, entitable_members::entitable_history_##member>{})
#define ENTITABLE_HISTORY(member, old, function) ENTITABLE_HISTORY_I(member, old, function)
#define ENTITABLE_HISTORY_I(member, old, function)        \
    struct entitable_history_##member {                   \
        static constexpr ::std::string_view former = old; \
        static constexpr auto convert = function;         \
    };
#define ENTITABLE_IN_FORMERLY(what, item) \
    ENTITABLE_CHANGED_CAT(ENTITABLE_IN_FORMERLY_##what##_, ENTITABLE_CHANGED_KIND(item))(item)
#define ENTITABLE_IN_RETYPED(what, item) \
    ENTITABLE_RETYPED_CAT(ENTITABLE_IN_RETYPED_##what##_, ENTITABLE_RETYPED_KIND(item))(item)
#define ENTITABLE_CHANGED_CAT(one, other) ENTITABLE_CHANGED_CAT_I(one, other)
#define ENTITABLE_CHANGED_CAT_I(one, other) one##other
#define ENTITABLE_RETYPED_CAT(one, other) ENTITABLE_RETYPED_CAT_I(one, other)
#define ENTITABLE_RETYPED_CAT_I(one, other) one##other
// 0: a member; 1: property(...); 2: retyped(...).
#define ENTITABLE_CHANGED_KIND(item) ENTITABLE_SECOND(ENTITABLE_CHANGED_KIND_##item, 0, ~)
#define ENTITABLE_CHANGED_KIND_property(...) ~, 1
#define ENTITABLE_CHANGED_KIND_retyped(...) ~, 2
#define ENTITABLE_RETYPED_KIND(item) ENTITABLE_SECOND(ENTITABLE_RETYPED_KIND_##item, 0, ~)
#define ENTITABLE_RETYPED_KIND_property(...) ~, 1
#define ENTITABLE_IN_FORMERLY_MEMBER_0(member) member
#define ENTITABLE_IN_FORMERLY_MEMBER_1(item) ENTITABLE_PROPERTY_MEMBER_##item
#define ENTITABLE_IN_FORMERLY_MEMBER_2(item) ENTITABLE_PROPERTY_MEMBER_##item
#define ENTITABLE_IN_FORMERLY_NAME_0(member) #member
#define ENTITABLE_IN_FORMERLY_NAME_1(item) ENTITABLE_PROPERTY_NAME_##item
#define ENTITABLE_IN_FORMERLY_NAME_2(item) ENTITABLE_PROPERTY_NAME_##item
#define ENTITABLE_IN_FORMERLY_CONVERT_0(member) \
    ::entitable::detail::same_type {}
#define ENTITABLE_IN_FORMERLY_CONVERT_1(item) \
    ::entitable::detail::same_type {}
#define ENTITABLE_IN_FORMERLY_CONVERT_2(item) ENTITABLE_CONVERT_OF_##item
#define ENTITABLE_CONVERT_OF_retyped(item, function) &function
#define ENTITABLE_IN_RETYPED_MEMBER_0(member) member
#define ENTITABLE_IN_RETYPED_MEMBER_1(item) ENTITABLE_PROPERTY_MEMBER_##item
#define ENTITABLE_IN_RETYPED_NAME_0(member) #member
#define ENTITABLE_IN_RETYPED_NAME_1(item) ENTITABLE_PROPERTY_NAME_##item

#define ENTITABLE_PROPERTY_KIND_formerly(...) ~, ENTITABLE_WITH_TWO(5, __VA_ARGS__)
#define ENTITABLE_PROPERTY_KIND_retyped(...) ~, ENTITABLE_WITH_TWO(5, __VA_ARGS__)
#define ENTITABLE_PROPERTY_FIELD_5(item) ENTITABLE_PROPERTY_FIELD_1(item)
#define ENTITABLE_POINTER_5(item) , ENTITABLE_PROPERTY_POINTER_##item
#define ENTITABLE_NAME_5(item) , ENTITABLE_PROPERTY_NAME_##item
#define ENTITABLE_SYSTEM_5(item)
#define ENTITABLE_PROPERTY_POINTER_5(item) \
    ENTITABLE_MEMBER_POINTER(ENTITABLE_PROPERTY_MEMBER_##item) ENTITABLE_HISTORY_##item
#define ENTITABLE_CHECK_PROPERTY_5(item) \
    ENTITABLE_CHECK_PROPERTY_1(item)     \
    ENTITABLE_CHECK_CHANGED(ENTITABLE_PROPERTY_MEMBER_##item, item)
#define ENTITABLE_CHECK_CHANGED(...) ENTITABLE_CHECK_CHANGED_I(__VA_ARGS__)
#define ENTITABLE_CHECK_CHANGED_I(member, shown)                                                                    \
    static_assert(::entitable::detail::can_be_retyped<::entitable::detail::member_type<entitable_members::member>,  \
                      entitable_members::entitable_history_##member>(),                                             \
        "ENTITABLE: retyped(" #member ", function) needs a function from a property of another stored type to the " \
        "member's type, an optional or a result of it");
// The rules for former names, with the user's name of the entity.
#define ENTITABLE_CHECK_FORMER_NAMES(entitable_type)                                                            \
    static constexpr ::entitable::detail::former_name_fault entitable_former_names =                            \
        ::entitable::detail::fault_of_former_names(property_names, properties{});                               \
    static_assert(entitable_former_names != ::entitable::detail::former_name_fault::own,                        \
        "ENTITABLE: " #entitable_type " has a member whose former name is its own name: remove formerly(...)"); \
    static_assert(entitable_former_names != ::entitable::detail::former_name_fault::taken,                      \
        "ENTITABLE: " #entitable_type " has a member whose former name is the name of another property");       \
    static_assert(entitable_former_names != ::entitable::detail::former_name_fault::twice,                      \
        "ENTITABLE: " #entitable_type " has two members with the same former name");
/// \endcond
