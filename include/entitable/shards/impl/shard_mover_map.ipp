// SPDX-License-Identifier: MIT
// Copyright (c) 2026 the entitable authors
#pragma once

// What a move changes in the map.

#include <entitable/core/text.hpp>
#include <entitable/core/try.hpp>
#include <entitable/shards/detail/shard_mover.hpp>

#include <algorithm>

ENTITABLE_BEGIN_NAMESPACE
namespace detail {

ENTITABLE_DECL failure shard_mover::taken_over(shard_map_row const& row) {
    ended_ = epoch_ != 0 && (!flip_sent_ || row.epoch < epoch_);
    return failure{error_code::shard_moving, "another process has taken the move over, or has ended it"};
}

ENTITABLE_DECL bool shard_mover::is_own(shard_map_row const& row) const {
    return row.attempt_epoch == epoch_ && row.attempt_owner == order_.options.owner;
}

ENTITABLE_DECL void shard_mover::note_drops(shard_map_draft const& draft) {
    dropping_.reset();
    drops_.clear();
    if (draft.retired.empty()) {
        return;
    }
    dropping_ = draft.retired.front();
    for (shard_table const& each : draft.tables) {
        if (each.epoch < dropping_->until) {
            drops_.push_back(shard_table_name(each.name, order_.shard, (std::max)(dropping_->epoch, each.epoch)));
        }
    }
}

inline void clear_attempt(shard_map_row& row) {
    row.state = "open";
    row.lease_ms = row.open_lease_ms;
    row.attempt_owner.clear();
    row.attempt_store.clear();
    row.attempt_epoch = 0;
}

ENTITABLE_DECL result<bool> shard_mover::look(shard_map_copy const& map, shard_map_draft& draft) {
    etag const version = map.places[static_cast<std::size_t>(order_.shard)].version;
    watches_ = false;
    bool const is_there = !draft.row.attempt_owner.empty();
    if (is_there && order_.options.patience.count() > 0 && !(watched_ && *watched_ == version)) {
        watched_ = version;
        watches_ = true;
        return false;
    }
    if (is_there) {
        draft.retired.push_back({draft.row.attempt_store, draft.row.attempt_epoch, draft.header.next_epoch});
        clear_attempt(draft.row);
    }
    note_drops(draft);
    return is_there;
}

ENTITABLE_DECL result<bool> shard_mover::forget_dropped(shard_map_copy const&, shard_map_draft& draft) {
    auto const is_it = [&](shard_retired const& each) {
        return dropping_ && each.store == dropping_->store && each.epoch == dropping_->epoch;
    };
    bool const erased = std::erase_if(draft.retired, is_it) > 0;
    note_drops(draft);
    return erased;
}

ENTITABLE_DECL result<bool> shard_mover::register_attempt(shard_map_copy const&, shard_map_draft& draft) {
    shard_map_row& row = draft.row;
    epoch_ = 0;
    if (row.store == order_.target && row.attempt_owner.empty()) {
        return false; // somebody else has moved it there
    }
    if (row.state != "open" && row.attempt_owner.empty()) {
        return failure{error_code::shard_moving,
            text::joined({"the virtual shard ", std::to_string(row.shard), " is off-line or read-only: ", row.reason})};
    }
    if (!row.attempt_owner.empty() || (!order_.source.empty() && row.store != order_.source)) {
        return taken_over(row);
    }
    if (std::any_of(draft.tables.begin(), draft.tables.end(), [](auto const& each) { return each.dropping; })) {
        return failure{error_code::shard_moving, "a table is being dropped"};
    }
    lease_ = std::chrono::milliseconds{row.lease_ms};
    epoch_ = draft.header.next_epoch++;
    order_.source = row.store;
    source_epoch_ = row.epoch;
    moved_ = draft.tables;
    if (order_.options.off_line) {
        row.state = "sealed";
        row.lease_ms = 0;
    }
    row.attempt_owner = order_.options.owner;
    row.attempt_store = order_.target;
    row.attempt_epoch = epoch_;
    return true;
}

ENTITABLE_DECL result<bool> shard_mover::check_own(shard_map_copy const&, shard_map_draft& draft) {
    return is_own(draft.row) ? result<bool>{false} : result<bool>{taken_over(draft.row)};
}
/// Each step asks of the row that the attempt is still the own one.
ENTITABLE_DECL result<bool> shard_mover::close(shard_map_copy const&, shard_map_draft& draft) {
    if (!is_own(draft.row) || draft.row.state != "open") {
        return taken_over(draft.row);
    }
    lease_ = std::chrono::milliseconds{draft.row.lease_ms};
    draft.row.state = "closing";
    draft.row.lease_ms = (std::min<std::int64_t>)(draft.row.lease_ms, order_.options.short_lease.count());
    return true;
}
ENTITABLE_DECL result<bool> shard_mover::drain(shard_map_copy const&, shard_map_draft& draft) {
    if (!is_own(draft.row) || draft.row.state != "closing") {
        return taken_over(draft.row);
    }
    lease_ = std::chrono::milliseconds{draft.row.lease_ms};
    draft.row.state = "draining";
    draft.row.lease_ms = 0;
    return true;
}
ENTITABLE_DECL result<bool> shard_mover::seal(shard_map_copy const&, shard_map_draft& draft) {
    if (!is_own(draft.row) || draft.row.state != "draining") {
        return taken_over(draft.row);
    }
    draft.row.state = "sealed";
    return true;
}
ENTITABLE_DECL result<bool> shard_mover::give_up(shard_map_copy const&, shard_map_draft& draft) {
    if (!is_own(draft.row)) {
        return taken_over(draft.row);
    }
    draft.retired.push_back({draft.row.attempt_store, draft.row.attempt_epoch, draft.header.next_epoch});
    clear_attempt(draft.row);
    return true;
}
ENTITABLE_DECL result<bool> shard_mover::flip(shard_map_copy const&, shard_map_draft& draft) {
    shard_map_row& row = draft.row;
    if (row.epoch == epoch_) { // by an earlier sending, and others have changed the map since
        note_drops(draft);
        return false;
    }
    if (!is_own(row) || row.state != "sealed") {
        return taken_over(row);
    }
    flip_sent_ = true;
    draft.retired.push_back({row.store, row.epoch, epoch_});
    row.store = order_.target;
    row.epoch = epoch_;
    clear_attempt(row);
    note_drops(draft);
    return true;
}

} // namespace detail
ENTITABLE_END_NAMESPACE
