// SPDX-License-Identifier: MIT
// Copyright (c) 2026 the entitable authors
#pragma once

// Drops the tables that a move leaves behind, if their store responds.

#include <entitable/shards/map/detail/shard_map_rows.hpp>
#include <entitable/shards/move/detail/shard_mover.hpp>

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
        std::vector<key_interval> used;
        for (shard_place const& place : map.places) {
            auto const changed = std::find_if(draft.rows.begin(), draft.rows.end(),
                [&](shard_row_draft const& each) { return each.row.shard == place.row.shard; });
            if (changed != draft.rows.end() && changed->erased) { continue; }
            shard_place const now{changed != draft.rows.end() ? changed->row : place.row, {}, {}};
            if (now.has(table, dropping_->store, dropping_->shard, dropping_->epoch)) { used.push_back(now.keys()); }
        }
        std::string name = shard_table_name(table.name, dropping_->shard, (std::max)(dropping_->epoch, table.epoch));
        auto left = keys_besides(used);
        drops_.push_back({std::move(name), used.empty(), std::move(left)});
    }
}

/// The process that ended the attempt has dropped its tables; a table made after that would stay.
ENTITABLE_DECL void shard_mover::leave(failure why) {
    if (!std::exchange(ended_, false)) { return stop(std::move(why)); }
    left_.emplace(std::move(why));
    drops_.clear();
    for (auto const& each : tables_) { drops_.push_back({each.copy->target(), true, {}}); }
    dropping_ = shard_retired{order_.target, epoch_, epoch_, order_.shard};
    at_ = stage::dropping;
}

/// Keeps a failed drop in the map: no later step depends on cleaning up.
ENTITABLE_DECL void shard_mover::leave_drop(steady_time now) {
    failures_ = 0;
    drops_.clear();
    if (left_) { return stop(*std::move(left_)); }
    auto const& store = dropping_->store;
    auto& left = progress_.left_in;
    if (std::find(left.begin(), left.end(), store) == left.end()) { left.push_back(store); }
    kept_.push_back(*dropping_);
    dropped_.reset();
    change(stage::forgetting, progress_.step, &shard_mover::forget_dropped, now);
}

ENTITABLE_DECL void shard_mover::drop_or(stage next, steady_time now) {
    if (dropping_) {
        at_ = stage::dropping;
        progress_.step = flipped_ ? move_step::dropping : move_step::taking_over;
    } else if (next == stage::registering && !order_.target.empty()) {
        change(stage::registering, move_step::registering, &shard_mover::register_attempt, now);
    } else {
        end();
    }
}

} // namespace detail
ENTITABLE_END_NAMESPACE
