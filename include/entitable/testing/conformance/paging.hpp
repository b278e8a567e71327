// SPDX-License-Identifier: MIT
// Copyright (c) 2026 the entitable authors
#pragma once

/// \file
/// Behaviours of pages and continuation tokens.

#include <entitable/testing/conformance/trial.hpp>

ENTITABLE_BEGIN_NAMESPACE
namespace testing::conformance {

/// Creates a table with the rows "000".."<count - 1>" in each of the partitions "a", "b", ...
[[nodiscard]] inline std::string filled_table(trial& t, std::size_t partitions, std::size_t count) {
    std::string table = t.new_table();
    for (std::size_t partition = 0; partition < partitions; ++partition) {
        std::string const key(1, static_cast<char>('a' + partition));
        for (std::size_t index = 0; index < count; ++index) {
            t.put(table, make_row(key, padded(index, 3), {{"N", static_cast<std::int32_t>(index)}}));
        }
    }
    return table;
}

/// Reads pages until one has a row; leaves the next token in `query`.
inline std::vector<std::string> page_with_rows(trial& t, query_entities& query) {
    std::vector<std::string> keys;
    for (int pages = 0; pages < 1000 && keys.empty(); ++pages) {
        auto page = t.send(query);
        if (!t.yes(page, "a page")) { break; }
        for (std::size_t index = 0; index < page->rows.size(); ++index) {
            keys.push_back(std::string{page->rows[index].partition_key} + "/" + std::string{page->rows[index].row_key});
        }
        query.continuation = std::move(page->continuation);
        if (!query.continuation) { break; }
    }
    return keys;
}

inline void pages_join_to_the_whole(trial& t) {
    std::string const table = filled_table(t, 3, 7);
    for (std::uint32_t const size : {1U, 3U, 7U, 20U, 21U, t.largest_page()}) {
        std::vector<std::string> expected;
        for (std::string const partition : {"a", "b", "c"}) {
            std::vector<std::string> of_partition;
            for (std::size_t index = 0; index < 7; ++index) {
                of_partition.push_back(partition + "/" + padded(index, 3));
            }
            query_entities query;
            query.table = table;
            query.page_size = size;
            query.range.partition = key_interval::only(partition);
            t.same(t.keys(query), of_partition, "one partition in pages of " + std::to_string(size));
            expected.insert(expected.end(), of_partition.begin(), of_partition.end());
        }
        query_entities query;
        query.table = table;
        query.page_size = size;
        t.same(t.keys(query), expected, "a table in pages of " + std::to_string(size));
    }
}

inline void page_sizes_are_bounded(trial& t) {
    std::string const table = filled_table(t, 1, 1);
    query_entities query;
    query.table = table;
    for (std::uint32_t const size : {0U, t.largest_page() + 1, 4'294'967'295U}) {
        query.page_size = size;
        t.no(t.send(query), error_code::invalid_input, "pages of " + std::to_string(size));
    }
}

inline void filter_holds_on_every_page(trial& t) {
    std::string const table = filled_table(t, 2, 12);
    query_entities query;
    query.table = table;
    query.page_size = 2;
    query.filter = only(filter_operator::greater_equal, "N", value_view{8});
    query.select = {"None"};
    auto const found = t.rows(query);
    std::vector<std::string> keys;
    for (row const& each : found) {
        keys.push_back(text::joined({each.partition_key(), "/", each.row_key()}));
        t.expect(!each.view().find("N"), keys.back() + " has a property that was not selected");
    }
    t.same(
        keys, {"a/008", "a/009", "a/010", "a/011", "b/008", "b/009", "b/010", "b/011"}, "a filter over several pages");
    query.filter = only(filter_operator::equal, "N", value_view{100});
    t.same(t.keys(query), std::vector<std::string>{}, "a filter without matches");
}

inline void tokens_belong_to_their_query(trial& t) {
    std::string const table = filled_table(t, 2, 5);
    std::string const other = filled_table(t, 2, 5);
    query_entities query;
    query.table = table;
    query.page_size = 2;
    page_with_rows(t, query);
    if (!t.expect(query.continuation.has_value(), "the query has more pages")) { return; }
    std::string const token = *query.continuation;
    auto const before = t.now(table);
    auto const refused = [&](query_entities const& asked, std::string const& text) {
        t.no(t.send(asked), error_code::continuation_invalid, error_code::invalid_input, text);
    };
    for (char const character : token) { t.expect(character > ' ' && character < 127, "a token is printable ASCII"); }
    query_entities wrong = query;
    wrong.table = other;
    refused(wrong, "the token of a different table");
    wrong = query;
    wrong.filter = only(filter_operator::equal, "N", value_view{1});
    refused(wrong, "the token of a query with a different filter");
    wrong = query;
    wrong.range.partition = key_interval::only("b");
    refused(wrong, "the token of a query over a different range");
    wrong = query;
    for (std::size_t size = 0; size < token.size(); size += 1 + token.size() / 16) {
        wrong.continuation = token.substr(0, size);
        refused(wrong, "a token truncated to " + std::to_string(size) + " bytes");
    }
    for (std::size_t at = 0; at < token.size(); at += 1 + token.size() / 16) {
        wrong.continuation = token;
        (*wrong.continuation)[at] = token[at] == '0' ? '1' : '0';
        refused(wrong, "a token changed at " + std::to_string(at));
    }
    for (std::string const& forged : {token + "\r\nX-Header: 1", "\r\n" + token, token + '\0', token + token,
             std::string{"1!"}, std::string{"!!!!"}, times(1 << 20, "A"), token + times(1 << 20, "0")}) {
        wrong.continuation = forged;
        refused(wrong, "the token " + text::printable(text::shortened(forged)));
    }
    t.unchanged(before, table, "after refused tokens");
    t.expect(t.keys(query).size() >= 1, "the token is still valid");
}

/// Returns the `keys` that come after the last row of a page.
[[nodiscard]] inline std::vector<std::string> after(std::string const& last, std::vector<std::string> keys) {
    std::erase_if(keys, [&](std::string const& key) { return key <= last; });
    return keys;
}

inline void tokens_name_a_place(trial& t) {
    if (!t.limits().ordered) { return; }
    std::string const table = filled_table(t, 2, 8);
    query_entities all;
    all.table = table;
    auto const remove = [&](std::string const& key) {
        t.yes(t.write(table, mutation::remove(make_row(key.substr(0, 1), key.substr(2)), any_etag)), "remove " + key);
    };
    query_entities query = all;
    query.page_size = 3;
    auto const before = t.keys(all);
    auto const first = page_with_rows(t, query);
    if (!t.expect(!first.empty() && query.continuation && before.size() == 16, "the query has more pages")) { return; }
    // Changes before the token's position have no effect; changes after that position are visible.
    for (std::string const& key : first) { remove(key); }
    t.put(table, make_row("a", "!early"));
    t.put(table, make_row("b", "zzz"));
    remove("b/004");
    auto expected = after(first.back(), before);
    std::erase(expected, "b/004");
    expected.push_back("b/zzz");
    t.same(t.keys(query), expected, "the rows after " + first.back());

    // The very next row may be removed; the row after it is then returned.
    query = all;
    query.page_size = 2;
    auto const again = page_with_rows(t, query);
    expected = after(again.back(), t.keys(all));
    if (!t.expect(!again.empty() && query.continuation && expected.size() > 3, "the query has more pages")) { return; }
    remove(expected.front());
    expected.erase(expected.begin());
    t.same(t.keys(query), expected, "after the next row was removed");

    // All following rows may also be removed.
    for (std::string const& key : expected) { remove(key); }
    t.same(t.keys(query), std::vector<std::string>{}, "after all rows beyond the token were removed");
}

inline void tokens_outlive_their_table(trial& t) {
    std::string const table = filled_table(t, 2, 5);
    query_entities query;
    query.table = table;
    query.page_size = 2;
    page_with_rows(t, query);
    t.expect(query.continuation.has_value(), "the query has more pages");
    t.yes(t.send(delete_table{table}), "delete the table");
    t.no(t.send(query), t.no_table(), "a token of a deleted table");
}

inline constexpr behaviour behaviours_of_paging[] = {
    {"pages add up to the whole result", pages_join_to_the_whole,
        "each row once, at any page size; a token if and only if there are more rows (transport, rule 4)"},
    {"page sizes are bounded", page_sizes_are_bounded,
        "page sizes are 1 to 1,000; any other size returns InvalidInput (Query Entities)"},
    {"a filter holds on every page", filter_holds_on_every_page,
        "filter and projection apply to every page; pages may be empty (Query timeout and pagination)"},
    {"a token belongs to its query", tokens_belong_to_their_query,
        "printable ASCII; a token from a different query, or a damaged or forged one, is refused (transport, rule 5)"},
    {"a token marks a position", tokens_name_a_place,
        "it neither counts rows nor depends on a row, because rows may change between pages (Query timeout and "
        "pagination)"},
    {"a token outlives its table", tokens_outlive_their_table,
        "TableNotFound, not an empty page, if the table was deleted (Query timeout and pagination)"},
};

} // namespace testing::conformance
ENTITABLE_END_NAMESPACE
