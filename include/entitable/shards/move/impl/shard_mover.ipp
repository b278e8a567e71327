// SPDX-License-Identifier: MIT
// Copyright (c) 2026 the entitable authors
#pragma once

#include <entitable/core/backoff.hpp>
#include <entitable/core/request/idempotency.hpp>
#include <entitable/core/text.hpp>
#include <entitable/core/try.hpp>
#include <entitable/shards/move/detail/shard_mover.hpp>

#include <algorithm>
#include <limits>

ENTITABLE_BEGIN_NAMESPACE
namespace detail {

/// The length of a wait for a lease, by the waiter's clock: the lease and three margins of 2 % for clock drift.
inline std::chrono::nanoseconds length_of_wait(std::chrono::milliseconds lease) {
    return lease.count() == 0 ? std::chrono::nanoseconds{}
                              : std::chrono::nanoseconds{lease} * 106 / 100 + std::chrono::milliseconds{1};
}

// ---- the protocol ----

/// Moves the shard, from the first step to the last. Each change of the map fails if another process has taken over.
ENTITABLE_DECL resumable<move_progress> shard_mover::move() {
    // An attempt is never continued, because requests of its mover may still arrive: it is ended, and the move starts over.
    ENTITABLE_CO_CHECK(co_await take_over());
    // The tables of that attempt, and those that earlier moves could not drop, are dropped first: nothing else remembers them.
    ENTITABLE_CO_CHECK(co_await drop_retired());
    if (order_.target.empty()) { co_return end(); } // the order was to end an attempt

    // The map gives the attempt an epoch, hence table names that were never used: requests of earlier attempts find no table.
    ENTITABLE_CO_CHECK(co_await change(move_step::registering, &shard_mover::register_attempt));
    if (epoch_ == 0) { co_return end(); } // the shard is there already
    begin_tables();
    if (order_.options.off_line) {
        // The registration sealed the shard. Clients with an older copy of the map read and write until their lease ends.
        writes_stopped_ = reads_stopped_ = co_await answer_time{};
        progress_.step = move_step::sealing;
        co_await lease_wait();
    }
    ENTITABLE_CO_CHECK(co_await create_tables());

    // Copies most rows while clients read and write, and then what they changed in the meantime, so that little is left for the pause.
    ENTITABLE_CO_CHECK(co_await pass(move_phases::copying));
    if (!order_.options.off_line) {
        ENTITABLE_CO_CHECK(co_await catch_up());
        // Compares what the target stores with the digests of what was read: while the shard is closed, ETags have to be enough.
        ENTITABLE_CO_CHECK(co_await pass(move_phases::verifying));

        // Shortens the leases that the map grants while all requests continue, so that the pause does not depend on the long lease.
        ENTITABLE_CO_CHECK(co_await change(move_step::closing, &shard_mover::close));
        co_await lease_wait(); // after it no client has a copy with a long lease
        // That wait was long: catches up once more before writes pause.
        ENTITABLE_CO_CHECK(co_await pass(move_phases::closed));

        // Refuses writes. Reads continue, but each of them reads the map first.
        ENTITABLE_CO_CHECK(co_await change(move_step::draining, &shard_mover::drain));
        writes_stopped_ = co_await answer_time{};
        co_await lease_wait(); // after it no client writes by an older copy
        // The last rows, while clients still read: the following passes only compare keys.
        ENTITABLE_CO_CHECK(co_await pass(move_phases::drained));

        // Refuses reads as well: no client may read at the source after the flip, when another client writes at the target.
        ENTITABLE_CO_CHECK(co_await change(move_step::sealing, &shard_mover::seal));
        reads_stopped_ = co_await answer_time{};
    }
    // Writes that were sent before the pause may arrive late: the flip waits until both sides have the same rows.
    ENTITABLE_CO_CHECK(co_await agree());

    // One change of the map gives the shard to the target and opens it. Clients use only the source before this change, and only the target
    // after it.
    ENTITABLE_CO_CHECK(co_await change(move_step::flipping, &shard_mover::flip));
    steady_time const opened = co_await answer_time{};
    flipped_ = true;
    if (writes_stopped_) { progress_.writes_paused = opened - *writes_stopped_; }
    if (reads_stopped_) { progress_.reads_paused = opened - *reads_stopped_; }
    // The old tables are dropped last. If that fails, the map remembers them for the next move.
    if (!order_.options.keep_old_tables) { ENTITABLE_CO_CHECK(co_await drop_retired()); }
    co_return end();
}

/// Ends another attempt. An attempt that makes progress in the map is watched first, for as long as the options allow.
ENTITABLE_DECL resumable<void> shard_mover::take_over() {
    for (;;) {
        ENTITABLE_CO_CHECK(co_await change(move_step::taking_over, &shard_mover::look));
        if (!watches_) { co_return {}; }
        co_await delay_next{order_.options.wait_budget}; // for the next reading of the map
    }
}

/// Creates the tables of the attempt. The names are unique to it, so a table that exists was created by an earlier send.
ENTITABLE_DECL resumable<void> shard_mover::create_tables() {
    for (copied_table const& each : tables_) {
        create_table const request{each.copy->target()};
        auto const created = co_await until_known(request, place_of(order_.target), order_.options.failures);
        if (!created && created.error().code != error_code::table_already_exists) {
            co_return failure{created.error()};
        }
    }
    co_return {};
}

/// Copies what clients change, until a pass finds nothing, or not less than the pass before.
ENTITABLE_DECL resumable<void> shard_mover::catch_up() {
    std::uint64_t before = (std::numeric_limits<std::uint64_t>::max)();
    for (std::size_t round = 1;; ++round) {
        ENTITABLE_CO_TRY(std::uint64_t const found, co_await pass(move_phases::catching_up));
        if (found == 0 || round >= order_.options.rounds || found >= before) { co_return {}; }
        before = found;
    }
}

/// Copies until neither a pass over the source nor the following pass over the target finds a difference. Otherwise opens the shard at its
/// source.
ENTITABLE_DECL resumable<void> shard_mover::agree() {
    // Off line nothing was compared yet, and there is time to compare the content too.
    move_phase const& comparing = order_.options.off_line ? move_phases::verifying : move_phases::collecting;
    for (std::size_t round = 0; round <= order_.options.rounds; ++round) {
        ENTITABLE_CO_TRY(std::uint64_t const late, co_await pass(move_phases::sealed));
        if (late != 0) { continue; }
        ENTITABLE_CO_TRY(std::uint64_t const differing, co_await pass(comparing));
        if (differing == 0) { co_return {}; }
    }
    ENTITABLE_CO_CHECK(co_await change(move_step::sealing, &shard_mover::give_up));
    co_return failure{error_code::row_mismatch,
        text::joined({"source and copy still differed after ", std::to_string(order_.options.rounds),
            " rounds: a program that does not use the map is writing; the shard is open in its "
            "old store"})};
}

/// Runs a pass over all tables. Returns the number of changes found.
ENTITABLE_DECL resumable<std::uint64_t> shard_mover::pass(move_phase phase) {
    show(phase.step);
    std::uint64_t found = 0;
    for (copied_table const& each : tables_) {
        std::size_t const source = place_of(each.source);
        auto done = co_await each.copy->run(phase.pass, source, place_of(order_.target));
        if (!done && done.error().code == error_code::table_not_found) {
            // A process that takes over drops tables: the error is then that it took over.
            ENTITABLE_CO_CHECK(co_await change(progress_.step, &shard_mover::check_own));
        }
        if (!done) { co_return std::move(done).as_failure(); }
        found += each.copy->changes();
    }
    co_return found;
}

/// Moves the shard; if another process has ended the attempt, drops the tables of the attempt.
ENTITABLE_DECL resumable<move_progress> shard_mover::run() {
    auto moved = co_await move();
    if (moved || !ended_) { co_return moved; }
    drops_.clear();
    for (copied_table const& each : tables_) { drops_.push_back({each.copy->target(), true, {}}); }
    dropping_ = shard_retired{order_.target, epoch_, epoch_, order_.shard};
    // The other process has dropped these tables too, but not one that was created after that.
    static_cast<void>(co_await drop_tables());
    co_return moved;
}

// ---- its parts ----

ENTITABLE_DECL shard_mover::shard_mover(shard_mover_order order, steady_time now)
    : order_(std::move(order)), protocol_(run()) {
    protocol_.begin(now);
}

ENTITABLE_DECL operation_step shard_mover::next() const noexcept {
    operation_step due = protocol_.next();
    due.not_before = (std::max)(due.not_before, not_before_);
    return due;
}

ENTITABLE_DECL std::size_t shard_mover::place_of(std::string const& store) {
    auto const known = std::find(stores_.begin(), stores_.end(), store);
    if (known == stores_.end()) {
        stores_.push_back(store);
        return stores_.size();
    }
    return static_cast<std::size_t>(known - stores_.begin()) + 1;
}

/// Whether to send the request again: nothing was applied, and the failure may be temporary.
ENTITABLE_DECL bool shard_mover::again_later(error const* problem, bool reads, steady_time now) {
    not_before_ = (steady_time::min)();
    if (waits_for_) { progress_.step = *std::exchange(waits_for_, std::nullopt); }
    if (problem == nullptr) {
        failures_ = 0;
        return false;
    }
    constexpr std::size_t most_of_drops = 2; // gives up early on an unreachable store
    std::size_t const most =
        is_dropping_ ? (std::min)(most_of_drops, order_.options.failures) : order_.options.failures;
    bool const unsettled = !reads && problem->effect == effect::unknown;
    if (unsettled || !worth_retrying(*problem) || ++failures_ > most) { return false; }
    constexpr entitable::backoff pauses{.base = std::chrono::milliseconds{5},
        .least = std::chrono::milliseconds{5},
        .most = std::chrono::seconds{5},
        .jitter = 0};
    auto const pause = pauses.delay(failures_, 0);
    std::chrono::nanoseconds const wanted = problem->retry_after.value_or(std::chrono::milliseconds{});
    not_before_ = now + std::chrono::duration_cast<steady_time::duration>((std::max)(pause, wanted));
    return true;
}

ENTITABLE_DECL void shard_mover::count_rows() {
    progress_.rows = progress_.bytes = 0;
    for (copied_table const& each : tables_) {
        progress_.rows += each.copy->rows();
        progress_.bytes += each.copy->bytes();
    }
}

/// Shows a step to watchers, after the wait for a lease if there is one.
ENTITABLE_DECL void shard_mover::show(move_step step) { (waits_for_ ? *waits_for_ : progress_.step) = step; }

/// The wait for the leases of earlier copies of the map.
ENTITABLE_DECL delay_next shard_mover::lease_wait() {
    auto const length = length_of_wait(lease_);
    if (length.count() == 0) { return {length}; }
    progress_.waited += length;
    waits_for_ = progress_.step;
    progress_.step = move_step::waiting;
    return {length};
}

ENTITABLE_DECL resumable<void> shard_mover::change(move_step shown, edit_type edit) {
    progress_.step = shown;
    return change_shard_map(order_.map, text::joined({order_.name, "-", std::to_string(++changes_)}),
        [this, edit](shard_map_copy const& map, shard_map_draft& draft) -> result<bool> {
            shard_row_draft* const own = draft.edit(map, order_.shard);
            if (own != nullptr) { return (this->*edit)(map, draft, *own); }
            if (edit == &shard_mover::forget_dropped) {
                // The shard was merged into another shard, whose row lists the tables to drop.
                dropping_.reset();
                return false;
            }
            if (epoch_ != 0) { return taken_over(nullptr); }
            return failure{
                error_code::invalid_input, text::joined({"no virtual shard ", std::to_string(order_.shard)})};
        });
}

ENTITABLE_DECL void shard_mover::begin_tables() {
    tables_.clear();
    for (shard_table const& each : moved_) {
        for (shard_place const& source : sources_) {
            tables_.push_back({source.row.store,
                std::make_unique<shard_table_copy>(source.table_name(each),
                    shard_table_name(each.name, order_.shard, (std::max)(epoch_, each.epoch)), order_.limits,
                    order_.options.page_size, source.keys())});
        }
    }
}

ENTITABLE_DECL move_progress shard_mover::end() {
    progress_.step = move_step::done;
    return progress_;
}

} // namespace detail
ENTITABLE_END_NAMESPACE
