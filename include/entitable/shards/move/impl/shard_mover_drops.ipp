// SPDX-License-Identifier: MIT
// Copyright (c) 2026 the entitable authors
#pragma once

// Drops the tables that a move leaves behind, if their store responds.

#include <entitable/core/request/detail/was_beaten.hpp>
#include <entitable/core/try.hpp>
#include <entitable/shards/map/detail/shard_map_rows.hpp>
#include <entitable/shards/move/detail/shard_mover.hpp>
#include <entitable/shards/move/detail/shard_splitting.hpp>

#include <algorithm>

ENTITABLE_BEGIN_NAMESPACE
namespace detail {

/// Returns the keys of a table that none of its shards uses. `used` ascends.
inline std::vector<key_interval> keys_besides(std::vector<key_interval> const& used) {
    std::vector<key_interval> left;
    key_bound begin;
    bool ended = false;
    for (key_interval const& each : used) {
        key_interval const before{begin,
            each.lower.end == key_bound::kind::open ? key_bound::excluding({}) : key_bound::excluding(each.lower.key)};
        if (!before.is_empty()) { left.push_back(before); }
        ended = each.upper.end == key_bound::kind::open;
        begin = key_bound::including(each.upper.key);
    }
    if (!ended) { left.push_back({begin, {}}); }
    return left;
}

/// Returns the keys of the shards that use the table of a retired shard, with this change.
inline std::vector<key_interval> keys_used(
    shard_map_copy const& map, shard_map_draft const& draft, shard_table const& table, shard_retired const& of) {
    std::vector<key_interval> used;
    for (shard_place const& place : map.places) {
        auto const changed = std::find_if(draft.rows.begin(), draft.rows.end(),
            [&](shard_row_draft const& each) { return each.row.shard == place.row.shard; });
        if (changed != draft.rows.end() && changed->erased) { continue; }
        shard_place const now{changed != draft.rows.end() ? changed->row : place.row, {}, {}};
        if (now.has(table, of.store, of.shard, of.epoch)) { used.push_back(now.keys()); }
    }
    return used;
}

/// Marks a table for dropping if, with this change, no shard of the map uses it. If other shards use it, marks the keys for erasure that
/// none of them has: a table gets its shards and keys only when it is made, so no shard will ever read those keys.
ENTITABLE_DECL void shard_mover::note_drops(
    shard_map_copy const& map, shard_map_draft const& draft, shard_row_draft const& own) {
    dropping_.reset();
    drops_.clear();
    auto const next = std::find_if(own.retired.begin(), own.retired.end(),
        [&](shard_retired const& each) { return std::find(kept_.begin(), kept_.end(), each) == kept_.end(); });
    if (next == own.retired.end()) { return; }
    dropping_ = *next;
    for (shard_table const& table : draft.tables) {
        if (table.epoch >= dropping_->until) { continue; }
        auto const used = keys_used(map, draft, table, *dropping_);
        std::string name = shard_table_name(table.name, dropping_->shard, (std::max)(dropping_->epoch, table.epoch));
        auto left = keys_besides(used);
        drops_.push_back({std::move(name), used.empty(), std::move(left)});
    }
}

/// Drops the tables of each retired entry in the shard's row, then removes the entry.
ENTITABLE_DECL resumable<void> shard_mover::drop_retired() {
    move_step const shown = flipped_ ? move_step::dropping : move_step::taking_over;
    while (dropping_) {
        progress_.step = shown;
        ENTITABLE_CO_TRY(bool const dropped, co_await drop_tables());
        if (dropped) {
            dropped_ = dropping_;
        } else {
            keep_in_map();
        }
        // The entry is removed after its tables: after a crash in between, the drops are repeated and find no table. The same change notes
        // the next entry.
        ENTITABLE_CO_CHECK(co_await change(shown, &shard_mover::forget_dropped));
    }
    co_return {};
}

/// Drops the noted tables; false if one of them could not be dropped.
ENTITABLE_DECL resumable<bool> shard_mover::drop_tables() {
    is_dropping_ = true; // gives up early on an unreachable store
    while (!drops_.empty()) {
        dropped_table last = std::move(drops_.back());
        drops_.pop_back();
        std::size_t const place = place_of(dropping_->store);
        result<void> done;
        if (last.whole) {
            done = co_await drop_table(std::move(last.name), place);
        } else { // other shards have rows in the table
            std::uint64_t erased = 0;
            done = co_await erase_keys(
                std::move(last.name), std::move(last.keys), order_.options.page_size, place, erased);
        }
        if (!done) {
            failures_ = 0;
            drops_.clear();
            is_dropping_ = false;
            co_return false;
        }
    }
    is_dropping_ = false;
    co_return true;
}

/// Drops a table. A table that does not exist counts as dropped.
ENTITABLE_DECL resumable<void> shard_mover::drop_table(std::string name, std::size_t place) {
    delete_table const request{std::move(name)};
    auto const dropped = co_await until_known(request, place, 2);
    if (!dropped && !is_absent(dropped)) { co_return failure{dropped.error()}; }
    co_return {};
}

/// Keeps an entry whose tables could not be dropped: no later step depends on cleaning up.
ENTITABLE_DECL void shard_mover::keep_in_map() {
    auto& left = progress_.left_in;
    if (std::find(left.begin(), left.end(), dropping_->store) == left.end()) { left.push_back(dropping_->store); }
    kept_.push_back(*dropping_);
    dropped_.reset();
}

} // namespace detail
ENTITABLE_END_NAMESPACE
