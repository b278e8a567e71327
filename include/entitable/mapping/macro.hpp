// SPDX-License-Identifier: MIT
// Copyright (c) 2026 the entitable authors
#pragma once

/// \file
/// ENTITABLE(type, clauses...): declares an entity. It stands in the namespace of the type, after it:
///
///     ENTITABLE(registration,
///         partition_key(event, distance),    // components, joined by "__"
///         row_key(bib),
///         properties(name, age))             // up to 64 a clause; the clause may stand several times
///
/// It generates what the library needs at compile time and nothing that runs: the fields for predicates, the components of the
/// keys, member pointers and names of the properties, and the messages of this entity's misuse.

#include <entitable/mapping/component.hpp>
#include <entitable/mapping/detail/each.hpp>
#include <entitable/mapping/field.hpp>
#include <entitable/mapping/property_type.hpp>

// Included as a system header GCC leaves its macro expansion notes out of a user's messages.
#if defined(__GNUC__) && !defined(__clang__)
#pragma GCC system_header
#endif

#define ENTITABLE(entitable_type, ...)                                                                                \
    template <class Entity>                                                                                           \
    struct entitable_mapping;                                                                                         \
    template <>                                                                                                       \
    struct entitable_mapping<entitable_type> {                                                                        \
        using entitable_entity = entitable_type;                                                                      \
        static constexpr ::std::string_view entity_name = #entitable_type;                                            \
        ENTITABLE_EACH_CLAUSE(ENTITABLE_KNOWN, ~, __VA_ARGS__)                                                        \
        static_assert((0 ENTITABLE_EACH_CLAUSE(ENTITABLE_OUTPUT, ENTITABLE_COUNT_PARTITION_, __VA_ARGS__)) == 1,      \
            "ENTITABLE: " #entitable_type " needs exactly one clause partition_key(...)");                            \
        static_assert((0 ENTITABLE_EACH_CLAUSE(ENTITABLE_OUTPUT, ENTITABLE_COUNT_ROW_, __VA_ARGS__)) == 1,            \
            "ENTITABLE: " #entitable_type " needs exactly one clause row_key(...)");                                  \
        ENTITABLE_EACH_CLAUSE(ENTITABLE_OUTPUT, ENTITABLE_CHECKS_, __VA_ARGS__)                                       \
        struct fields {                                                                                               \
            ENTITABLE_EACH_CLAUSE(ENTITABLE_OUTPUT, ENTITABLE_FIELDS_, __VA_ARGS__)                                   \
        };                                                                                                            \
        using partition_components =                                                                                  \
            ::entitable::components<void ENTITABLE_EACH_CLAUSE(ENTITABLE_OUTPUT, ENTITABLE_PARTITION_, __VA_ARGS__)>; \
        using row_components =                                                                                        \
            ::entitable::components<void ENTITABLE_EACH_CLAUSE(ENTITABLE_OUTPUT, ENTITABLE_ROW_, __VA_ARGS__)>;       \
        using properties =                                                                                            \
            ::entitable::members<0 ENTITABLE_EACH_CLAUSE(ENTITABLE_OUTPUT, ENTITABLE_POINTERS_, __VA_ARGS__)>;        \
        static constexpr ::std::string_view property_names[] = {                                                      \
            {} ENTITABLE_EACH_CLAUSE(ENTITABLE_OUTPUT, ENTITABLE_NAMES_, __VA_ARGS__)};                               \
        static constexpr ::entitable::key_component partition_layout[] = {                                            \
            ENTITABLE_EACH_CLAUSE(ENTITABLE_OUTPUT, ENTITABLE_PARTITION_LAYOUT_, __VA_ARGS__)};                       \
        static constexpr ::entitable::key_component row_layout[] = {                                                  \
            ENTITABLE_EACH_CLAUSE(ENTITABLE_OUTPUT, ENTITABLE_ROW_LAYOUT_, __VA_ARGS__)};                             \
        static_assert(::entitable::detail::names_are_distinct(property_names),                                        \
            "ENTITABLE: " #entitable_type " has two properties with one name");                                       \
    };                                                                                                                \
    [[maybe_unused]] constexpr entitable_mapping<entitable_type> entitable_mapping_of(entitable_type const*) {        \
        return {};                                                                                                    \
    }

// ---- clauses: one line per kind of output, empty where a clause has none -------------------------------------

#define ENTITABLE_OUTPUT(prefix, clause) ENTITABLE_CAT(ENTITABLE_OUTPUT_, ENTITABLE_IS_CLAUSE(clause))(prefix, clause)
#define ENTITABLE_OUTPUT_0(prefix, clause)
#define ENTITABLE_OUTPUT_1(prefix, clause) prefix##clause

#define ENTITABLE_IS_CLAUSE(clause) ENTITABLE_SECOND(ENTITABLE_IS_CLAUSE_##clause, 0, ~)
#define ENTITABLE_SECOND(...) ENTITABLE_SECOND_I(__VA_ARGS__)
#define ENTITABLE_SECOND_I(a, b, ...) b
#define ENTITABLE_IS_CLAUSE_partition_key(...) ~, 1
#define ENTITABLE_IS_CLAUSE_row_key(...) ~, 1
#define ENTITABLE_IS_CLAUSE_properties(...) ~, 1

#define ENTITABLE_KNOWN(d, clause) ENTITABLE_CAT(ENTITABLE_KNOWN_, ENTITABLE_IS_CLAUSE(clause))(clause)
#define ENTITABLE_KNOWN_0(clause) \
    static_assert(false,          \
        "ENTITABLE: '" #clause "' is not a clause; there are partition_key(...), row_key(...) and properties(...)");
#define ENTITABLE_KNOWN_1(clause)

// The fields that predicates are made of; nothing but the user's names stands in that struct.
#define ENTITABLE_FIELDS_partition_key(...) ENTITABLE_EACH_MEMBER(ENTITABLE_PARTITION_FIELD, __VA_ARGS__)
#define ENTITABLE_FIELDS_row_key(...) ENTITABLE_EACH_MEMBER(ENTITABLE_ROW_FIELD, __VA_ARGS__)
#define ENTITABLE_FIELDS_properties(...) ENTITABLE_EACH_MEMBER(ENTITABLE_PROPERTY_FIELD, __VA_ARGS__)
#define ENTITABLE_PARTITION_FIELD(i, member)                                                                        \
    [[maybe_unused]] static constexpr ::entitable::key_field<entitable_entity, ::entitable::key_part::partition, i, \
        ::entitable::component<&entitable_entity::member>> member{};
#define ENTITABLE_ROW_FIELD(i, member)                                                                        \
    [[maybe_unused]] static constexpr ::entitable::key_field<entitable_entity, ::entitable::key_part::row, i, \
        ::entitable::component<&entitable_entity::member>> member{};
#define ENTITABLE_PROPERTY_FIELD(i, member)                                                                            \
    [[maybe_unused]] static constexpr ::entitable::property_field<entitable_entity, &entitable_entity::member> member{ \
        #member};

// The components of the keys.
#define ENTITABLE_PARTITION_partition_key(...) ENTITABLE_EACH_MEMBER(ENTITABLE_COMPONENT, __VA_ARGS__)
#define ENTITABLE_PARTITION_row_key(...)
#define ENTITABLE_PARTITION_properties(...)
#define ENTITABLE_ROW_partition_key(...)
#define ENTITABLE_ROW_row_key(...) ENTITABLE_EACH_MEMBER(ENTITABLE_COMPONENT, __VA_ARGS__)
#define ENTITABLE_ROW_properties(...)
#define ENTITABLE_COMPONENT(i, member) , ::entitable::component<&entitable_entity::member>

// The same as plain data, with names.
#define ENTITABLE_PARTITION_LAYOUT_partition_key(...) ENTITABLE_EACH_MEMBER(ENTITABLE_LAYOUT, __VA_ARGS__)
#define ENTITABLE_PARTITION_LAYOUT_row_key(...)
#define ENTITABLE_PARTITION_LAYOUT_properties(...)
#define ENTITABLE_ROW_LAYOUT_partition_key(...)
#define ENTITABLE_ROW_LAYOUT_row_key(...) ENTITABLE_EACH_MEMBER(ENTITABLE_LAYOUT, __VA_ARGS__)
#define ENTITABLE_ROW_LAYOUT_properties(...)
#define ENTITABLE_LAYOUT(i, member) ::entitable::component<&entitable_entity::member>::describe(#member),

// The properties: member pointers, and names beside them.
#define ENTITABLE_POINTERS_partition_key(...)
#define ENTITABLE_POINTERS_row_key(...)
#define ENTITABLE_POINTERS_properties(...) ENTITABLE_EACH_MEMBER(ENTITABLE_POINTER, __VA_ARGS__)
#define ENTITABLE_POINTER(i, member) , &entitable_entity::member
#define ENTITABLE_NAMES_partition_key(...)
#define ENTITABLE_NAMES_row_key(...)
#define ENTITABLE_NAMES_properties(...) ENTITABLE_EACH_MEMBER(ENTITABLE_NAME, __VA_ARGS__)
#define ENTITABLE_NAME(i, member) , #member

// The messages that carry the user's names; each fires only where its rule is broken.
#define ENTITABLE_CHECKS_partition_key(...)                                               \
    template <bool Ok>                                                                    \
    struct partition_key_is_fixed {                                                       \
        static_assert(Ok,                                                                 \
            "this query would scan the whole table: fix the partition key (" #__VA_ARGS__ \
            ") or ask for it with scan_table()");                                         \
    };                                                                                    \
    ENTITABLE_EACH_MEMBER(ENTITABLE_CHECK_KEY, __VA_ARGS__)
#define ENTITABLE_CHECKS_row_key(...) ENTITABLE_EACH_MEMBER(ENTITABLE_CHECK_KEY, __VA_ARGS__)
#define ENTITABLE_CHECKS_properties(...) ENTITABLE_EACH_MEMBER(ENTITABLE_CHECK_PROPERTY, __VA_ARGS__)
#define ENTITABLE_CHECK_KEY(i, member)                                        \
    static_assert(::entitable::key_value<decltype(entitable_entity::member)>, \
        "ENTITABLE: the member '" #member                                     \
        "' has a type that cannot be part of a key: integers, std::string and optional integers can");
#define ENTITABLE_CHECK_PROPERTY(i, member)                                               \
    static_assert(::entitable::property_value<decltype(entitable_entity::member)>,        \
        "ENTITABLE: the member '" #member                                                 \
        "' has a type that cannot be stored: a property is a std::string, std::int32_t, " \
        "std::int64_t, double, bool, entitable::date_time, guid or binary, or an optional of one");

#define ENTITABLE_COUNT_PARTITION_partition_key(...) +1
#define ENTITABLE_COUNT_PARTITION_row_key(...)
#define ENTITABLE_COUNT_PARTITION_properties(...)
#define ENTITABLE_COUNT_ROW_partition_key(...)
#define ENTITABLE_COUNT_ROW_row_key(...) +1
#define ENTITABLE_COUNT_ROW_properties(...)
