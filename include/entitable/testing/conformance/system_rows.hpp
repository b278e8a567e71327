// SPDX-License-Identifier: MIT
// Copyright (c) 2026 the entitable authors
#pragma once

/// \file
/// Behaviours of system rows: readers of entities return the same results with any system rows.

#include <entitable/client/companions/several_types.hpp>
#include <entitable/core/row/system_row_kinds.hpp>
#include <entitable/testing/conformance/trial.hpp>

ENTITABLE_BEGIN_NAMESPACE
namespace testing::conformance {

/// An entity type whose row keys sort before and after system rows.
struct named_note {
    std::string book;
    std::string title;
    std::int32_t stars{};
};

ENTITABLE(named_note, partition_key(book), row_key(title), properties(stars))

/// An entity type whose row keys sort before system rows.
struct numbered_note {
    std::string book;
    std::int32_t number{};
    std::int32_t stars{};
};

ENTITABLE(numbered_note, partition_key(book), row_key(number), properties(stars))

/// An entity type whose row keys begin with a literal, so that it can share a table.
struct listed_note {
    std::string book;
    std::int32_t number{};
    std::int32_t stars{};
};

ENTITABLE(listed_note, partition_key(book), row_key(literal("note:"), number), properties(stars))

struct listed_page {
    std::string book;
    std::int32_t number{};
};
ENTITABLE(listed_page, partition_key(book), row_key(literal("page:"), number))

/// Checks that each way of reading a query returns three entities with 1, 2 and 3 stars.
template <class Query, class Field>
void gives_three(trial& t, Query const& query, Field stars, std::string const& text) {
    auto const number = [&](result<std::uint64_t> const& found, std::uint64_t expected, std::string const& how) {
        if (t.yes(found, text + ", " + how)) {
            t.same(std::to_string(*found), std::to_string(expected), text + ", " + how);
        }
    };
    number(query.count(), 3, "count");
    number(query.take(2).count(), 2, "count of two");
    for (std::uint32_t const size : {1U, 2U, 1000U}) {
        std::string const paged = ", " + std::to_string(size) + " on a page";
        number(query.page_size(size).count(), 3, "count" + paged);
        auto const all = query.page_size(size).to();
        if (t.yes(all, text + paged)) {
            t.expect(all->size() == 3, text + paged + ": " + std::to_string(all->size()) + " entities");
        }
        auto const two = query.page_size(size).take(2).to();
        if (t.yes(two, text + ", two" + paged)) {
            t.expect(two->size() == 2, text + ", two" + paged + ": " + std::to_string(two->size()) + " entities");
        }
        std::size_t found = 0;
        std::optional<std::string> token;
        do {
            auto pages = (token ? query.page_size(size).resume(*token) : query.page_size(size)).pages();
            auto one = pages.next();
            if (!t.yes(one, text + ", a page" + paged)) { break; }
            found += *one ? (*one)->size() : 0;
            token = *one ? (*one)->token : std::nullopt;
        } while (token);
        t.expect(found == 3, text + ", pages" + paged + ": " + std::to_string(found) + " entities");
    }
    auto const selected = query.select(stars).to();
    t.expect(t.yes(selected, text + ", select") && selected->size() == 3, text + ", select");
    auto const first = query.first();
    t.expect(t.yes(first, text + ", first") && first->has_value(), text + ", first");
    auto const least = (query.min)(stars);
    t.expect(t.yes(least, text + ", min") && *least == 1, text + ", min");
    auto const most = (query.max)(stars);
    t.expect(t.yes(most, text + ", max") && *most == 3, text + ", max");
    auto const sum = query.sum(stars);
    t.expect(t.yes(sum, text + ", sum") && *sum == 6, text + ", sum");
}

/// Adds `copies` rows of one kind to a partition.
inline void add_system_rows(
    trial& t, std::string const& table, std::string_view partition_key, system_row::kind const& kind, int copies) {
    for (int index = 0; index < copies; ++index) {
        t.put(
            table, make_row(partition_key, std::string{kind.prefix} + std::to_string(index), {{"stars", "no number"}}));
    }
}

inline void readers_of_named_rows(trial& t) {
    using n = fields<named_note>;
    for (system_row::kind const& kind : system_row::kinds) {
        std::string const text = "with system rows " + std::string{kind.prefix};
        std::string const name = t.new_table();
        table<named_note> const notes{t.store(), name};
        for (named_note const& each : {named_note{"b", "first", 1}, {"b", "~", 2}, {"b", "~z", 3}}) {
            t.yes(notes.insert(each), text + ", insert");
        }
        add_system_rows(t, name, "a", kind, 1);
        add_system_rows(t, name, "b", kind, 5);
        gives_three(t, notes.where(n::book == "b"), n::stars, text);
        gives_three(t, notes.scan_table(), n::stars, text + ", the whole table");
        gives_three(t, notes.where(n::book == "b" && n::stars <= 3), n::stars, text + ", filtered");
        auto const reserved = notes.where(n::book == "b" && n::title == std::string{kind.prefix} + "0").count();
        t.expect(t.yes(reserved, text + ", by its key") && *reserved == 0, text + ", by its key");
    }
}

inline void readers_of_numbered_rows(trial& t) {
    using n = fields<numbered_note>;
    for (system_row::kind const& kind : system_row::kinds) {
        std::string const text = "with system rows " + std::string{kind.prefix};
        std::string const name = t.new_table();
        table<numbered_note> const notes{t.store(), name};
        for (std::int32_t const number : {-1, 0, 1}) {
            t.yes(notes.insert({"b", number, number + 2}), text + ", insert");
        }
        add_system_rows(t, name, "a", kind, 1);
        add_system_rows(t, name, "b", kind, 5);
        gives_three(t, notes.where(n::book == "b"), n::stars, text);
        gives_three(t, notes.where(n::book == "b" && n::number >= -1), n::stars, text + ", a range");
        gives_three(t, notes.scan_table(), n::stars, text + ", the whole table");
    }
}

/// Readers of one of several types skip the rows of the other types.
inline void readers_of_several_types(trial& t) {
    using n = fields<numbered_note>;
    using l = fields<listed_note>;
    std::string const name = t.new_table();
    table<numbered_note, listed_note, listed_page> const notes{t.store(), name};
    for (std::int32_t const number : {-1, 0, 1}) {
        t.yes(notes.insert(numbered_note{"b", number, number + 2}), "insert a number");
        t.yes(notes.insert(listed_note{"b", number, number + 2}), "insert a literal");
        t.yes(notes.insert(listed_page{"b", number}), "insert another literal");
    }
    t.put(name, make_row("b", "note;", {{"stars", "no number"}}));
    t.put(name, make_row("b", "00000000x0", {{"stars", "no number"}}));
    gives_three(t, notes.where(n::book == "b"), n::stars, "numbers");
    gives_three(t, notes.where(n::book == "b" && n::stars <= 3), n::stars, "numbers, filtered");
    gives_three(t, notes.scan_table<numbered_note>(), n::stars, "numbers, the whole table");
    gives_three(t, notes.where(l::book == "b"), l::stars, "literals");
    gives_three(t, notes.scan_table<listed_note>(), l::stars, "literals, the whole table");
}

inline void readers_of_mixed_rows(trial& t) {
    for (system_row::kind const& kind : system_row::kinds) {
        std::string const text = "with system rows " + std::string{kind.prefix};
        std::string const name = t.new_table();
        table<listed_note, listed_page> const notes{t.store(), name};
        row_table const rows{t.store(), name};
        auto batch = notes.batch();
        for (std::int32_t const number : {1, 2, 3}) { batch.insert(listed_note{"b", number, number}); }
        t.yes(batch.submit(), text + ", insert");
        add_system_rows(t, name, "b", kind, 5);
        std::size_t typed = 0;
        t.yes(notes.for_each_in_partition("b", [&](auto const& each) { typed += each.index() == 0 ? 1U : 100U; }),
            text + ", several types");
        t.expect(typed == 3, text + ", several types: " + std::to_string(typed));
        std::size_t left_out = 0;
        std::size_t shown = 0;
        t.yes(rows.for_each({}, {}, [&](entity const&) { ++left_out; }), text + ", without a schema");
        t.yes(rows.for_each({}, {}, [&](entity const&) { ++shown; }, system_rows::shown), text + ", shown");
        t.expect(left_out == 3, text + ", without a schema: " + std::to_string(left_out));
        t.expect(shown == 8, text + ", shown: " + std::to_string(shown));
    }
    readers_of_several_types(t);
}

inline constexpr behaviour behaviours_of_system_rows[] = {
    {"readers of rows with text keys skip system rows", readers_of_named_rows,
        "row keys with the reserved prefix are not entities, even between greater keys (core/row/system_rows.hpp)"},
    {"readers of rows with numeric keys skip system rows", readers_of_numbered_rows,
        "rows with a reserved row key are not entities, and no range of numbers contains one "
        "(core/row/system_rows.hpp)"},
    {"readers of rows of several types skip system rows", readers_of_mixed_rows,
        "row keys with the reserved prefix match no type, and a row of a different type is skipped; without a schema "
        "all "
        "are "
        "returned on demand (core/row/system_rows.hpp, client/mapping/key_pattern.hpp)"},
};

} // namespace testing::conformance
ENTITABLE_END_NAMESPACE
