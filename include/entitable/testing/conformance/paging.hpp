// SPDX-License-Identifier: MIT
// Copyright (c) 2026 the entitable authors
#pragma once

/// \file
/// Behaviours of pages and continuation tokens.

#include <entitable/testing/conformance/trial.hpp>

ENTITABLE_BEGIN_NAMESPACE
namespace testing::conformance {

/// A table with the rows "000".."<count - 1>" in each of the partitions "a", "b", ...
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

/// Asks on until there is a page with a row; leaves in `query` the token behind it.
inline std::vector<std::string> page_with_rows(trial& t, query_entities& query) {
    std::vector<std::string> keys;
    for (int pages = 0; pages < 1000 && keys.empty(); ++pages) {
        auto page = t.send(query);
        if (!t.yes(page, "a page")) {
            break;
        }
        for (std::size_t index = 0; index < page->rows.size(); ++index) {
            keys.push_back(std::string{page->rows[index].partition_key} + "/" + std::string{page->rows[index].row_key});
        }
        query.continuation = std::move(page->continuation);
        if (!query.continuation) {
            break;
        }
    }
    return keys;
}

inline void pages_join_to_the_whole(trial& t) {
    std::string const table = filled_table(t, 3, 7);
    for (std::uint32_t const size : {1U, 2U, 3U, 7U, 20U, 21U, 22U, 1000U}) {
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
    for (std::uint32_t const size : {0U, 1001U, 4'294'967'295U}) {
        query.page_size = size;
        t.no(t.send(query), error_code::invalid_input, "trap 15: pages of " + std::to_string(size));
    }
}

inline void filter_holds_on_every_page(trial& t) {
    std::string const table = filled_table(t, 2, 12);
    query_entities query;
    query.table = table;
    query.page_size = 2;
    query.filter = only(filter_operator::greater_equal, "N", value_view{8});
    query.select = {"None"};
    t.same(t.keys(query), {"a/008", "a/009", "a/010", "a/011", "b/008", "b/009", "b/010", "b/011"},
        "trap 13: a filter over several pages");
    query.filter = only(filter_operator::equal, "N", value_view{100});
    t.same(t.keys(query), std::vector<std::string>{}, "trap 12: a filter that nothing satisfies");
}

inline void tokens_belong_to_their_query(trial& t) {
    std::string const table = filled_table(t, 2, 5);
    std::string const other = filled_table(t, 2, 5);
    query_entities query;
    query.table = table;
    query.page_size = 2;
    page_with_rows(t, query);
    if (!t.check(query.continuation.has_value(), "there is more")) {
        return;
    }
    std::string const token = *query.continuation;
    auto const before = t.now(table);
    auto const refused = [&](query_entities const& asked, std::string const& text) {
        t.no(t.send(asked), error_code::continuation_invalid, error_code::invalid_input, text);
    };
    for (char const character : token) {
        t.check(character > ' ' && character < 127, "trap 16: a token is printable ASCII");
    }
    query_entities wrong = query;
    wrong.table = other;
    refused(wrong, "the token of another table");
    wrong = query;
    wrong.filter = only(filter_operator::equal, "N", value_view{1});
    refused(wrong, "trap 13: the token of a query with another filter");
    wrong = query;
    wrong.range.partition = key_interval::only("b");
    refused(wrong, "the token of a query of another range");
    wrong = query;
    for (std::size_t size = 0; size < token.size(); size += 1 + token.size() / 16) {
        wrong.continuation = token.substr(0, size);
        refused(wrong, "a token cut to " + std::to_string(size));
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
    t.check(t.keys(query).size() >= 1, "the token is still good");
}

inline void tokens_name_the_next_row(trial& t) {
    std::string const table = filled_table(t, 2, 6);
    query_entities query;
    query.table = table;
    query.page_size = 3;
    auto const first = page_with_rows(t, query);
    if (!t.check(!first.empty() && query.continuation, "there is more") || !t.limits().ordered) {
        return;
    }
    std::string const last = first.back();
    std::string const partition = last.substr(0, 1);
    // One before the last row that was read, one far beyond the token.
    t.put(table, make_row("a", "!early"));
    t.put(table, make_row("b", "zzz"));
    t.yes(t.write(table, mutation::remove(make_row("b", "004"), any_etag)), "remove a row that lies ahead");
    auto const rest = t.keys(query);
    auto const has = [&](std::string_view key) { return std::find(rest.begin(), rest.end(), key) != rest.end(); };
    t.check(!has("a/!early"), "a row inserted behind the token is not returned");
    t.check(has("b/zzz"), "a row inserted beyond the token is returned");
    t.check(!has("b/004"), "a row removed beyond the token is not returned");
    t.check(!has(last), "the last row of a page comes twice");
    for (std::string const& key : rest) {
        t.check(key > last, key + " comes behind " + last);
    }
    // The row that the token names may go; the token stays good.
    query_entities again;
    again.table = table;
    again.page_size = 1;
    auto const one = page_with_rows(t, again);
    auto const next = page_with_rows(t, again);
    if (!one.empty() && !next.empty() && again.continuation) {
        query_entities from = again;
        for (std::string const& key : t.keys(again)) {
            t.yes(t.write(table, mutation::remove(make_row(key.substr(0, 1), key.substr(2)), any_etag)), "remove");
        }
        t.same(t.keys(from), std::vector<std::string>{}, "everything beyond the token was removed");
    }
}

inline void tokens_outlive_their_table(trial& t) {
    std::string const table = filled_table(t, 2, 5);
    query_entities query;
    query.table = table;
    query.page_size = 2;
    page_with_rows(t, query);
    t.check(query.continuation.has_value(), "there is more");
    t.yes(t.send(delete_table{table}), "delete the table");
    t.no(t.send(query), t.no_table(), "a token of a deleted table");
}

inline constexpr behaviour behaviours_of_paging[] = {
    {"pages join to the whole", pages_join_to_the_whole},
    {"trap 15: sizes of pages are bounded", page_sizes_are_bounded},
    {"traps 12 and 13: a filter holds on every page", filter_holds_on_every_page},
    {"trap 14: a token belongs to its query", tokens_belong_to_their_query},
    {"a token names the next row", tokens_name_the_next_row},
    {"a token outlives its table", tokens_outlive_their_table},
};

} // namespace testing::conformance
ENTITABLE_END_NAMESPACE
