// SPDX-License-Identifier: MIT
// Copyright (c) 2026 the entitable authors
#pragma once

#include <entitable/core/row/row.hpp>
#include <entitable/core/text.hpp>
#include <entitable/work/once/detail/once_operation.hpp>

#include <limits>

ENTITABLE_BEGIN_NAMESPACE
namespace detail {

inline constexpr std::string_view once_state = "State";
inline constexpr std::string_view once_claimed = "claimed";
inline constexpr std::string_view once_free = "free";
inline constexpr std::string_view once_done = "done";

ENTITABLE_DECL once_operation::once_operation(
    task what, once_row const& at, once_claim own, call const& context, clock& time, once_attempts again)
    : what_(what), at_(at), own_(std::move(own)), context_(context), time_(time), again_(std::move(again)) {
    reading_ = {at.table, at.partition_key, at.row_key, {}};
    writing_.table = at.table;
    creating_.table = at.table;
    switch (what) {
        case task::claim: insert(); break;
        case task::done: merge(once_done, any_etag); break;
        case task::free: merge(once_free, own_.version); break;
    }
}

/// Inserts the first claim of a key; or the mark "done", if the row of the key was removed.
ENTITABLE_DECL void once_operation::insert() {
    if (what_ == task::claim) { own_.runs = 1; }
    row_builder made{at_.partition_key, at_.row_key};
    made.add(once_state, what_ == task::claim ? once_claimed : once_done);
    made.add("Claim", std::string_view{own_.claim});
    made.add("Lease", std::int64_t{at_.claim.count()});
    made.add("Id", std::string_view{own_.id});
    made.add("Runs", own_.runs);
    writing_.change = mutation::insert(made.build());
    phase_ = phase::insert;
}

ENTITABLE_DECL void once_operation::merge(std::string_view state, etag_condition condition) {
    row_builder made{at_.partition_key, at_.row_key};
    made.add(once_state, state);
    if (what_ == task::claim) {
        made.add("Claim", std::string_view{own_.claim});
        made.add("Lease", std::int64_t{at_.claim.count()});
        made.add("Runs", own_.runs);
    }
    writing_.change = mutation::merge(made.build(), std::move(condition));
    phase_ = phase::merge;
}

ENTITABLE_DECL void once_operation::judge(row_view stored, etag version) {
    auto const text_of = [&](std::string_view name) {
        auto const found = stored.find(name);
        return found && found->type() == edm_type::string ? found->as_string() : std::string_view{};
    };
    auto const lease = stored.find("Lease");
    auto const runs = stored.find("Runs");
    std::string_view const state = text_of(once_state);
    bool const known = state == once_claimed || state == once_free || state == once_done;
    constexpr std::int64_t longest = std::int64_t{7} * 24 * 3600 * 1000;
    bool const good = known && lease && lease->type() == edm_type::int64 && lease->as_int64() >= 0 &&
        lease->as_int64() <= longest && runs && runs->type() == edm_type::int32 && runs->as_int32() >= 0;
    if (!good) {
        outcome_.emplace(failure{error_code::row_mismatch,
            text::joined({"the row of the key \"", at_.partition_key, "\" was not written by once"})});
        return;
    }
    bool const recognized = text_of("Claim") == own_.claim;
    own_.id = text_of("Id");
    own_.runs = runs->as_int32();
    if (state == once_done) {
        own_.done_at = stored.timestamp();
        return end();
    }
    if (recognized && state == once_claimed) { // the answer to the claim was lost
        own_.mine = true;
        own_.version = std::move(version);
        return end();
    }
    date_time const now = context_.server_date != date_time{} ? context_.server_date : time_.now();
    std::chrono::milliseconds const left{lease->as_int64() - (now.ticks - stored.timestamp().ticks) / 10'000};
    if (state == once_claimed && left.count() > 0) {
        failure busy{error_code::store_busy,
            text::joined({"the key \"", at_.partition_key, "\" is claimed by another call for at most ",
                std::to_string(left.count()), " ms"})};
        busy.error().retry_after = left;
        outcome_.emplace(std::move(busy));
        return;
    }
    own_.runs += own_.runs < (std::numeric_limits<std::int32_t>::max)() ? 1 : 0;
    merge(once_claimed, std::move(version));
}

ENTITABLE_DECL void once_operation::answer(result<get_entity::response> found, steady_time) {
    if (found) {
        judge(found->entity.view(), std::move(found->etag));
    } else if (found.error().code == error_code::resource_not_found) {
        insert();
    } else {
        outcome_.emplace(std::move(found).as_failure());
    }
}

ENTITABLE_DECL void once_operation::answer(result<written> done, steady_time now) {
    if (done) {
        if (what_ == task::claim && done->etag.empty()) {
            phase_ = phase::read; // reads the version, which the response lacks
            return;
        }
        own_.mine = what_ == task::claim;
        own_.version = std::move(done->etag);
        return end();
    }
    failure problem = std::move(done).as_failure();
    if (problem.error().effect == effect::unknown) {
        // The row is read to see whether a claim was applied. The other tasks can be repeated.
        return repeat(what_ == task::claim ? phase::read : phase_, std::move(problem), now);
    }
    switch (problem.error().code) {
        case error_code::entity_already_exists:
            if (what_ == task::done) { merge(once_done, any_etag); }
            return repeat(what_ == task::done ? phase::merge : phase::read, std::move(problem), now);
        case error_code::update_condition_not_satisfied:
            if (what_ == task::free) { return end(); }
            return repeat(phase::read, std::move(problem), now);
        case error_code::table_not_found:
        case error_code::resource_not_found: // some services return this for a missing table
            if (what_ == task::free) { return end(); }
            if (phase_ == phase::insert || problem.error().code == error_code::table_not_found) {
                return repeat(phase::create, std::move(problem), now);
            }
            insert();
            return repeat(phase::insert, std::move(problem), now);
        default: outcome_.emplace(std::move(problem)); return;
    }
}

ENTITABLE_DECL void once_operation::answer(result<create_table::response> created, steady_time now) {
    insert();
    if (!created && created.error().code != error_code::table_already_exists) {
        failure problem = std::move(created).as_failure();
        if (problem.error().effect != effect::unknown) {
            outcome_.emplace(std::move(problem));
        } else {
            repeat(phase::insert, std::move(problem), now);
        }
    }
}

ENTITABLE_DECL void once_operation::repeat(phase with, failure beaten, steady_time now) {
    phase_ = with;
    if (++beaten_ >= again_.most) {
        beaten.error().attempts = beaten_;
        outcome_.emplace(std::move(beaten));
        return;
    }
    bool const first = with == phase::create || (beaten_ == 1 && with == phase::read); // an ordinary step
    because_ = beaten.error().effect == effect::unknown ? wait_cause::back_off : wait_cause::contention;
    auto const wait = first ? std::chrono::nanoseconds{0} : again_.delays.delay(beaten_, again_.random.unit());
    not_before_ = now + std::chrono::duration_cast<steady_time::duration>(wait);
}

} // namespace detail
ENTITABLE_END_NAMESPACE
