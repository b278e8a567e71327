// SPDX-License-Identifier: MIT
// Copyright (c) 2026 the entitable authors
#pragma once

/// \file
/// Detects malformed clauses of ENTITABLE and gives one message for each: a comma is missing, a key has no members, or a form has wrong
/// arguments. The names of clauses and forms, and their kinds, are in `entity_macro.hpp`: each kind of item needs a line ENTITABLE_BAD_ITEM_
/// and a line ENTITABLE_TELL_ITEM_ here.

#include <entitable/client/mapping/detail/each.hpp>
#include <entitable/client/mapping/detail/macro_changes.hpp>

// Marked as a system header: GCC then omits its macro expansion notes from a user's messages.
#if defined(__GNUC__) && !defined(__clang__)
#pragma GCC system_header
#endif

/// \cond
// Expands to something for a malformed clause, and to nothing for a well-formed clause.
#define ENTITABLE_BAD(d, clause) ENTITABLE_CAT(ENTITABLE_BAD_, ENTITABLE_IS_CLAUSE(clause))(clause)
#define ENTITABLE_BAD_0(clause)
#define ENTITABLE_BAD_1(clause) ENTITABLE_BAD_IN_##clause
#define ENTITABLE_BAD_2(clause) bad
#define ENTITABLE_BAD_3(clause)
#define ENTITABLE_BAD_IN_partition_key(...) \
    ENTITABLE_CAT(ENTITABLE_BAD_KEYS_, ENTITABLE_IS_EMPTY(__VA_ARGS__))(__VA_ARGS__)
#define ENTITABLE_BAD_IN_row_key(...) ENTITABLE_CAT(ENTITABLE_BAD_KEYS_, ENTITABLE_IS_EMPTY(__VA_ARGS__))(__VA_ARGS__)
#define ENTITABLE_BAD_IN_properties(...) ENTITABLE_EACH_MEMBER(ENTITABLE_BAD_PROPERTY, __VA_ARGS__)
#define ENTITABLE_BAD_KEYS_0(...) ENTITABLE_EACH_MEMBER(ENTITABLE_BAD_KEY, __VA_ARGS__)
#define ENTITABLE_BAD_KEYS_1(...) bad
#define ENTITABLE_BAD_KEY(i, item) ENTITABLE_CAT(ENTITABLE_BAD_ITEM_, ENTITABLE_KEY_KIND(item))(item)
#define ENTITABLE_BAD_PROPERTY(i, item) ENTITABLE_CAT(ENTITABLE_BAD_ITEM_, ENTITABLE_PROPERTY_KIND(item))(item)
// A form of a name that is not listed in `entity_macro.hpp` ends with a parenthesis, which cannot be pasted: the message has
// the text below, which is then a macro. Pasted with the name of a member, the text is not a macro.
#define ENTITABLE_BAD_ITEM_0(item) \
    ENTITABLE_SECOND(              \
        item##_is_not_a_form_write_a_member_or_width_descending_escaped_salted_literal_property_chunked, , ~)
#define _is_not_a_form_write_a_member_or_width_descending_escaped_salted_literal_property_chunked , bad
#define ENTITABLE_BAD_ITEM_1(item)
#define ENTITABLE_BAD_ITEM_2(item)
#define ENTITABLE_BAD_ITEM_3(item)
#define ENTITABLE_BAD_ITEM_4(item)
#define ENTITABLE_BAD_ITEM_5(item)
#define ENTITABLE_BAD_ITEM_7(item) bad
#define ENTITABLE_BAD_ITEM_8(item) bad
#define ENTITABLE_BAD_ITEM_9(item) bad

// The message for a malformed clause.
#define ENTITABLE_TELL(d, clause) ENTITABLE_CAT(ENTITABLE_TELL_, ENTITABLE_IS_CLAUSE(clause))(clause)
#define ENTITABLE_TELL_0(clause) ENTITABLE_KNOWN_0(clause)
#define ENTITABLE_TELL_1(clause) ENTITABLE_TELL_IN_##clause
#define ENTITABLE_TELL_2(clause) static_assert(false, "ENTITABLE: a comma is missing in '" #clause "'");
#define ENTITABLE_TELL_3(clause)
#define ENTITABLE_TELL_IN_partition_key(...) \
    ENTITABLE_CAT(ENTITABLE_TELL_KEYS_, ENTITABLE_IS_EMPTY(__VA_ARGS__))(partition_key, __VA_ARGS__)
#define ENTITABLE_TELL_IN_row_key(...) \
    ENTITABLE_CAT(ENTITABLE_TELL_KEYS_, ENTITABLE_IS_EMPTY(__VA_ARGS__))(row_key, __VA_ARGS__)
#define ENTITABLE_TELL_IN_properties(...) ENTITABLE_EACH_MEMBER(ENTITABLE_TELL_PROPERTY, __VA_ARGS__)
#define ENTITABLE_TELL_KEYS_0(key, ...) ENTITABLE_EACH_MEMBER(ENTITABLE_TELL_KEY, __VA_ARGS__)
#define ENTITABLE_TELL_KEYS_1(key, ...) \
    static_assert(false,                \
        "ENTITABLE: " #key "() has no members; for a key that is the same for all entities write literal(\"text\")");
#define ENTITABLE_TELL_KEY(i, item)                                                                     \
    ENTITABLE_CAT(ENTITABLE_TELL_ITEM_, ENTITABLE_KEY_KIND(item))(#item,                                \
        "' is not a form of a key component; the forms are width(member, digits), descending(member), " \
        "escaped(member), salted(member, buckets) and literal(\"text\")")
#define ENTITABLE_TELL_PROPERTY(i, item)                                                                             \
    ENTITABLE_CAT(ENTITABLE_TELL_ITEM_, ENTITABLE_PROPERTY_KIND(item))(#item,                                        \
        "' is not a form of a property; the forms are property(member, \"Name\"), accessors(name, getter, setter), " \
        "chunked(member), formerly(member, \"Old\"), retyped(member, function), etag(member) and timestamp(member)")
#define ENTITABLE_TELL_ITEM_0(shown, forms) \
    static_assert(::entitable::detail::is_plain_name(shown), "ENTITABLE: '" shown forms);
#define ENTITABLE_TELL_ITEM_1(shown, forms)
#define ENTITABLE_TELL_ITEM_2(shown, forms)
#define ENTITABLE_TELL_ITEM_3(shown, forms)
#define ENTITABLE_TELL_ITEM_4(shown, forms)
#define ENTITABLE_TELL_ITEM_5(shown, forms)
#define ENTITABLE_TELL_ITEM_7(shown, forms)                                                                          \
    static_assert(false,                                                                                             \
        "ENTITABLE: '" shown                                                                                         \
        "' is in a key, which stores values without names and types: rename the member without formerly(...); copy " \
        "the table if the text of the key changes");
#define ENTITABLE_TELL_ITEM_8(shown, forms) static_assert(false, "ENTITABLE: '" shown forms);
#define ENTITABLE_TELL_ITEM_9(shown, forms)                                                                        \
    static_assert(false,                                                                                           \
        "ENTITABLE: '" shown                                                                                       \
        "' has the wrong arguments: write literal(\"text\"), width(member, digits), salted(member, buckets), "     \
        "property(member, \"Name\"), accessors(name, getter, setter), formerly(member, \"Old\"), retyped(member, " \
        "function)");
// Forms that users try, for a message in one line.
#define ENTITABLE_a_text_is_written_literal_formerly(...) ~, 7
#define ENTITABLE_a_text_is_written_literal_retyped(...) ~, 7
#define ENTITABLE_a_text_is_written_literal_descend(...) ~, 8
#define ENTITABLE_a_text_is_written_literal_desc(...) ~, 8
#define ENTITABLE_a_text_is_written_literal_reverse(...) ~, 8
#define ENTITABLE_a_text_is_written_literal_reversed(...) ~, 8
#define ENTITABLE_a_text_is_written_literal_escape(...) ~, 8
#define ENTITABLE_a_text_is_written_literal_salt(...) ~, 8
#define ENTITABLE_a_text_is_written_literal_padded(...) ~, 8
#define ENTITABLE_a_text_is_written_literal_fixed(...) ~, 8
#define ENTITABLE_a_text_is_written_literal_text(...) ~, 8
#define ENTITABLE_PROPERTY_KIND_name(...) ~, 8
#define ENTITABLE_PROPERTY_KIND_named(...) ~, 8
#define ENTITABLE_PROPERTY_KIND_rename(...) ~, 8
#define ENTITABLE_PROPERTY_KIND_column(...) ~, 8
#define ENTITABLE_PROPERTY_KIND_chunk(...) ~, 8
#define ENTITABLE_PROPERTY_KIND_version(...) ~, 8
// The members in the keys, and the message for a member that is also listed as a property.
#define ENTITABLE_KEY_NAMES_partition_key(...) ENTITABLE_EACH_MEMBER(ENTITABLE_KEY_NAMED, __VA_ARGS__)
#define ENTITABLE_KEY_NAMES_row_key(...) ENTITABLE_EACH_MEMBER(ENTITABLE_KEY_NAMED, __VA_ARGS__)
#define ENTITABLE_KEY_NAMES_properties(...)
#define ENTITABLE_KEY_NAMED(i, item) ENTITABLE_CAT(ENTITABLE_KEY_NAMED_, ENTITABLE_KEY_KIND(item))(item)
#define ENTITABLE_KEY_NAMED_0(member) , #member
#define ENTITABLE_KEY_NAMED_1(item) , ENTITABLE_KEY_NAME_##item
#define ENTITABLE_KEY_NAMED_2(item)
#define ENTITABLE_KEY_NAMED_3(item) , ENTITABLE_KEY_NAME_##item
#define ENTITABLE_ONCE_partition_key(...)
#define ENTITABLE_ONCE_row_key(...)
#define ENTITABLE_ONCE_properties(...) __VA_OPT__(ENTITABLE_EACH_MEMBER(ENTITABLE_ONCE, __VA_ARGS__))
#define ENTITABLE_ONCE(i, item) ENTITABLE_CAT(ENTITABLE_ONCE_, ENTITABLE_PROPERTY_KIND(item))(item)
#define ENTITABLE_ONCE_0(member)                                                   \
    static_assert(!::entitable::detail::is_in_names(entitable_key_names, #member), \
        "ENTITABLE: the member '" #member "' is in the key already: remove it from properties(...)");
#define ENTITABLE_ONCE_1(item) ENTITABLE_ONCE_WITHIN(ENTITABLE_PROPERTY_MEMBER_##item)
#define ENTITABLE_ONCE_2(item)
#define ENTITABLE_ONCE_3(item)
#define ENTITABLE_ONCE_4(item) ENTITABLE_ONCE_1(item)
#define ENTITABLE_ONCE_5(item) ENTITABLE_ONCE_1(item)
#define ENTITABLE_ONCE_WITHIN(...) ENTITABLE_ONCE_0(__VA_ARGS__)
#define ENTITABLE_CHECK_SYSTEM_etag(member)                                                                         \
    static_assert(::std::is_same_v<::entitable::detail::member_type<entitable_members::member>, ::entitable::etag>, \
        "ENTITABLE: etag(" #member ") needs a member of type entitable::etag");
#define ENTITABLE_CHECK_SYSTEM_timestamp(member)                                                               \
    static_assert(                                                                                             \
        ::std::is_same_v<::entitable::detail::member_type<entitable_members::member>, ::entitable::date_time>, \
        "ENTITABLE: timestamp(" #member ") needs a member of type entitable::date_time");
// Expands to 1, or to the given kind, for a form with that many arguments; otherwise to 9.
#define ENTITABLE_WITH_TWO(kind, ...) \
    ENTITABLE_SECOND(ENTITABLE_CHOOSE(ENTITABLE_TWO_, ENTITABLE_COUNT(__VA_ARGS__))(kind), 9, ~)
#define ENTITABLE_TWO_2(kind) ~, kind
#define ENTITABLE_WITH_THREE(kind, ...) \
    ENTITABLE_SECOND(ENTITABLE_CHOOSE(ENTITABLE_THREE_, ENTITABLE_COUNT(__VA_ARGS__))(kind), 9, ~)
#define ENTITABLE_THREE_3(kind) ~, kind
/// \endcond
