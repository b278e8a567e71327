// SPDX-License-Identifier: MIT
// Copyright (c) 2026 the entitable authors
#pragma once

/// \file
/// Behaviours of filters and projections.

#include <entitable/testing/conformance/trial.hpp>

#include <algorithm>
#include <limits>

ENTITABLE_BEGIN_NAMESPACE
namespace testing::conformance {

/// Returns the row keys of partition "p" that satisfy a filter, concatenated.
[[nodiscard]] inline std::string matches(trial& t, std::string const& table, filter condition) {
    query_entities query;
    query.table = table;
    query.range.partition = key_interval::only("p");
    query.filter = std::move(condition);
    auto keys = t.keys(query);
    std::sort(keys.begin(), keys.end());
    std::string found;
    for (std::string const& key : keys) { found += key.substr(2); }
    return found;
}

/// Checks the six comparisons, in the order of `filter_operator`.
inline void compares(trial& t, std::string const& table, std::string const& name, value_view operand,
    std::initializer_list<std::string_view> expected) {
    std::size_t operation = 0;
    for (std::string_view const keys : expected) {
        auto const comparison = static_cast<filter_operator>(operation++);
        t.same(matches(t, table, only(comparison, name, operand)), keys,
            name + " " + std::string{to_string(comparison)} + " " + value{operand}.to_string());
    }
}

inline void comparisons_of_each_type(trial& t) {
    std::string const table = t.new_table();
    auto const bytes = [](std::string_view text) { return value_view{edm_type::binary, text}; };
    auto const id = [](std::string_view text) { return value_view{edm_type::guid, text}; };
    t.put(table,
        make_row("p", "1",
            {{"S", ""}, {"I", -1}, {"L", INT64_MIN}, {"D", -1.5}, {"B", false}, {"T", date_time{0}},
                {"G", id("0000000000000000")}, {"X", bytes("")}}));
    t.put(table,
        make_row("p", "2",
            {{"S", "B"}, {"I", 12}, {"L", std::int64_t{12}}, {"D", 0.0}, {"B", true}, {"T", date_time{5}},
                {"G", id("0000000000000001")}, {"X", bytes("a")}}));
    t.put(table,
        make_row("p", "3",
            {{"S", "a"}, {"I", 120}, {"L", std::int64_t{120}}, {"D", 1e300}, {"B", true}, {"T", date_time{6}},
                {"G",
                    id("\xFF"
                       "00000000000000x")},
                {"X", bytes("\xFF")}}));
    compares(t, table, "S", std::string_view{"B"}, {"2", "13", "1", "12", "3", "23"});
    compares(t, table, "S", std::string_view{""}, {"1", "23", "", "1", "23", "123"});
    compares(t, table, "I", 12, {"2", "13", "1", "12", "3", "23"});
    compares(t, table, "L", std::int64_t{12}, {"2", "13", "1", "12", "3", "23"});
    compares(t, table, "D", -0.0, {"2", "13", "1", "12", "3", "23"});
    compares(t, table, "B", true, {"23", "1", "1", "123", "", "23"});
    compares(t, table, "T", date_time{5}, {"2", "13", "1", "12", "3", "23"});
    compares(t, table, "S", std::string_view{"b"}, {"", "123", "123", "123", "", ""});
    compares(t, table, "S", std::string_view{"B "}, {"", "123", "12", "12", "3", "3"});
    compares(t, table, "L", std::int64_t{9}, {"", "123", "1", "1", "23", "23"});
    t.put(table, make_row("p", "4", {{"N", std::int64_t{9'007'199'254'740'993}}}));
    compares(t, table, "N", std::int64_t{9'007'199'254'740'992}, {"", "4", "", "", "4", "4"});
    t.same(matches(t, table, only(filter_operator::equal, "G", id("0000000000000001"))), "2", "a Guid");
    t.same(matches(t, table, only(filter_operator::not_equal, "G", id("0000000000000001"))), "13", "a different Guid");
    t.same(matches(t, table, only(filter_operator::equal, "X", bytes("a"))), "2", "a Binary");
    t.same(matches(t, table, only(filter_operator::not_equal, "X", bytes("a"))), "13", "a different Binary");
}

inline void text_is_compared_by_code_unit(trial& t) {
    std::string const table = t.new_table();
    t.put(table, make_row("p", "1", {{"S", "\xF0\x9F\x98\x80"}})); // U+1F600: D83D DE00
    t.put(table, make_row("p", "2", {{"S", "\xEF\xBD\x9E"}}));     // U+FF5E
    compares(t, table, "S", std::string_view{"\xEF\xBD\x9E"}, {"2", "1", "1", "12", "", "2"});
}

inline void absence_has_one_table(trial& t) {
    std::string const table = t.new_table();
    double const nan = std::numeric_limits<double>::quiet_NaN();
    t.put(table, make_row("p", "1", {{"A", 1}}));
    t.put(table, make_row("p", "2", {{"A", "1"}}));
    t.put(table, make_row("p", "3", {{"A", std::int64_t{1}}}));
    t.put(table, make_row("p", "4", {{"A", nan}}));
    t.put(table, make_row("p", "5", {{"A", 1.0}}));
    t.put(table, make_row("p", "6"));
    t.put(table, make_row("p", "7", {{"a", 1}}));
    row_builder lacking{"p", "8"};
    lacking.add("A", edm_type::int32, std::nullopt);
    t.put(table, lacking.build());
    compares(t, table, "A", 1, {"1", "", "", "1", "", "1"});
    compares(t, table, "A", 2, {"", "1", "1", "1", "", ""});
    compares(t, table, "A", std::string_view{"1"}, {"2", "", "", "2", "", "2"});
    compares(t, table, "A", std::int64_t{1}, {"3", "", "", "3", "", "3"});
    compares(t, table, "A", 1.0, {"5", "4", "", "5", "", "5"});
    compares(t, table, "A", nan, {"", "45", "", "", "", ""});
    filter negated = only(filter_operator::equal, "A", value_view{1});
    negated.nodes.push_back({filter_operator::negation, {}, {}});
    t.same(matches(t, table, negated), "2345678", "not (A == 1)");
}

inline void connectives(trial& t) {
    std::string const table = t.new_table();
    for (std::int32_t number = 1; number <= 8; ++number) {
        t.put(table, make_row("p", std::to_string(number), {{"N", number}, {"Even", number % 2 == 0}}));
    }
    auto const n = [](filter_operator operation, std::int32_t operand) {
        return filter_node{operation, "N", value_view{operand}};
    };
    filter_node const even{filter_operator::equal, "Even", value_view{true}};
    filter_node const both{filter_operator::all_of, {}, {}};
    filter_node const one{filter_operator::any_of, {}, {}};
    filter_node const opposite{filter_operator::negation, {}, {}};
    t.same(matches(t, table, {{n(filter_operator::greater, 2), n(filter_operator::less, 6), both}}), "345", "and");
    t.same(matches(t, table, {{n(filter_operator::less, 2), n(filter_operator::greater, 6), one}}), "178", "or");
    t.same(matches(t, table, {{even, opposite}}), "1357", "not");
    t.same(matches(t, table, {{n(filter_operator::less, 3), n(filter_operator::greater, 5), even, both, one}}), "1268",
        "a or (b and c)");
    t.same(matches(t, table, {{n(filter_operator::less, 3), n(filter_operator::greater, 5), one, even, both}}), "268",
        "(a or b) and c");
    t.same(matches(t, table, {{n(filter_operator::less, 3), n(filter_operator::greater, 5), one, opposite}}), "345",
        "not (a or b)");
    t.same(matches(t, table, {}), "12345678", "no filter");
}

inline void system_properties_are_filterable(trial& t) {
    std::string const table = t.new_table();
    t.put(table, make_row("p", "1"));
    t.put(table, make_row("p", "2"));
    t.put(table, make_row("p", "3"));
    auto const second = t.get(table, "p", "2");
    if (!t.yes(second, "get")) { return; }
    // Uses the Timestamps returned: a service may give two writes the same Timestamp, or the later write an earlier Timestamp.
    date_time const time = second->entity.view().timestamp();
    std::string same;
    std::string later;
    for (std::string const key : {"1", "2", "3"}) {
        auto const read = t.get(table, "p", key);
        if (!t.yes(read, "get")) { return; }
        date_time const written = read->entity.view().timestamp();
        same += written == time ? key : "";
        later += written > time ? key : "";
    }
    t.same(matches(t, table, only(filter_operator::equal, "Timestamp", time)), same, "Timestamp ==");
    t.same(matches(t, table, only(filter_operator::greater, "Timestamp", time)), later, "Timestamp >");
    t.same(matches(t, table, only(filter_operator::greater_equal, "RowKey", std::string_view{"2"})), "23", "RowKey >=");
    t.same(matches(t, table, only(filter_operator::not_equal, "PartitionKey", std::string_view{"p"})), "",
        "PartitionKey !=");
}

inline void filters_that_are_none(trial& t) {
    std::string const table = t.new_table();
    t.put(table, make_row("p", "1", {{"A", 1}}));
    filter_node const leaf{filter_operator::equal, "A", value_view{1}};
    filter_node const both{filter_operator::all_of, {}, {}};
    filter_node const opposite{filter_operator::negation, {}, {}};
    query_entities query;
    query.table = table;
    for (auto const& nodes : {std::vector{leaf, leaf}, std::vector{both}, std::vector{leaf, both},
             std::vector{opposite}, std::vector{leaf, leaf, both, both}}) {
        query.filter.nodes = nodes;
        t.no(t.send(query), error_code::invalid_input, "a filter of " + std::to_string(nodes.size()) + " nodes");
    }
    for (std::string const name : {"", "1A", "A-B", "a b", "A' or 'a"}) {
        query.filter = only(filter_operator::equal, name, value_view{1});
        t.no(t.send(query), error_code::property_name_invalid, "the name \"" + name + "\"");
    }
    query.filter.nodes.clear();
    query.range.partition = key_interval::only("p");
    std::size_t const comparisons = t.limits().max_comparisons == 0 ? 10'000 : t.limits().max_comparisons;
    for (std::size_t index = 1; index < comparisons; ++index) { // the partition also costs a comparison
        query.filter.nodes.push_back(leaf);
        if (index > 1) { query.filter.nodes.push_back(both); }
    }
    t.same(t.keys(query), {"p/1"}, "the maximum number of comparisons");
    if (t.limits().max_comparisons != 0) {
        query.filter.nodes.push_back(leaf);
        query.filter.nodes.push_back(both);
        t.no(t.send(query), error_code::invalid_input, "one comparison too many");
    }
}

inline void projections(trial& t) {
    std::string const table = t.new_table();
    t.put(table, make_row("p", "r", {{"A", 1}, {"B", "b"}, {"C", true}}));
    auto const whole = t.get(table, "p", "r");
    if (!t.yes(whole, "get")) { return; }
    std::vector<std::string> many;
    for (int index = 0; index < 300; ++index) { many.push_back(text::joined({"N", std::to_string(index)})); }
    struct choice {
        projection names;
        row expected;
    };
    choice const choices[] = {
        {{}, make_row("p", "r", {{"A", 1}, {"B", "b"}, {"C", true}})},
        {{"B"}, make_row("p", "r", {{"B", "b"}})},
        {{"C", "A", "C"}, make_row("p", "r", {{"A", 1}, {"C", true}})},
        {{"a", "Missing"}, make_row("p", "r")},
        {{"PartitionKey", "RowKey", "Timestamp", "A"}, make_row("p", "r", {{"A", 1}})},
        {many, make_row("p", "r")},
    };
    for (choice const& each : choices) {
        std::string const text = "select of " + std::to_string(each.names.size()) + " names";
        query_entities query;
        query.table = table;
        query.range.partition = key_interval::only("p");
        query.range.row = key_interval::only("r");
        query.select = each.names;
        query.filter = only(filter_operator::equal, "B", std::string_view{"b"}); // the property need not be selected
        auto const read = t.send(get_entity{table, "p", "r", each.names});
        auto const rows = t.rows(query);
        if (!t.yes(read, text) || !t.expect(rows.size() == 1, text + ": one row")) { continue; }
        t.same(read->etag.to_string(), whole->etag.to_string(), "the ETag, " + text);
        for (row_view const found : {read->entity.view(), rows[0].view()}) {
            t.same(found, each.expected, text);
            t.expect(found.timestamp() == whole->entity.view().timestamp(), text + ": the Timestamp");
            t.same(found.etag().to_string(), whole->etag.to_string(), "the ETag of the row, " + text);
        }
    }
}

inline constexpr behaviour behaviours_of_queries[] = {
    {"comparisons of each type", comparisons_of_each_type,
        "numbers by value, text by UTF-16 unit, false before true, times by tick (Querying tables and entities)"},
    {"text is compared by UTF-16 code unit", text_is_compared_by_code_unit,
        "an emoji sorts before U+FF5E, although it would sort after it by bytes (Querying tables and entities)"},
    {"absence, other types and NaN in filters", absence_has_one_table,
        "comparisons with an absent value or a different type are false; with NaN only != is true (filter.hpp)"},
    {"and, or, not", connectives,
        "two-valued logic: not turns false into true, even for absent properties (filter.hpp)"},
    {"system properties in filters", system_properties_are_filterable,
        "PartitionKey, RowKey and Timestamp are compared like other properties, Timestamp to the tick (Querying tables "
        "and entities)"},
    {"malformed filters are refused", filters_that_are_none,
        "InvalidInput; at most as many comparisons as the profile allows (Query Entities)"},
    {"projections keep keys, Timestamp and ETag", projections,
        "the named properties, plus the system properties; the filter may name others (Query Entities)"},
};

} // namespace testing::conformance
ENTITABLE_END_NAMESPACE
