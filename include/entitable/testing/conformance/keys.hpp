// SPDX-License-Identifier: MIT
// Copyright (c) 2026 the entitable authors
#pragma once

/// \file
/// Behaviours of keys: their order, their ranges, unusual and forbidden keys.

#include <entitable/testing/conformance/trial.hpp>

#include <algorithm>

ENTITABLE_BEGIN_NAMESPACE
namespace testing::conformance {

/// Returns keys in the order of their UTF-16 code units.
[[nodiscard]] inline std::vector<std::string> ordered_keys(profile const& limits) {
    std::vector<std::string> keys = {"", " ", "!", "'", "''", "0", "1", "10", "2", "A", "Z", "a", "a ", "aa", "b", "~",
        "\xC2\xA0",         // U+00A0
        "\xC3\xA4",         // U+00E4
        "\xD9\x80",         // U+0640
        "\xED\x9F\xBF",     // U+D7FF
        "\xF0\x90\x80\x80", // U+10000: D800 DC00
        "\xF0\x9F\x98\x80", // U+1F600: D83D DE00
        "\xF4\x8F\xBF\xBF", // U+10FFFF: DBFF DFFF
        "\xEE\x80\x80",     // U+E000
        "\xEF\xBD\x9E",     // U+FF5E
        "\xEF\xBF\xBD"};    // U+FFFD
    if (!limits.empty_keys) { keys.erase(keys.begin()); }
    return keys;
}

inline void keys_come_in_order(trial& t) {
    std::string const table = t.new_table();
    auto const keys = ordered_keys(t.limits());
    std::vector<std::string> of_partition;
    std::vector<std::string> of_table;
    for (std::size_t index = keys.size(); index > 0; --index) { t.put(table, make_row("p", keys[index - 1])); }
    for (std::string const& key : keys) { of_partition.push_back("p/" + key); }
    query_entities query;
    query.table = table;
    query.range.partition = key_interval::only("p");
    for (std::uint32_t const size : {1U, 5U, t.largest_page()}) {
        query.page_size = size;
        t.same(t.keys(query), of_partition, "row keys in pages of " + std::to_string(size));
    }
    std::string const partitions = t.new_table();
    for (std::size_t index = 0; index < keys.size(); ++index) {
        std::string const& key = keys[(index * 7) % keys.size()];
        t.put(partitions, make_row(key, "r"));
    }
    for (std::string const& key : keys) { of_table.push_back(key + "/r"); }
    query = {};
    query.table = partitions;
    for (std::uint32_t const size : {1U, 5U, t.largest_page()}) {
        query.page_size = size;
        t.same(t.keys(query), of_table, "partition keys in pages of " + std::to_string(size));
    }
}

inline void ranges_of_keys(trial& t) {
    std::string const table = t.new_table();
    auto const keys = ordered_keys(t.limits());
    for (std::string const& key : keys) {
        t.put(table, make_row("p", key));
        t.put(table, make_row(key, "r"));
    }
    using end = key_bound::kind;
    for (end const lower : {end::open, end::inclusive, end::exclusive}) {
        for (end const upper : {end::open, end::inclusive, end::exclusive}) {
            // The first three pairs use all kinds of bounds, the other pairs only equal bounds.
            std::size_t tried = 0;
            for (auto const& [from, to] : {std::pair{std::size_t{3}, std::size_t{12}},
                     {std::size_t{0}, keys.size() - 1}, {std::size_t{7}, std::size_t{7}},
                     {std::size_t{12}, std::size_t{3}}, {std::size_t{20}, std::size_t{24}}}) {
                if (++tried > 3 && lower != upper) { continue; }
                key_interval const interval{
                    {lower, lower == end::open ? "" : keys[from]}, {upper, upper == end::open ? "" : keys[to]}};
                std::vector<std::string> rows;
                std::vector<std::string> partitions;
                for (std::size_t index = 0; index < keys.size(); ++index) {
                    bool const above = lower == end::open || index > from || (lower == end::inclusive && index == from);
                    bool const below = upper == end::open || index < to || (upper == end::inclusive && index == to);
                    if (above && below) {
                        rows.push_back("p/" + keys[index]);
                        partitions.push_back(keys[index] + "/r");
                    }
                }
                query_entities query;
                query.table = table;
                query.page_size = lower == upper ? 4 : t.largest_page(); // some ranges are read in small pages
                query.range = {key_interval::only("p"), interval};
                t.same(t.keys(query), rows, "rows: " + query.range.to_string());
                query.range = {interval, key_interval::only("r")};
                t.same(t.keys(query), partitions, "partitions: " + query.range.to_string());
            }
        }
    }
}

/// Returns pairs of keys that stores and wire formats tend to confuse.
[[nodiscard]] inline std::vector<std::pair<std::string, std::string>> confusable_keys(trial const& t) {
    std::vector<std::pair<std::string, std::string>> pairs{{"a", "b"}, {"A", "b"}, {"a", "B"}, {"ab", ""}, {"", "ab"},
        {"0", "b"}, {"00", "b"}, {"a", "1"}, {"a", "1.0"}, {"a", "01"}, {"a", "%62"}, {"%61", "b"}, {"\xC3\xA9", "b"},
        {"e\xCC\x81", "b"}, {"a", "\xC3\xA9"}, {"a", "e\xCC\x81"}};
    for (std::string const separator : {" ", "_", "|", ":", "-", ",", ";", "~", "'", "%", "+", "."}) {
        pairs.emplace_back("a" + separator, "b");
        pairs.emplace_back("a", separator + "b");
    }
    std::size_t const most = t.limits().max_row_key_size != 0 ? t.limits().max_row_key_size : t.limits().max_key_units;
    std::string const beginning = times(std::min<std::size_t>(most, 512) - 1, "k");
    for (std::string const end : {"1", "2"}) {
        pairs.emplace_back(beginning + end, "b");
        pairs.emplace_back("a", beginning + end);
    }
    if (!t.limits().empty_keys) {
        std::erase_if(pairs, [](auto const& keys) { return keys.first.empty() || keys.second.empty(); });
    }
    return pairs;
}

inline void keys_that_differ(trial& t) {
    std::string const table = t.new_table();
    auto const pairs = confusable_keys(t);
    auto const entity = [&](std::size_t index) {
        return make_row(pairs[index].first, pairs[index].second, {{"N", static_cast<std::int32_t>(index)}});
    };
    std::vector<std::string> partitions;
    for (std::size_t index = 0; index < pairs.size(); ++index) {
        auto const& [partition, row_key] = pairs[index];
        t.yes(t.write(table, mutation::insert(entity(index))), "insert " + shown_keys(partition, row_key));
        if (std::find(partitions.begin(), partitions.end(), partition) == partitions.end()) {
            partitions.push_back(partition);
        }
    }
    for (std::size_t index = 0; index < pairs.size(); ++index) {
        t.holds(table, entity(index), "read " + shown_keys(pairs[index].first, pairs[index].second));
    }
    for (std::string const& partition : partitions) {
        std::vector<std::string> expected;
        for (auto const& [of, row_key] : pairs) {
            if (of == partition) { expected.push_back(text::joined({of, "/", row_key})); }
        }
        query_entities query;
        query.table = table;
        query.range.partition = key_interval::only(partition);
        auto found = t.keys(query);
        std::sort(found.begin(), found.end()); // another behaviour checks the order
        std::sort(expected.begin(), expected.end());
        t.same(trial::joined(found), trial::joined(expected),
            "the partition " + text::printable(text::shortened(partition)));
    }
}

inline void awkward_keys(trial& t) {
    std::string const table = t.new_table();
    std::string const keys[] = {"", " ", "O'Hara", "''", "a''b", "a',RowKey='b", "')", "%", "%25", "%2F", "%%", "a%20b",
        "+", "a+b", "~", "@", ",", ";", "=", "&", "$", "a b", "\"", "<>", "{}", "[]", "|", "^", "`", ".", "..", "null",
        "datetime'2020'", "or 1 eq 1", "J\xC3\xBCrgen", "\xE6\x97\xA5\xE6\x9C\xAC", "\xF0\x9F\x98\x80", "\xD9\x80",
        "x HTTP", times(512, "k"), times(256, "\xF0\x9F\x98\x80")};
    for (std::string const& key : keys) {
        if (key.size() > t.limits().max_row_key_size && t.limits().max_row_key_size != 0) { continue; }
        if (key.empty() && !t.limits().empty_keys) {
            for (row const& refused : {make_row("", "r"), make_row("p", "")}) {
                t.no(t.write(table, mutation::insert(refused)), error_code::properties_need_value, "an empty key");
            }
            continue;
        }
        std::string const text = "the key \"" + text::printable(text::shortened(key)) + "\", ";
        row const entity = make_row(key, key, {{"Key", key}});
        auto inserted = t.write(table, mutation::insert(entity));
        t.yes(inserted, text + "insert");
        t.no(t.write(table, mutation::insert(entity)), error_code::entity_already_exists, text + "insert again");
        t.holds(table, entity, text + "get");
        auto merged = t.write(table,
            mutation::merge(make_row(key, key, {{"More", 1}}), inserted ? etag_condition{inserted->etag} : any_etag));
        t.yes(merged, text + "merge");
        t.yes(t.write(table, mutation::replace(entity, merged ? etag_condition{merged->etag} : any_etag)),
            text + "replace");
        t.yes(t.send(transact{table, {mutation::insert_or_merge(entity), mutation::insert(make_row(key, "second"))}}),
            text + "transaction");
        query_entities query;
        query.table = table;
        query.range.partition = key_interval::only(key);
        query.range.row = key_interval::only(key);
        query.filter = only(filter_operator::equal, "Key", std::string_view{key});
        t.same(t.keys(query), {key + "/" + key}, text + "query");
        t.yes(t.write(table, mutation::remove(make_row(key, key), any_etag)), text + "remove");
        t.no(t.get(table, key, key), error_code::resource_not_found, text + "get after removal");
    }
    query_entities query;
    query.table = table;
    t.expect(t.keys(query).size() >= 30, "each partition still has its second row");
}

inline void forbidden_keys(trial& t) {
    std::string const table = t.new_table();
    t.put(table, make_row("p", "r"));
    auto const before = t.now(table);
    auto const refused = [&](std::string const& key, error_code code, std::string const& text) {
        for (row const& entity : {make_row(key, "r"), make_row("p", key)}) {
            auto const pk = entity.partition_key();
            auto const rk = entity.row_key();
            t.no(t.get(table, pk, rk), code, error_code::invalid_input, text + ", get");
            for (auto const kind : {mutation_kind::insert, mutation_kind::replace, mutation_kind::merge,
                     mutation_kind::insert_or_replace, mutation_kind::insert_or_merge, mutation_kind::remove}) {
                auto const outcome = t.write(table, mutation{kind, entity, any_etag});
                t.no(outcome, code, error_code::invalid_input, text + ", " + std::string{to_string(kind)});
            }
            auto const batch = t.send(transact{table, {mutation::insert_or_merge(entity)}});
            t.no(batch, code, error_code::invalid_input, text + ", transaction");
        }
    };
    for (char const character : {'/', '\\', '#', '?', '\t', '\n', '\r', '\0', '\x01', '\x1F', '\x7F'}) {
        refused(std::string{"a"} + character + "b", error_code::out_of_range_input,
            "the character \"" + text::printable(std::string_view{&character, 1}) + "\"");
    }
    refused("a\xC2\x80"
            "b",
        error_code::out_of_range_input, "U+0080");
    refused("a\xC2\x9F"
            "b",
        error_code::out_of_range_input, "U+009F");
    refused("x HTTP/1.1\r\nDELETE ", error_code::out_of_range_input, "an HTTP request in a key");
    for (std::string const bad : {"\x80", "a\xFF", "\xC0\xAF", "\xED\xA0\x80", "\xE2\x82", "\xF5\x80\x80\x80"}) {
        refused(bad, error_code::invalid_input, "not UTF-8: " + text::printable(bad));
    }
    std::size_t const units = t.limits().max_key_units;
    refused(times(units + 1, "k"), error_code::key_value_too_large, "one UTF-16 unit too many");
    refused(times(units / 2, "\xF0\x9F\x98\x80") + "k", error_code::key_value_too_large,
        "one UTF-16 unit too many, with surrogate pairs");
    if (t.limits().max_row_key_size != 0) {
        t.yes(t.write(table, mutation::insert(make_row("size", times(t.limits().max_row_key_size, "k")))), "longest");
        t.no(t.write(table, mutation::insert(make_row("size", times(t.limits().max_row_key_size + 1, "k")))),
            error_code::key_value_too_large, "one byte too many");
    } else {
        t.unchanged(before, table, "after forbidden keys");
    }
}

inline constexpr behaviour behaviours_of_keys[] = {
    {"keys come in the order of their UTF-16 code units", keys_come_in_order,
        "by partition key, then by row key, if the profile has ordered results (Querying tables and "
        "entities)"},
    {"ranges of keys", ranges_of_keys,
        "each bound is absent, inclusive or exclusive; an interval may be empty (key_range.hpp)"},
    {"keys that differ are different entities", keys_that_differ,
        "keys are compared unit by unit: letter case, blanks, digits and accents count (data model)"},
    {"unusual keys", awkward_keys,
        "every valid key works in every request: quotes, percent signs, blanks, empty keys (data model)"},
    {"forbidden keys", forbidden_keys,
        "/ \\ # ?, control characters, broken UTF-8 and too many units are refused (Understanding the Table service "
        "data model)"},
};

} // namespace testing::conformance
ENTITABLE_END_NAMESPACE
