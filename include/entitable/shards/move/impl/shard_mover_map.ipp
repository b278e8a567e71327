// SPDX-License-Identifier: MIT
// Copyright (c) 2026 the entitable authors
#pragma once

// The changes that a move makes in the map.

#include <entitable/core/text.hpp>
#include <entitable/core/try.hpp>
#include <entitable/shards/map/detail/shard_map_rows.hpp>
#include <entitable/shards/move/detail/shard_mover.hpp>

#include <algorithm>

ENTITABLE_BEGIN_NAMESPACE
namespace detail {

ENTITABLE_DECL failure shard_mover::taken_over(shard_map_row const* row) {
    ended_ = epoch_ != 0 && (!flip_sent_ || (row != nullptr && row->epoch < epoch_));
    return failure{error_code::shard_moving, "another process took over the move, or ended it"};
}

/// Returns the shards that are moved.
ENTITABLE_DECL std::vector<std::int32_t> shard_mover::numbers() const {
    std::vector<std::int32_t> all{order_.shard};
    if (order_.upper) { all.push_back(*order_.upper); }
    return all;
}

/// Returns the rows of the attempt, if it is still ours and they have this state; any state if it is empty.
ENTITABLE_DECL result<std::vector<shard_map_row*>> shard_mover::own_rows(
    shard_map_copy const& map, shard_map_draft& draft, std::string_view state) {
    std::vector<shard_map_row*> all;
    for (std::int32_t const number : numbers()) {
        shard_row_draft* const each = draft.edit(map, number);
        bool const is_own =
            each != nullptr && each->row.attempt_epoch == epoch_ && each->row.attempt_owner == order_.options.owner;
        if (!is_own || (!state.empty() && each->row.state != state)) {
            return taken_over(each != nullptr ? &each->row : nullptr);
        }
        all.push_back(&each->row);
    }
    return all;
}

ENTITABLE_DECL result<bool> shard_mover::look(shard_map_copy const& map, shard_map_draft& draft, shard_row_draft& own) {
    std::vector<shard_map_row*> attempts;
    std::vector<etag> versions;
    for (std::int32_t const number : numbers()) {
        shard_row_draft* const each = draft.edit(map, number);
        if (each != nullptr && !each->row.attempt_owner.empty()) {
            attempts.push_back(&each->row);
            versions.push_back(each->version);
        }
    }
    watches_ = !attempts.empty() && order_.options.wait_budget.count() > 0 && watched_ != versions;
    if (watches_) {
        watched_ = std::move(versions);
        return false;
    }
    for (shard_map_row* const each : attempts) {
        if (!each->attempt_owner.empty()) { // empty if the attempt was ended together with the other row
            end_attempt(map, draft, *each, own);
        }
    }
    note_drops(map, draft, own);
    return !attempts.empty();
}

ENTITABLE_DECL result<bool> shard_mover::forget_dropped(
    shard_map_copy const& map, shard_map_draft& draft, shard_row_draft& own) {
    auto const is_it = [&](shard_retired const& each) {
        return dropped_ && each.store == dropped_->store && each.epoch == dropped_->epoch &&
            each.shard == dropped_->shard;
    };
    bool const erased = std::erase_if(own.retired, is_it) > 0;
    note_drops(map, draft, own);
    return erased;
}

/// Whether there is something to move; false if another process has moved or merged the shards.
ENTITABLE_DECL result<bool> shard_mover::is_wanted(
    shard_map_copy const& map, shard_map_draft& draft, shard_map_row const& own) const {
    if (!order_.upper) { return own.store != order_.target || !own.attempt_owner.empty(); }
    shard_row_draft const* const upper = draft.edit(map, *order_.upper);
    if (upper == nullptr && own.high == order_.high) { return false; }
    if (upper == nullptr || own.high.empty() || own.high != upper->row.low) {
        return failure{error_code::invalid_input,
            text::joined({"the virtual shards ", std::to_string(order_.shard), " and ", std::to_string(*order_.upper),
                " are not adjacent"})};
    }
    return true;
}

/// Checks that an attempt may begin with this row.
ENTITABLE_DECL result<void> shard_mover::may_register(shard_map_row const& row) {
    if (row.state != "open" && row.attempt_owner.empty()) {
        return failure{error_code::shard_moving,
            text::joined({"the virtual shard ", std::to_string(row.shard), " is offline or read-only: ", row.reason})};
    }
    if (!row.attempt_owner.empty() || (!order_.source.empty() && row.store != order_.source)) {
        return taken_over(&row);
    }
    return {};
}

ENTITABLE_DECL void shard_mover::register_in(shard_map_row& row) {
    sources_.push_back({row, {}, {}});
    lease_ = (std::max)(lease_, std::chrono::milliseconds{row.lease_ms});
    if (order_.options.off_line) {
        row.state = "sealed";
        row.lease_ms = 0;
    }
    row.attempt_owner = order_.options.owner;
    row.attempt_store = order_.target;
    row.attempt_epoch = epoch_;
    if (order_.upper) { row.attempt_with = row.shard == order_.shard ? *order_.upper : order_.shard; }
}

ENTITABLE_DECL result<bool> shard_mover::register_attempt(
    shard_map_copy const& map, shard_map_draft& draft, shard_row_draft& own) {
    epoch_ = 0;
    lease_ = {};
    sources_.clear();
    ENTITABLE_TRY(bool const wanted, is_wanted(map, draft, own.row));
    if (!wanted) { return false; }
    for (std::int32_t const number : numbers()) { ENTITABLE_CHECK(may_register(draft.edit(map, number)->row)); }
    // Its identity was written before this; the map may have been adopted since, or the store forgotten.
    if (!map.identity.empty() && !map.lists(order_.target)) {
        return failure{error_code::shard_moving,
            text::joined({"the map does not list the store ", order_.target,
                ": the store was forgotten, or the map adopted, during the move; run the move again"})};
    }
    epoch_ = draft.header.next_epoch++;
    moved_ = draft.tables;
    std::erase_if(
        moved_, [](shard_table const& each) { return each.dropping; }); // their parts are dropped and not moved
    for (std::int32_t const number : numbers()) { register_in(draft.edit(map, number)->row); }
    return true;
}

ENTITABLE_DECL result<bool> shard_mover::check_own(
    shard_map_copy const& map, shard_map_draft& draft, shard_row_draft&) {
    ENTITABLE_CHECK(own_rows(map, draft, {}));
    return false;
}
/// Each step checks in the rows that the attempt is still ours.
ENTITABLE_DECL result<bool> shard_mover::close(shard_map_copy const& map, shard_map_draft& draft, shard_row_draft&) {
    ENTITABLE_TRY(auto const rows, own_rows(map, draft, "open"));
    lease_ = {};
    for (shard_map_row* const each : rows) {
        lease_ = (std::max)(lease_, std::chrono::milliseconds{each->lease_ms});
        each->state = "closing";
        each->lease_ms = (std::min<std::int64_t>)(each->lease_ms, order_.options.short_lease.count());
    }
    return true;
}
ENTITABLE_DECL result<bool> shard_mover::drain(shard_map_copy const& map, shard_map_draft& draft, shard_row_draft&) {
    ENTITABLE_TRY(auto const rows, own_rows(map, draft, "closing"));
    lease_ = {};
    for (shard_map_row* const each : rows) {
        lease_ = (std::max)(lease_, std::chrono::milliseconds{each->lease_ms});
        each->state = "draining";
        each->lease_ms = 0;
    }
    return true;
}
ENTITABLE_DECL result<bool> shard_mover::seal(shard_map_copy const& map, shard_map_draft& draft, shard_row_draft&) {
    ENTITABLE_TRY(auto const rows, own_rows(map, draft, "draining"));
    for (shard_map_row* const each : rows) { each->state = "sealed"; }
    return true;
}
ENTITABLE_DECL result<bool> shard_mover::give_up(
    shard_map_copy const& map, shard_map_draft& draft, shard_row_draft& own) {
    ENTITABLE_CHECK(own_rows(map, draft, {}));
    end_attempt(map, draft, own.row, own);
    return true;
}
ENTITABLE_DECL result<bool> shard_mover::flip(shard_map_copy const& map, shard_map_draft& draft, shard_row_draft& own) {
    if (own.row.epoch == epoch_) { // applied by an earlier send, and others have changed the map since
        note_drops(map, draft, own);
        return false;
    }
    ENTITABLE_TRY(auto const rows, own_rows(map, draft, "sealed"));
    flip_sent_ = true;
    for (shard_map_row const* const each : rows) {
        own.retired.push_back({each->store, each->epoch, epoch_, each->tables_of.value_or(each->shard)});
    }
    if (order_.upper) {
        shard_row_draft& upper = *draft.edit(map, *order_.upper);
        own.row.high = upper.row.high;
        own.retired.insert(own.retired.end(), upper.retired.begin(), upper.retired.end());
        upper.erased = true;
    }
    own.row.store = order_.target;
    own.row.epoch = epoch_;
    own.row.tables_of.reset();
    clear_attempt(own.row);
    note_drops(map, draft, own);
    return true;
}

} // namespace detail
ENTITABLE_END_NAMESPACE
