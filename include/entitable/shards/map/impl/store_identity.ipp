// SPDX-License-Identifier: MIT
// Copyright (c) 2026 the entitable authors
#pragma once

// The identity of a store, as its rows record it.

#include <entitable/client/mapping/codec.hpp>
#include <entitable/core/request/detail/was_beaten.hpp>
#include <entitable/core/text.hpp>
#include <entitable/core/try.hpp>
#include <entitable/shards/map/detail/store_rows.hpp>

ENTITABLE_BEGIN_NAMESPACE
namespace detail {

ENTITABLE_DECL query_entities query_of_any_row(std::string table) {
    query_entities made; // not made from a list, because GCC 12 warns about a list with empty ranges
    made.table = std::move(table);
    made.select = {"PartitionKey"};
    made.page_size = 1;
    return made;
}

ENTITABLE_DECL result<store_rows> store_rows_in(std::string_view name, result<query_entities::response> const& found) {
    store_rows made;
    if (is_absent(found)) { return made; }
    if (!found) {
        failure named{found.error()};
        named.error().message =
            text::joined({"the header of the store ", name, " is unreadable: ", found.error().message});
        named.error().effect = effect::none;
        return named;
    }
    for (row_view const each : found->rows) {
        auto const read = each.row_key == store_identity{}.kind
            ? from_row(each, made.identity.emplace())
            : from_row(each, made.headers.emplace_back(found_header{{}, each.etag()}).header);
        if (!read) { return wrong_store(name, text::joined({" has an unreadable header: ", read.error().message})); }
    }
    return made;
}

ENTITABLE_DECL result<store_rows> read_store_rows(any_store const& store, std::string_view name) {
    call context;
    return store_rows_in(name, store.execute(query_of_store_rows(), context));
}

ENTITABLE_DECL result<void> judge_identity(
    store_rows const& rows, std::string_view map, std::string_view name, bool listed) {
    if (rows.identity && rows.identity->map != map) {
        return wrong_store(name,
            text::joined({" belongs to the map ", rows.identity->map, ", not ", map,
                ": two maps cannot share a store, since their tables have the same names"}));
    }
    if (rows.identity && rows.identity->store != name) {
        return wrong_store(name,
            text::joined(
                {" identifies itself as ", rows.identity->store, ": the store opener returned the wrong store"}));
    }
    if (!rows.identity && listed) {
        return wrong_store(
            name, " lost the identity of the map: it was emptied, or the store opener returns a different store");
    }
    return {};
}

ENTITABLE_DECL result<void> write_identity(any_store const& store, std::string_view map, std::string_view name) {
    auto const judge = [&](store_rows const& rows) -> result<void> {
        for (found_header const& each : rows.headers) {
            if (!is_retired(each.header)) {
                return wrong_store(name,
                    text::joined(
                        {" is one of the hashed stores of generation ", std::to_string(each.header.generation)}));
            }
        }
        return judge_identity(rows, map, name, false);
    };
    ENTITABLE_TRY(auto const before, read_store_rows(store, name));
    ENTITABLE_CHECK(judge(before));
    if (before.identity) { return {}; }
    std::string const table{store_rows_table};
    call context;
    auto made = store.execute(create_table{table, true}, context);
    if (!made && made.error().code != error_code::table_already_exists) { return std::move(made).as_failure(); }
    store_identity own;
    own.map = map;
    own.store = name;
    ENTITABLE_TRY(auto row, to_row(own));
    call writing;
    auto const written = store.execute(write_entity{table, mutation::insert(std::move(row))}, writing);
    if (!written && written.error().code != error_code::entity_already_exists) { return failure{written.error()}; }
    ENTITABLE_TRY(auto const behind, read_store_rows(store, name));
    auto judged = judge(behind);
    if (!judged && written) { // the store joined hashed stores concurrently, so neither may use it
        ENTITABLE_TRY(auto keys, to_row(own));
        call ending;
        static_cast<void>(store.execute(write_entity{table, mutation::remove(std::move(keys), written->etag)}, ending));
    }
    return judged;
}

} // namespace detail
ENTITABLE_END_NAMESPACE
