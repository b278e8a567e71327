// SPDX-License-Identifier: MIT
// Copyright (c) 2026 the entitable authors
#pragma once

/// \file
/// ENTITABLE(type, clauses...): declares an entity. Put it into the namespace of the type, after it:
///
///     ENTITABLE(registration,
///         partition_key(event, distance),    // components, joined by "__"
///         row_key(bib),
///         properties(name, age))             // up to 64 a clause; the clause may be repeated
///
/// Inside a key: member, width(member, digits), descending(member), descending(width(member, digits)), escaped(member), salted(member,
/// buckets), literal("text"). Inside properties: member, property(member, "Name"), accessors(name, getter, setter), chunked(member) for
/// text or binary over 64 KiB, formerly(member, "Old") and retyped(member, function) for a name and a type that have changed, and
/// etag(member) and timestamp(member), which are set when an entity is read and never stored.
///
/// The line number in the name of the generated struct distinguishes an entity in a namespace from an entity in an unnamed namespace within it.
/// The macro generates compile-time data only, and no code that runs: the fields for predicates, the components of the keys, member
/// pointers and names of the properties, and the messages for misuse of this entity.
///
/// This header has the macro without the types that it names: those are in `macro.hpp`, and in the module `entitable`.

#include <entitable/client/mapping/detail/each.hpp>
#include <entitable/client/mapping/detail/macro_messages.hpp>

// Marked as a system header: GCC then omits its macro expansion notes from a user's messages.
#if defined(__GNUC__) && !defined(__clang__)
#pragma GCC system_header
#endif

/// Declares an entity; see above.
#define ENTITABLE(entitable_type, ...) ENTITABLE_DECLARE(entitable_type, ENTITABLE_OWN_PROPERTIES, __VA_ARGS__)

/// \cond
// The properties come from the clauses, or are found by another header of the library.
#define ENTITABLE_OWN_PROPERTIES(...)                                                                      \
    using properties =                                                                                     \
        ::entitable::members<0 ENTITABLE_EACH_CLAUSE(ENTITABLE_OUTPUT, ENTITABLE_POINTERS_, __VA_ARGS__)>; \
    static constexpr ::std::string_view property_names[] = {                                               \
        {} ENTITABLE_EACH_CLAUSE(ENTITABLE_OUTPUT, ENTITABLE_NAMES_, __VA_ARGS__)}

// Expands to 1 for no arguments, otherwise to 0.
#define ENTITABLE_IS_EMPTY(...) ENTITABLE_SECOND(__VA_OPT__(~, 0, ) ~, 1, ~)

// A declaration with malformed clauses gives a message and nothing else.
#define ENTITABLE_DECLARE(entitable_type, entitable_properties, ...)                                               \
    ENTITABLE_CHOOSE(ENTITABLE_DECLARE_, ENTITABLE_IS_EMPTY(ENTITABLE_EACH_CLAUSE(ENTITABLE_BAD, ~, __VA_ARGS__))) \
    (entitable_type, entitable_properties, __VA_ARGS__)
#define ENTITABLE_CHOOSE(a, b) ENTITABLE_CHOOSE_I(a, b)
#define ENTITABLE_CHOOSE_I(a, b) a##b
#define ENTITABLE_DECLARE_0(entitable_type, entitable_properties, ...) \
    ENTITABLE_EACH_CLAUSE(ENTITABLE_TELL, ~, __VA_ARGS__)

#define ENTITABLE_DECLARE_1(entitable_type, entitable_properties, ...)                                                \
    template <class Entity>                                                                                           \
    struct ENTITABLE_CAT(entitable_mapping_, __LINE__);                                                               \
    template <>                                                                                                       \
    struct ENTITABLE_CAT(entitable_mapping_, __LINE__)<entitable_type> {                                              \
        using entitable_entity = entitable_type;                                                                      \
        static constexpr ::std::string_view entity_name = #entitable_type;                                            \
        ENTITABLE_EACH_CLAUSE(ENTITABLE_KNOWN, ~, __VA_ARGS__)                                                        \
        static_assert((0 ENTITABLE_EACH_CLAUSE(ENTITABLE_OUTPUT, ENTITABLE_COUNT_PARTITION_, __VA_ARGS__)) == 1,      \
            "ENTITABLE: " #entitable_type " needs exactly one partition_key(...) clause");                            \
        static_assert((0 ENTITABLE_EACH_CLAUSE(ENTITABLE_OUTPUT, ENTITABLE_COUNT_ROW_, __VA_ARGS__)) == 1,            \
            "ENTITABLE: " #entitable_type " needs exactly one row_key(...) clause");                                  \
        static constexpr ::std::string_view entitable_key_names[] = {                                                 \
            {} ENTITABLE_EACH_CLAUSE(ENTITABLE_OUTPUT, ENTITABLE_KEY_NAMES_, __VA_ARGS__)};                           \
        static_assert(::entitable::detail::names_are_distinct(entitable_key_names),                                   \
            "ENTITABLE: " #entitable_type " has a member that is twice in its keys");                                 \
        ENTITABLE_EACH_CLAUSE(ENTITABLE_OUTPUT, ENTITABLE_ONCE_, __VA_ARGS__)                                         \
        struct entitable_members {                                                                                    \
            ENTITABLE_EACH_CLAUSE(ENTITABLE_OUTPUT, ENTITABLE_MEMBERS_, __VA_ARGS__)                                  \
        };                                                                                                            \
        template <bool Ok>                                                                                            \
        struct keys_are_given {                                                                                       \
            static_assert(Ok,                                                                                         \
                "name all key components of the entity, in this order and with these types:" ENTITABLE_EACH_CLAUSE(   \
                    ENTITABLE_OUTPUT, ENTITABLE_TEXT_, __VA_ARGS__));                                                 \
        };                                                                                                            \
        ENTITABLE_EACH_CLAUSE(ENTITABLE_OUTPUT, ENTITABLE_CHECKS_, __VA_ARGS__)                                       \
        struct entitable_fields {                                                                                     \
            ENTITABLE_EACH_CLAUSE(ENTITABLE_OUTPUT, ENTITABLE_FIELDS_, __VA_ARGS__)                                   \
        };                                                                                                            \
        using fields = entitable_fields;                                                                              \
        using partition_components =                                                                                  \
            ::entitable::components<void ENTITABLE_EACH_CLAUSE(ENTITABLE_OUTPUT, ENTITABLE_PARTITION_, __VA_ARGS__)>; \
        using row_components =                                                                                        \
            ::entitable::components<void ENTITABLE_EACH_CLAUSE(ENTITABLE_OUTPUT, ENTITABLE_ROW_, __VA_ARGS__)>;       \
        using system_members =                                                                                        \
            ::entitable::members<0 ENTITABLE_EACH_CLAUSE(ENTITABLE_OUTPUT, ENTITABLE_SYSTEM_, __VA_ARGS__)>;          \
        template <::entitable::key_part Part>                                                                         \
        using components_of =                                                                                         \
            ::std::conditional_t<Part == ::entitable::key_part::partition, partition_components, row_components>;     \
        entitable_properties(__VA_ARGS__);                                                                            \
        static constexpr ::entitable::key_component partition_layout[] = {                                            \
            ENTITABLE_EACH_CLAUSE(ENTITABLE_OUTPUT, ENTITABLE_PARTITION_LAYOUT_, __VA_ARGS__)};                       \
        static constexpr ::entitable::key_component row_layout[] = {                                                  \
            ENTITABLE_EACH_CLAUSE(ENTITABLE_OUTPUT, ENTITABLE_ROW_LAYOUT_, __VA_ARGS__)};                             \
        static_assert(                                                                                                \
            ::entitable::detail::fits_a_key(partition_layout) && ::entitable::detail::fits_a_key(row_layout),         \
            "ENTITABLE: a key of " #entitable_type " has more than 16 components");                                   \
        static_assert(!::entitable::detail::is_reserved_key(row_layout),                                              \
            "ENTITABLE: the row key of " #entitable_type " begins with \"~!\", which is reserved for the library");   \
        static_assert(::entitable::detail::no_name_is_reserved(property_names),                                       \
            "ENTITABLE: " #entitable_type " has a property called PartitionKey, RowKey or Timestamp");                \
        static_assert(::entitable::detail::names_are_distinct(property_names),                                        \
            "ENTITABLE: " #entitable_type " has two properties with the same name");                                  \
        static_assert(::entitable::detail::names_of_parts_are_free(property_names, properties{}),                     \
            "ENTITABLE: " #entitable_type                                                                             \
            " has a property whose name another member uses: chunked(text) uses text_1 to text_14 and text_n, a "     \
            "reference uses name_PartitionKey and name_RowKey");                                                      \
        ENTITABLE_CHECK_FORMER_NAMES(entitable_type)                                                                  \
    };                                                                                                                \
    [[maybe_unused]] constexpr ENTITABLE_CAT(entitable_mapping_, __LINE__)<entitable_type> entitable_mapping_of(      \
        entitable_type const*) {                                                                                      \
        return {};                                                                                                    \
    }                                                                                                                 \
    using ::entitable::printing::operator<<;                                                                          \
    static_assert(::entitable::detail::finds_mapping<entitable_type>,                                                 \
        "ENTITABLE(" #entitable_type ", ...) must be in the namespace of the type");

// ---- clauses: one line per kind of output, empty if the clause has no output of that kind ---------------------

#define ENTITABLE_OUTPUT(prefix, clause) ENTITABLE_CAT(ENTITABLE_OUTPUT_, ENTITABLE_IS_CLAUSE(clause))(prefix, clause)
#define ENTITABLE_OUTPUT_0(prefix, clause)
#define ENTITABLE_OUTPUT_1(prefix, clause) prefix##clause
#define ENTITABLE_OUTPUT_3(prefix, clause)

// 0: not a clause; 1: a clause; 2: a clause followed by other text; 3: a clause without properties.
#define ENTITABLE_IS_CLAUSE(clause) ENTITABLE_CLAUSE_KIND(ENTITABLE_IS_CLAUSE_##clause, 0, ~)
#define ENTITABLE_CLAUSE_KIND(...) ENTITABLE_CLAUSE_KIND_I(__VA_ARGS__)
#define ENTITABLE_CLAUSE_KIND_I(a, b, c, ...) ENTITABLE_CHOOSE(ENTITABLE_CLAUSE_KIND_, b)(c)
#define ENTITABLE_CLAUSE_KIND_0(c) 0
#define ENTITABLE_CLAUSE_KIND_1(...) ENTITABLE_SECOND(__VA_OPT__(~, 2, ) ~, 1, ~)
#define ENTITABLE_CLAUSE_KIND_3(...) ENTITABLE_SECOND(__VA_OPT__(~, 2, ) ~, 3, ~)
#define ENTITABLE_SECOND(...) ENTITABLE_SECOND_I(__VA_ARGS__)
#define ENTITABLE_SECOND_I(a, b, ...) b
#define ENTITABLE_IS_CLAUSE_partition_key(...) ~, 1,
#define ENTITABLE_IS_CLAUSE_row_key(...) ~, 1,
#define ENTITABLE_IS_CLAUSE_properties(...) ~, ENTITABLE_SECOND(__VA_OPT__(~, 1, ) ~, 3, ~),

#define ENTITABLE_KNOWN(d, clause) ENTITABLE_CAT(ENTITABLE_KNOWN_, ENTITABLE_IS_CLAUSE(clause))(clause)
#define ENTITABLE_KNOWN_0(clause) \
    static_assert(false,          \
        "ENTITABLE: '" #clause    \
        "' is not a clause; the clauses are partition_key(...), row_key(...) and properties(...)");
#define ENTITABLE_KNOWN_1(clause) ENTITABLE_SIZE_##clause
#define ENTITABLE_KNOWN_3(clause)
#define ENTITABLE_SIZE_partition_key(...) ENTITABLE_SIZE(ENTITABLE_COUNT_WIDE(__VA_ARGS__))
#define ENTITABLE_SIZE_row_key(...) ENTITABLE_SIZE(ENTITABLE_COUNT_WIDE(__VA_ARGS__))
#define ENTITABLE_SIZE_properties(...) __VA_OPT__(ENTITABLE_SIZE(ENTITABLE_COUNT_WIDE(__VA_ARGS__)))
#define ENTITABLE_SIZE(count) \
    static_assert(count <= 64, "ENTITABLE: at most 64 members in one clause; properties(...) may be repeated");

// ---- the items of a clause: a member, or a form around one; 0 plain, 1 a form, 2 a literal, 3 salted ----------

#define ENTITABLE_KEY_KIND(item) ENTITABLE_SECOND(ENTITABLE_a_text_is_written_literal_##item, 0, ~)
// Pasting these names with an item gives the message for an item that is not a name, as in row_key("").
#define ENTITABLE_a_text_is_written_literal_ ~, 9,
#define ENTITABLE_a_text_is_written_literal_width(...) ~, ENTITABLE_WITH_TWO(1, __VA_ARGS__)
#define ENTITABLE_a_text_is_written_literal_descending(...) ~, 1
#define ENTITABLE_a_text_is_written_literal_escaped(...) ~, 1
#define ENTITABLE_a_text_is_written_literal_literal(...) ~, 2
#define ENTITABLE_a_text_is_written_literal_salted(...) ~, ENTITABLE_WITH_TWO(3, __VA_ARGS__)

#define ENTITABLE_KEY_MEMBER_width(member, digits) member
#define ENTITABLE_KEY_MEMBER_descending(item) ENTITABLE_WITHIN(MEMBER, item)
#define ENTITABLE_KEY_MEMBER_escaped(member) member
#define ENTITABLE_KEY_MEMBER_salted(member, buckets) member

#define ENTITABLE_KEY_TYPE(member) ::entitable::component<entitable_members::member>
#define ENTITABLE_KEY_TYPE_width(member, digits)      \
    ::entitable::component<entitable_members::member, \
        ::entitable::width_codec<::entitable::detail::member_type<entitable_members::member>, digits>>
#define ENTITABLE_KEY_TYPE_descending(item) ENTITABLE_WITHIN(TYPE, item)
#define ENTITABLE_KEY_TYPE_escaped(member)            \
    ::entitable::component<entitable_members::member, \
        ::entitable::escaped_codec<::entitable::detail::member_type<entitable_members::member>>>
// The argument of descending(...): a member, or width(member, digits).
#define ENTITABLE_WITHIN(what, item) ENTITABLE_WITHIN_CAT(ENTITABLE_WITHIN_##what##_, ENTITABLE_KEY_KIND(item))(item)
#define ENTITABLE_WITHIN_CAT(one, other) ENTITABLE_WITHIN_CAT_I(one, other)
#define ENTITABLE_WITHIN_CAT_I(one, other) one##other
#define ENTITABLE_WITHIN_MEMBER_0(member) member
#define ENTITABLE_WITHIN_MEMBER_1(item) ENTITABLE_KEY_MEMBER_##item
#define ENTITABLE_WITHIN_NAME_0(member) #member
#define ENTITABLE_WITHIN_NAME_1(item) ENTITABLE_KEY_NAME_##item
#define ENTITABLE_WITHIN_TYPE_0(member)               \
    ::entitable::component<entitable_members::member, \
        ::entitable::descending_codec<::entitable::detail::member_type<entitable_members::member>>>
#define ENTITABLE_WITHIN_TYPE_1(item) ENTITABLE_DESCENDING_##item
#define ENTITABLE_DESCENDING_width(member, digits)    \
    ::entitable::component<entitable_members::member, \
        ::entitable::descending_width_codec<::entitable::detail::member_type<entitable_members::member>, digits>>

#define ENTITABLE_KEY_TYPE_salted(member, buckets) ::entitable::salted_component<entitable_members::member, buckets>

#define ENTITABLE_KEY_NAME_width(member, digits) #member
#define ENTITABLE_KEY_NAME_descending(item) ENTITABLE_WITHIN(NAME, item)
#define ENTITABLE_KEY_NAME_escaped(member) #member
#define ENTITABLE_KEY_NAME_salted(member, buckets) #member
#define ENTITABLE_KEY_NAME_literal(text) text

#define ENTITABLE_PROPERTY_KIND(item) ENTITABLE_SECOND(ENTITABLE_PROPERTY_KIND_##item, 0, ~)
#define ENTITABLE_PROPERTY_KIND_property(...) ~, ENTITABLE_WITH_TWO(1, __VA_ARGS__)
#define ENTITABLE_PROPERTY_KIND_accessors(...) ~, ENTITABLE_WITH_THREE(2, __VA_ARGS__)
#define ENTITABLE_PROPERTY_KIND_etag(...) ~, 3
#define ENTITABLE_PROPERTY_KIND_timestamp(...) ~, 3
#define ENTITABLE_PROPERTY_KIND_chunked(...) ~, 4

#define ENTITABLE_PROPERTY_MEMBER_property(member, name) member
#define ENTITABLE_PROPERTY_MEMBER_accessors(name, getter, setter) name
#define ENTITABLE_PROPERTY_MEMBER_chunked(member) member
#define ENTITABLE_PROPERTY_NAME_property(member, name) name
#define ENTITABLE_PROPERTY_NAME_accessors(name, getter, setter) #name
#define ENTITABLE_PROPERTY_NAME_chunked(member) #member
#define ENTITABLE_PROPERTY_POINTER_property(member, name) entitable_members::member
#define ENTITABLE_PROPERTY_POINTER_accessors(name, getter, setter) entitable_members::name
#define ENTITABLE_PROPERTY_POINTER_chunked(member) (::entitable::chunked_member<entitable_members::member>{})

// ---- outputs -------------------------------------------------------------------------------------------------------

// Uses every member once, by name, so that a name that is not a member is diagnosed once.
#define ENTITABLE_MEMBERS_partition_key(...) ENTITABLE_EACH_MEMBER(ENTITABLE_KEY_POINTER, __VA_ARGS__)
#define ENTITABLE_MEMBERS_row_key(...) ENTITABLE_EACH_MEMBER(ENTITABLE_KEY_POINTER, __VA_ARGS__)
#define ENTITABLE_MEMBERS_properties(...) __VA_OPT__(ENTITABLE_EACH_MEMBER(ENTITABLE_PROPERTY_POINTER, __VA_ARGS__))
#define ENTITABLE_KEY_POINTER(i, item) ENTITABLE_CAT(ENTITABLE_KEY_POINTER_, ENTITABLE_KEY_KIND(item))(item)
#define ENTITABLE_KEY_POINTER_0(member) ENTITABLE_MEMBER_POINTER(member)
#define ENTITABLE_KEY_POINTER_1(item) ENTITABLE_MEMBER_POINTER(ENTITABLE_KEY_MEMBER_##item)
#define ENTITABLE_KEY_POINTER_2(item)
#define ENTITABLE_KEY_POINTER_3(item) ENTITABLE_MEMBER_POINTER(ENTITABLE_KEY_MEMBER_##item)
#define ENTITABLE_PROPERTY_POINTER(i, item) \
    ENTITABLE_CAT(ENTITABLE_PROPERTY_POINTER_, ENTITABLE_PROPERTY_KIND(item))(item)
#define ENTITABLE_PROPERTY_POINTER_0(member) ENTITABLE_MEMBER_POINTER(member)
#define ENTITABLE_PROPERTY_POINTER_1(item) ENTITABLE_MEMBER_POINTER(ENTITABLE_PROPERTY_MEMBER_##item)
#define ENTITABLE_PROPERTY_POINTER_2(item) \
    [[maybe_unused]] static constexpr ENTITABLE_ACCESSOR_PAIR_##item ENTITABLE_PROPERTY_MEMBER_##item{};
#define ENTITABLE_PROPERTY_POINTER_3(item) ENTITABLE_MEMBER_POINTER(ENTITABLE_SYSTEM_MEMBER_##item)
#define ENTITABLE_PROPERTY_POINTER_4(item) ENTITABLE_MEMBER_POINTER(ENTITABLE_PROPERTY_MEMBER_##item)
#define ENTITABLE_MEMBER_POINTER(member)                                              \
    [[maybe_unused]] static constexpr auto member = []<class Entity>(Entity const*) { \
        if constexpr (requires { &Entity::member; }) {                                \
            return &Entity::member;                                                   \
        } else {                                                                      \
            static_assert(                                                            \
                requires { &Entity::member; },                                        \
                "ENTITABLE: the entity has no public member '" #member                \
                "' (bit-fields and references cannot be used)");                      \
            return &::entitable::detail::missing_member::value;                       \
        }                                                                             \
    }(static_cast<entitable_entity const*>(nullptr));
#define ENTITABLE_ACCESSOR_PAIR_accessors(name, getter, setter) \
    ::entitable::accessor_pair<&entitable_entity::getter, &entitable_entity::setter>

// The fields for predicates; this struct contains nothing but the user's names.
#define ENTITABLE_FIELDS_partition_key(...) ENTITABLE_EACH_MEMBER(ENTITABLE_PARTITION_FIELD, __VA_ARGS__)
#define ENTITABLE_FIELDS_row_key(...) ENTITABLE_EACH_MEMBER(ENTITABLE_ROW_FIELD, __VA_ARGS__)
#define ENTITABLE_FIELDS_properties(...) __VA_OPT__(ENTITABLE_EACH_MEMBER(ENTITABLE_PROPERTY_FIELD, __VA_ARGS__))
#define ENTITABLE_PARTITION_FIELD(i, item) \
    ENTITABLE_CAT(ENTITABLE_KEY_FIELD_, ENTITABLE_KEY_KIND(item))(partition, item)
#define ENTITABLE_ROW_FIELD(i, item) ENTITABLE_CAT(ENTITABLE_KEY_FIELD_, ENTITABLE_KEY_KIND(item))(row, item)
#define ENTITABLE_KEY_FIELD_0(part, item)                                                                   \
    [[maybe_unused]] static constexpr ::entitable::key_field<entitable_entity, ::entitable::key_part::part, \
        ENTITABLE_KEY_TYPE(item)> item{};
#define ENTITABLE_KEY_FIELD_1(part, item)                                                                   \
    [[maybe_unused]] static constexpr ::entitable::key_field<entitable_entity, ::entitable::key_part::part, \
        ENTITABLE_KEY_TYPE_##item> ENTITABLE_KEY_MEMBER_##item{};
#define ENTITABLE_KEY_FIELD_2(part, item)
#define ENTITABLE_KEY_FIELD_3(part, item) ENTITABLE_KEY_FIELD_1(part, item)
#define ENTITABLE_PROPERTY_FIELD(i, item) ENTITABLE_CAT(ENTITABLE_PROPERTY_FIELD_, ENTITABLE_PROPERTY_KIND(item))(item)
#define ENTITABLE_PROPERTY_FIELD_0(member)                                                                             \
    [[maybe_unused]] static constexpr ::entitable::property_field<entitable_entity, entitable_members::member> member{ \
        #member};
#define ENTITABLE_PROPERTY_FIELD_1(item)                                                                               \
    [[maybe_unused]] static constexpr ::entitable::property_field<entitable_entity, ENTITABLE_PROPERTY_POINTER_##item> \
        ENTITABLE_PROPERTY_MEMBER_##item{ENTITABLE_PROPERTY_NAME_##item};
#define ENTITABLE_PROPERTY_FIELD_2(item) ENTITABLE_PROPERTY_FIELD_1(item)
#define ENTITABLE_PROPERTY_FIELD_3(item)
#define ENTITABLE_PROPERTY_FIELD_4(item) ENTITABLE_PROPERTY_FIELD_1(item)

// The key components that are members.
#define ENTITABLE_PARTITION_partition_key(...) ENTITABLE_EACH_MEMBER(ENTITABLE_COMPONENT, __VA_ARGS__)
#define ENTITABLE_PARTITION_row_key(...)
#define ENTITABLE_PARTITION_properties(...)
#define ENTITABLE_ROW_partition_key(...)
#define ENTITABLE_ROW_row_key(...) ENTITABLE_EACH_MEMBER(ENTITABLE_COMPONENT, __VA_ARGS__)
#define ENTITABLE_ROW_properties(...)
#define ENTITABLE_COMPONENT(i, item) ENTITABLE_CAT(ENTITABLE_COMPONENT_, ENTITABLE_KEY_KIND(item))(item)
#define ENTITABLE_COMPONENT_0(item) , ENTITABLE_KEY_TYPE(item)
#define ENTITABLE_COMPONENT_1(item) , ENTITABLE_KEY_TYPE_##item
#define ENTITABLE_COMPONENT_2(item)
#define ENTITABLE_COMPONENT_3(item) , ENTITABLE_KEY_TYPE_##item

// All components as plain data, with names.
#define ENTITABLE_PARTITION_LAYOUT_partition_key(...) ENTITABLE_EACH_MEMBER(ENTITABLE_LAYOUT, __VA_ARGS__)
#define ENTITABLE_PARTITION_LAYOUT_row_key(...)
#define ENTITABLE_PARTITION_LAYOUT_properties(...)
#define ENTITABLE_ROW_LAYOUT_partition_key(...)
#define ENTITABLE_ROW_LAYOUT_row_key(...) ENTITABLE_EACH_MEMBER(ENTITABLE_LAYOUT, __VA_ARGS__)
#define ENTITABLE_ROW_LAYOUT_properties(...)
#define ENTITABLE_LAYOUT(i, item) ENTITABLE_CAT(ENTITABLE_LAYOUT_, ENTITABLE_KEY_KIND(item))(item)
#define ENTITABLE_LAYOUT_0(item) ENTITABLE_KEY_TYPE(item)::describe(#item),
#define ENTITABLE_LAYOUT_1(item) ENTITABLE_KEY_TYPE_##item ::describe(ENTITABLE_KEY_NAME_##item),
#define ENTITABLE_LAYOUT_2(item) ::entitable::literal_component(ENTITABLE_KEY_NAME_##item),
#define ENTITABLE_LAYOUT_3(item) \
    ENTITABLE_KEY_TYPE_##item ::describe_bucket(ENTITABLE_KEY_NAME_##item), ENTITABLE_LAYOUT_1(item)

// The properties: member pointers or accessors, and their names.
#define ENTITABLE_POINTERS_partition_key(...)
#define ENTITABLE_POINTERS_row_key(...)
#define ENTITABLE_POINTERS_properties(...) __VA_OPT__(ENTITABLE_EACH_MEMBER(ENTITABLE_POINTER, __VA_ARGS__))
#define ENTITABLE_POINTER(i, item) ENTITABLE_CAT(ENTITABLE_POINTER_, ENTITABLE_PROPERTY_KIND(item))(item)
#define ENTITABLE_POINTER_0(member) , entitable_members::member
#define ENTITABLE_POINTER_1(item) , ENTITABLE_PROPERTY_POINTER_##item
#define ENTITABLE_POINTER_2(item) , ENTITABLE_PROPERTY_POINTER_##item
#define ENTITABLE_POINTER_3(item)
#define ENTITABLE_POINTER_4(item) , ENTITABLE_PROPERTY_POINTER_##item
#define ENTITABLE_NAMES_partition_key(...)
#define ENTITABLE_NAMES_row_key(...)
#define ENTITABLE_NAMES_properties(...) __VA_OPT__(ENTITABLE_EACH_MEMBER(ENTITABLE_NAME, __VA_ARGS__))
#define ENTITABLE_NAME(i, item) ENTITABLE_CAT(ENTITABLE_NAME_, ENTITABLE_PROPERTY_KIND(item))(item)
#define ENTITABLE_NAME_0(member) , #member
#define ENTITABLE_NAME_1(item) , ENTITABLE_PROPERTY_NAME_##item
#define ENTITABLE_NAME_2(item) , ENTITABLE_PROPERTY_NAME_##item
#define ENTITABLE_NAME_3(item)
#define ENTITABLE_NAME_4(item) , ENTITABLE_PROPERTY_NAME_##item

// The members that receive an entity's ETag or Timestamp when it is read.
#define ENTITABLE_SYSTEM_partition_key(...)
#define ENTITABLE_SYSTEM_row_key(...)
#define ENTITABLE_SYSTEM_properties(...) __VA_OPT__(ENTITABLE_EACH_MEMBER(ENTITABLE_SYSTEM, __VA_ARGS__))
#define ENTITABLE_SYSTEM(i, item) ENTITABLE_CAT(ENTITABLE_SYSTEM_, ENTITABLE_PROPERTY_KIND(item))(item)
#define ENTITABLE_SYSTEM_0(member)
#define ENTITABLE_SYSTEM_1(item)
#define ENTITABLE_SYSTEM_2(item)
#define ENTITABLE_SYSTEM_4(item)
#define ENTITABLE_SYSTEM_3(item) , entitable_members::ENTITABLE_SYSTEM_MEMBER_##item
#define ENTITABLE_SYSTEM_MEMBER_etag(member) member
#define ENTITABLE_SYSTEM_MEMBER_timestamp(member) member

// The messages with the user's names; each fires only if its rule is broken.
#define ENTITABLE_CHECKS_partition_key(...)                                                                           \
    template <bool Ok>                                                                                                \
    struct partition_key_is_fixed {                                                                                   \
        static_assert(Ok,                                                                                             \
            "this query would scan the whole table: fix the partition key (" #__VA_ARGS__                             \
            ") or allow the scan with scan_table()");                                                                 \
    };                                                                                                                \
    template <bool Ok>                                                                                                \
    struct partition_is_named {                                                                                       \
        static_assert(Ok, "name the partition before the body of the transaction: transact(" #__VA_ARGS__ ", body)"); \
    };                                                                                                                \
    ENTITABLE_EACH_MEMBER(ENTITABLE_CHECK_KEY, __VA_ARGS__)
#define ENTITABLE_TEXT_partition_key(...) " partition_key(" #__VA_ARGS__ ")"
#define ENTITABLE_TEXT_row_key(...) " row_key(" #__VA_ARGS__ ")"
#define ENTITABLE_TEXT_properties(...)
#define ENTITABLE_CHECKS_row_key(...) ENTITABLE_EACH_MEMBER(ENTITABLE_CHECK_KEY, __VA_ARGS__)
#define ENTITABLE_CHECKS_properties(...) __VA_OPT__(ENTITABLE_EACH_MEMBER(ENTITABLE_CHECK_PROPERTY, __VA_ARGS__))
#define ENTITABLE_CHECK_KEY(i, item) ENTITABLE_CAT(ENTITABLE_CHECK_KEY_, ENTITABLE_KEY_KIND(item))(item)
#define ENTITABLE_CHECK_KEY_0(member)                                                                  \
    static_assert(::entitable::key_value<::entitable::detail::member_type<entitable_members::member>>, \
        "ENTITABLE: the member '" #member                                                              \
        "' has a type that cannot be part of a key: use an integer, a std::string, an enumeration, "   \
        "entitable::date_time or guid, or an optional of a type with fixed width");
#define ENTITABLE_CHECK_KEY_1(item)
#define ENTITABLE_CHECK_KEY_2(item)
#define ENTITABLE_CHECK_KEY_3(item) ENTITABLE_CHECK_KEY_OF(ENTITABLE_KEY_MEMBER_##item)
#define ENTITABLE_CHECK_KEY_OF(...) ENTITABLE_CHECK_KEY_0(__VA_ARGS__)
#define ENTITABLE_CHECK_PROPERTY(i, item) ENTITABLE_CAT(ENTITABLE_CHECK_PROPERTY_, ENTITABLE_PROPERTY_KIND(item))(item)
#define ENTITABLE_CHECK_PROPERTY_0(member) \
    ENTITABLE_CHECK_STORED(::entitable::detail::member_type<entitable_members::member>, member)
#define ENTITABLE_CHECK_PROPERTY_1(item) \
    ENTITABLE_CHECK_STORED(::entitable::detail::member_type<entitable_members::ENTITABLE_PROPERTY_MEMBER_##item>, item)
#define ENTITABLE_CHECK_PROPERTY_2(item)                   \
    ENTITABLE_CHECK_PROPERTY_1(item)                       \
    static_assert(ENTITABLE_ACCESSOR_PAIR_##item::lasting, \
        "ENTITABLE: in " #item " the getter returns a temporary: it must return a reference, or a number");
#define ENTITABLE_CHECK_PROPERTY_3(item) ENTITABLE_CHECK_SYSTEM_##item
#define ENTITABLE_CHECK_PROPERTY_4(item) ENTITABLE_CHECK_IN_CHUNKS(ENTITABLE_PROPERTY_MEMBER_##item)
#define ENTITABLE_CHECK_IN_CHUNKS(...) ENTITABLE_CHECK_IN_CHUNKS_I(__VA_ARGS__)
#define ENTITABLE_CHECK_IN_CHUNKS_I(member)                                                                         \
    static_assert(::entitable::detail::can_be_chunked<::entitable::detail::member_type<entitable_members::member>>, \
        "ENTITABLE: chunked(" #member ") needs a std::string, an entitable::binary, or an optional of these");
#define ENTITABLE_CHECK_STORED(type, shown)                                                                          \
    static_assert(::entitable::property_value<type> || ::entitable::detail::is_reference_type<type>,                 \
        "ENTITABLE: the member '" #shown                                                                             \
        "' has a type that cannot be stored: a property must be a std::string, std::int32_t, std::int64_t, double, " \
        "bool, entitable::date_time, guid, binary, an enumeration, or an optional of these");

#define ENTITABLE_COUNT_PARTITION_partition_key(...) +1
#define ENTITABLE_COUNT_PARTITION_row_key(...)
#define ENTITABLE_COUNT_PARTITION_properties(...)
#define ENTITABLE_COUNT_ROW_partition_key(...)
#define ENTITABLE_COUNT_ROW_row_key(...) +1
#define ENTITABLE_COUNT_ROW_properties(...)
/// \endcond
