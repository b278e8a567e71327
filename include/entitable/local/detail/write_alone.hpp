// SPDX-License-Identifier: MIT
// Copyright (c) 2026 the entitable authors
#pragma once

/// \file
/// A write of one row in a store that applies it by itself.

#include <entitable/local/detail/local_rules.hpp>
#include <entitable/local/ordered_store.hpp>

ENTITABLE_BEGIN_NAMESPACE
namespace detail {

/// Writes one row without a transaction of the store, which has `write_row`. A merge is a read and a write under the version that was read; it
/// starts over if the row changes in between. Returns nothing after too many restarts: a transaction then excludes other writers.
template <class Store>
[[nodiscard]] std::optional<result<written>> write_alone(
    Store& store, local_state& state, write_entity const& request, call& context) {
    mutation const& change = request.change;
    auto const table = state.table_key(request.table);
    stored_key const partition{change.entity.partition_key()};
    stored_key const row{change.entity.row_key()};
    bool const merges = entitable::merges(change);
    constexpr int most = 4;
    for (int tries = 0; tries < most; ++tries) {
        row_write made{row_write::change::put, std::nullopt, change.entity.view().payload};
        std::string payload;
        if (merges) {
            payload_copy copy;
            bool exists = false;
            auto const take = [&](std::string_view stored) {
                copy.take(stored);
                exists = true;
            };
            auto found = store.get(table, partition, row, take, context);
            if (!found) { return std::move(found).as_failure(); }
            if (*found == lookup::no_table) { return state.no_table(request.table); }
            std::string_view const stored = copy.view();
            auto merged =
                state.prepare(change, exists ? &stored : nullptr, request.table, payload, nullptr, std::int64_t{0});
            if (!merged) { return std::move(merged).as_failure(); }
            made.kind = exists ? row_write::change::replace : row_write::change::insert;
            if (exists) { made.version = row_view{{}, {}, stored}.timestamp().ticks; }
            made.bytes = payload;
        } else {
            made = write_of(change);
        }
        auto done = store.write_row(table, partition, row, made, context);
        if (!done) { return std::move(done).as_failure(); }
        if (done->met == row_written::outcome::done) {
            return change.kind == mutation_kind::remove ? written{}
                                                        : written{etag::of(date_time{done->version}), false};
        }
        if (!merges || done->met == row_written::outcome::no_table) {
            return state.refused_write(change, request.table, done->met);
        }
    }
    return std::nullopt;
}

} // namespace detail
ENTITABLE_END_NAMESPACE
