// SPDX-License-Identifier: MIT
// Copyright (c) 2026 the entitable authors
#pragma once

/// \file
/// Detects malformed clauses of ENTITABLE and gives one message for each: a comma is missing, a key has no members, or a form has wrong
/// arguments. The names of clauses and forms, and their kinds, are in `macro.hpp`: each kind of an item needs a line ENTITABLE_BAD_ITEM_
/// and a line ENTITABLE_TELL_ITEM_ here.

#include <entitable/client/mapping/detail/each.hpp>

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
#define ENTITABLE_BAD_KEY(i, item) ENTITABLE_CAT(ENTITABLE_BAD_ITEM_, ENTITABLE_KEY_KIND(item))
#define ENTITABLE_BAD_PROPERTY(i, item) ENTITABLE_CAT(ENTITABLE_BAD_ITEM_, ENTITABLE_PROPERTY_KIND(item))
#define ENTITABLE_BAD_ITEM_0
#define ENTITABLE_BAD_ITEM_1
#define ENTITABLE_BAD_ITEM_2
#define ENTITABLE_BAD_ITEM_3
#define ENTITABLE_BAD_ITEM_4
#define ENTITABLE_BAD_ITEM_9 bad

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
#define ENTITABLE_TELL_KEY(i, item) ENTITABLE_CAT(ENTITABLE_TELL_ITEM_, ENTITABLE_KEY_KIND(item))(#item)
#define ENTITABLE_TELL_PROPERTY(i, item) ENTITABLE_CAT(ENTITABLE_TELL_ITEM_, ENTITABLE_PROPERTY_KIND(item))(#item)
#define ENTITABLE_TELL_ITEM_0(shown)
#define ENTITABLE_TELL_ITEM_1(shown)
#define ENTITABLE_TELL_ITEM_2(shown)
#define ENTITABLE_TELL_ITEM_3(shown)
#define ENTITABLE_TELL_ITEM_4(shown)
#define ENTITABLE_TELL_ITEM_9(shown)                                                                           \
    static_assert(false,                                                                                       \
        "ENTITABLE: '" shown                                                                                   \
        "' has the wrong arguments: write literal(\"text\"), width(member, digits), salted(member, buckets), " \
        "property(member, \"Name\"), accessors(name, getter, setter)");
// Expands to 1, or to the given kind, for a form with that many arguments; otherwise to 9.
#define ENTITABLE_WITH_TWO(kind, ...) \
    ENTITABLE_SECOND(ENTITABLE_CHOOSE(ENTITABLE_TWO_, ENTITABLE_COUNT(__VA_ARGS__))(kind), 9, ~)
#define ENTITABLE_TWO_2(kind) ~, kind
#define ENTITABLE_WITH_THREE(kind, ...) \
    ENTITABLE_SECOND(ENTITABLE_CHOOSE(ENTITABLE_THREE_, ENTITABLE_COUNT(__VA_ARGS__))(kind), 9, ~)
#define ENTITABLE_THREE_3(kind) ~, kind
/// \endcond
