// SPDX-License-Identifier: MIT
// Copyright (c) 2026 the entitable authors
#pragma once

/// \file
/// Behaviours of tables: their names, case and listing.

#include <entitable/testing/conformance/trial.hpp>

#include <algorithm>

ENTITABLE_BEGIN_NAMESPACE
namespace testing::conformance {

inline void table_comes_and_goes(trial& t) {
    std::string const name = t.prefix() + "once";
    t.yes(t.send(create_table{name}), "create");
    t.no(t.send(create_table{name}), error_code::table_already_exists, "create a second time");
    t.put(name, make_row("p", "r"));
    t.yes(t.send(delete_table{name}), "delete");
    t.no(t.send(delete_table{name}), error_code::resource_not_found, "delete a second time");
    t.no(t.get(name, "p", "r"), t.no_table(), "read from a deleted table");
    // A service may reserve the name for a while.
    auto again = t.send(create_table{name});
    if (!again) {
        t.no(again, error_code::table_being_deleted, "create after deletion");
        return;
    }
    t.no(t.get(name, "p", "r"), error_code::resource_not_found, "a re-created table is empty");
}

inline void missing_table_is_reported(trial& t) {
    std::string const name = t.prefix() + "never";
    t.no(t.get(name, "p", "r"), t.no_table(), "get");
    query_entities query;
    query.table = name;
    t.no(t.send(query), t.no_table(), "query");
    query.range.partition = key_interval::only("p");
    t.no(t.send(query), t.no_table(), "query of one partition");
    for (auto const kind : {mutation_kind::insert, mutation_kind::replace, mutation_kind::merge,
             mutation_kind::insert_or_replace, mutation_kind::insert_or_merge, mutation_kind::remove}) {
        mutation const change{kind, make_row("p", "r"), any_etag};
        t.no(t.write(name, change), t.no_table(), std::string{to_string(kind)});
        t.no(t.send(transact{name, {change}}), t.no_table(), "a batch with " + std::string{to_string(kind)});
    }
    t.no(t.send(delete_table{name}), error_code::resource_not_found, "delete");
}

inline void table_names_follow_the_rule(trial& t) {
    std::string const longest = t.prefix() + times(63 - t.prefix().size(), "x");
    t.yes(t.send(create_table{longest}), "63 characters");
    t.yes(t.send(delete_table{longest}), "63 characters");
    for (std::string const& bad :
        {std::string{}, std::string{"ab"}, longest + "x", std::string{"1abc"}, std::string{"a-b"}, std::string{"a_b"},
            std::string{"a b"}, std::string{"a.b"}, std::string{"tables"}, std::string{"Tables"}, std::string{"../x"},
            std::string{"a/b"}, std::string{"a\\b"}, std::string("a\0bc", 4),
            std::string{"t\xC3\xA4"
                        "bc"},
            std::string{"\xC4\xB0"
                        "abc"},
            std::string{"\xEF\xBC\xA1"
                        "bc"},
            std::string{"abc\r\n"}}) {
        std::string const text = "the name \"" + text::printable(bad) + "\"";
        t.no(t.send(create_table{bad}), error_code::invalid_resource_name, error_code::out_of_range_input,
            text + ", create");
        t.no(t.send(delete_table{bad}), error_code::invalid_resource_name, error_code::out_of_range_input,
            text + ", delete");
        t.no(t.get(bad, "p", "r"), error_code::invalid_resource_name, error_code::out_of_range_input, text + ", get");
        t.no(t.write(bad, mutation::insert(make_row("p", "r"))), error_code::invalid_resource_name,
            error_code::out_of_range_input, text + ", insert");
    }
}

inline void device_names_are_tables(trial& t) {
    for (std::string const name : {"con", "nul", "aux", "com1"}) {
        // On a shared service, another user's table of that name may exist.
        auto made = t.send(create_table{name});
        if (!made) {
            t.no(made, error_code::table_already_exists, "create " + name);
            continue;
        }
        t.put(name, make_row("p", "r"));
        t.yes(t.get(name, "p", "r"), "read from " + name);
        t.yes(t.send(delete_table{name}), "delete " + name);
    }
}

inline void case_of_table_names(trial& t) {
    std::string const name = t.prefix() + "CaSe";
    std::string const other = t.prefix() + "cAsE";
    t.yes(t.send(create_table{name}), "create");
    t.put(name, make_row("p", "r", {{"A", 1}}));
    if (!t.limits().table_names_without_case) {
        t.no(t.get(other, "p", "r"), t.no_table(), "a name with different letter case is a different table");
        return;
    }
    t.no(t.send(create_table{other}), error_code::table_already_exists, "create with different letter case");
    t.yes(t.get(other, "p", "r"), "read with different letter case");
    t.yes(t.write(other, mutation::insert(make_row("p", "s"))), "write with different letter case");
    t.yes(t.get(name, "p", "s"), "read with the original spelling");
    query_entities query;
    query.table = other;
    t.same(t.keys(query), {"p/r", "p/s"}, "query with different letter case");
    t.yes(t.send(delete_table{other}), "delete with different letter case");
    t.no(t.get(name, "p", "r"), t.no_table(), "deleted under both names");
}

inline void deletion_hits_no_prefix(trial& t) {
    std::string const name = t.prefix() + "pre";
    t.yes(t.send(create_table{name}), "create the short name");
    t.yes(t.send(create_table{name + "fix"}), "create the long name");
    t.put(name + "fix", make_row("p", "r"));
    t.yes(t.send(delete_table{name}), "delete the short name");
    t.yes(t.get(name + "fix", "p", "r"), "the long name is still there");
    t.yes(t.send(delete_table{name + "fix"}), "delete the long name");
}

/// Reads the list of tables to its end, or until a page contains a table of this trial; appends their names to `found`. Returns whether all
/// pages succeeded.
inline bool rest_of_tables(trial& t, list_tables& request, std::vector<std::string>& found, bool until_found = false) {
    for (std::size_t idle = 0;;) {
        auto page = t.send(request);
        if (!t.yes(page, "a page of tables")) { return false; }
        t.expect(page->tables.size() <= request.page_size, "a page contains more tables than its size");
        std::size_t const before = found.size();
        for (std::string const& name : page->tables) {
            if (name.starts_with(t.prefix() + "L")) { found.push_back(name); }
        }
        request.continuation = std::move(page->continuation);
        if (!request.continuation || (until_found && !found.empty())) { return true; }
        idle = found.size() == before ? idle + 1 : 0;
        // A service may be shared and have many tables of other users.
        if (!t.expect(idle < 20'000 && found.size() < 1'000, "the list of tables did not end")) { return false; }
    }
}

inline void tables_are_listed(trial& t) {
    std::vector<std::string> expected;
    for (std::size_t index = 0; index < 13; ++index) {
        expected.push_back(t.prefix() + "L" + padded(index, 2));
        t.yes(t.send(create_table{expected.back()}), "create " + expected.back());
    }
    for (std::uint32_t const size : {1U, 3U, 13U, t.largest_page()}) {
        std::vector<std::string> found;
        list_tables request{std::nullopt, size};
        if (!rest_of_tables(t, request, found)) { return; }
        t.same(found, expected, "tables with their original names, in pages of " + std::to_string(size));
    }
    for (std::uint32_t const size : {0U, t.largest_page() + 1, 4'000'000'000U}) {
        t.no(t.send(list_tables{std::nullopt, size}), error_code::invalid_input, "pages of " + std::to_string(size));
    }
    for (std::string const& token : {std::string{"x"}, std::string{}, std::string{"a\r\nb"}, times(1 << 20, "A")}) {
        t.no(t.send(list_tables{token, 10}), error_code::continuation_invalid, error_code::invalid_input,
            "the token " + text::printable(text::shortened(token)));
    }
}

inline void list_goes_on_without_a_table(trial& t) {
    std::vector<std::string> left;
    for (std::size_t index = 0; index < 6; ++index) {
        left.push_back(t.prefix() + "L" + padded(index, 2));
        t.yes(t.send(create_table{left.back()}), "create " + left.back());
    }
    std::vector<std::string> found;
    list_tables request{std::nullopt, 2};
    if (!rest_of_tables(t, request, found, true) || !request.continuation || !t.limits().ordered) { return; }
    // Deletes the last listed table and the next table.
    auto const next = std::find(left.begin(), left.end(), found.back()) + 1;
    t.yes(t.send(delete_table{found.back()}), "delete " + found.back());
    if (next != left.end()) {
        t.yes(t.send(delete_table{*next}), "delete " + *next);
        left.erase(left.begin(), next + 1);
    } else {
        left.clear();
    }
    found.clear();
    if (rest_of_tables(t, request, found)) { t.same(found, left, "the tables after the listed and deleted ones"); }
}

inline constexpr behaviour behaviours_of_tables[] = {
    {"a table is created and deleted", table_comes_and_goes,
        "TableAlreadyExists and ResourceNotFound; a re-created table is empty (Create Table, Delete Table)"},
    {"a missing table is reported", missing_table_is_reported,
        "every request to a missing table returns TableNotFound; ResourceNotFound in Cosmos DB (error codes)"},
    {"table names follow the rule", table_names_follow_the_rule,
        "3 to 63 letters and digits, starting with a letter, not \"tables\" (Understanding the Table service data "
        "model)"},
    {"device names are valid table names", device_names_are_tables,
        "table names may equal device names of an operating system (Understanding the Table service data model)"},
    {"the letter case of table names", case_of_table_names,
        "names are compared without regard to letter case and stored as given, if the profile says so (the same page)"},
    {"deleting a table does not affect tables with longer names", deletion_hits_no_prefix,
        "a table is deleted by its whole name (Delete Table)"},
    {"tables are listed in pages", tables_are_listed,
        "each table once, with its original name, in pages of 1 to 1,000 (Query Tables; transport, rules 3 and 4)"},
    {"a list of tables continues after tables were deleted", list_goes_on_without_a_table,
        "a token is a position in the order of names, not a table (Query Tables)"},
};

} // namespace testing::conformance
ENTITABLE_END_NAMESPACE
