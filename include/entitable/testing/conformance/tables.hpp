// SPDX-License-Identifier: MIT
// Copyright (c) 2026 the entitable authors
#pragma once

/// \file
/// Behaviours of tables: their names, their case, their list.

#include <entitable/testing/conformance/trial.hpp>

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
    // A service may keep the name for a while.
    auto again = t.send(create_table{name});
    if (!again) {
        t.no(again, error_code::table_being_deleted, "create after deletion");
        return;
    }
    t.no(t.get(name, "p", "r"), error_code::resource_not_found, "the new table of an old name is empty");
}

inline void missing_table_is_said(trial& t) {
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
        // Somebody else's table of that name may be there, where a service is shared.
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
        t.no(t.get(other, "p", "r"), t.no_table(), "another case is another table");
        return;
    }
    t.no(t.send(create_table{other}), error_code::table_already_exists, "create in another case");
    t.yes(t.get(other, "p", "r"), "read in another case");
    t.yes(t.write(other, mutation::insert(make_row("p", "s"))), "write in another case");
    t.yes(t.get(name, "p", "s"), "read in the first case");
    query_entities query;
    query.table = other;
    t.same(t.keys(query), {"p/r", "p/s"}, "query in another case");
    t.yes(t.send(delete_table{other}), "delete in another case");
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

inline void tables_are_listed(trial& t) {
    std::vector<std::string> expected;
    for (std::size_t index = 0; index < 13; ++index) {
        expected.push_back(t.prefix() + "L" + padded(index, 2));
        t.yes(t.send(create_table{expected.back()}), "create " + expected.back());
    }
    for (std::uint32_t const size : {1U, 3U, 13U, 1000U}) {
        std::vector<std::string> found;
        list_tables request{std::nullopt, size};
        for (std::size_t pages = 0;; ++pages) {
            auto page = t.send(request);
            if (!t.yes(page, "a page of tables") || !t.check(pages < 20'000, "the list of tables does not end")) {
                return;
            }
            t.check(page->tables.size() <= size, "a page has more tables than were asked for");
            for (std::string const& name : page->tables) {
                if (name.starts_with(t.prefix() + "L")) {
                    found.push_back(name);
                }
            }
            if (!page->continuation) {
                break;
            }
            request.continuation = std::move(page->continuation);
        }
        t.same(found, expected, "tables as they were named, in pages of " + std::to_string(size));
    }
    for (std::uint32_t const size : {0U, 1001U, 4'000'000'000U}) {
        t.no(t.send(list_tables{std::nullopt, size}), error_code::invalid_input, "pages of " + std::to_string(size));
    }
    for (std::string const& token : {std::string{"x"}, std::string{}, std::string{"a\r\nb"}, times(1 << 20, "A")}) {
        t.no(t.send(list_tables{token, 10}), error_code::continuation_invalid, error_code::invalid_input,
            "the token " + text::printable(text::shortened(token)));
    }
}

inline constexpr behaviour behaviours_of_tables[] = {
    {"a table comes and goes", table_comes_and_goes},
    {"a missing table is said to be missing", missing_table_is_said},
    {"the names of tables follow the rule", table_names_follow_the_rule},
    {"names of devices are names of tables", device_names_are_tables},
    {"trap 70: the case of a table's name", case_of_table_names},
    {"trap 70: deletion hits no longer name", deletion_hits_no_prefix},
    {"tables are listed by pages", tables_are_listed},
};

} // namespace testing::conformance
ENTITABLE_END_NAMESPACE
