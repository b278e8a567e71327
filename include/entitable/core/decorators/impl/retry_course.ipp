// SPDX-License-Identifier: MIT
// Copyright (c) 2026 the entitable authors
#pragma once

#include <entitable/core/decorators/detail/retry_course.hpp>
#include <entitable/core/detail/hexadecimal.hpp>
#include <entitable/core/process.hpp>
#include <entitable/core/random_seed.hpp>
#include <entitable/core/text.hpp>

ENTITABLE_BEGIN_NAMESPACE
namespace detail {

ENTITABLE_DECL retry_ledger::retry_ledger(
    retry_policy const& policy, std::uint32_t quota, std::uint64_t seed, repeats which)
    : policy_(policy),
      usable_(policy.validate()),
      full_(std::int64_t{quota} * cost),
      purse_(full_),
      random_(seed),
      repeats_(which),
      own_(random_.bits()),
      forks_(platform::forks()) {}

ENTITABLE_DECL bool retry_ledger::spend() noexcept {
    if (full_ == 0) { return true; }
    std::int64_t held = purse_.load(memory_order::relaxed);
    while (held >= cost) {
        if (purse_.compare_exchange_weak(held, held - cost, memory_order::relaxed, memory_order::relaxed)) {
            return true;
        }
    }
    return false;
}

ENTITABLE_DECL std::string retry_ledger::new_operation_id() {
    // A forked child has a copy of the parent's random state. Concurrent threads may each draw a new start here; each of them is valid.
    if (std::uint64_t const here = platform::forks(); forks_.load(memory_order::acquire) != here) {
        own_.store(random_seed(), memory_order::relaxed);
        forks_.store(here, memory_order::release);
    }
    std::string id;
    append_hexadecimal(id, own_.load(memory_order::relaxed));
    append_hexadecimal(id, random_.bits());
    return id;
}

ENTITABLE_DECL void retry_course::close(error& problem, effect left) const {
    problem.effect = left;
    problem.attempts = attempts_;
}

ENTITABLE_DECL bool retry_course::goes_on(error& problem, steady_time now) {
    retry_policy const& policy = ledger_->policy();
    auto const enough = [&](std::string_view why) {
        problem.message += text::joined({"; gave up after attempt ", std::to_string(attempts_), ": ", why});
        return false;
    };
    if (attempts_ >= policy.max_attempts) {
        return policy.max_attempts > 1 ? enough("the retry policy allows no more attempts") : false;
    }
    std::chrono::nanoseconds wait = policy.delays.delay(attempts_, ledger_->random().unit());
    because_ = wait_cause::back_off;
    if (problem.retry_after && problem.retry_after->count() > 0) {
        // Compared in milliseconds: a delay of a century overflows nanoseconds.
        auto const longest = std::chrono::duration_cast<std::chrono::milliseconds>(policy.longest_wish);
        std::chrono::nanoseconds const wish =
            *problem.retry_after < longest ? *problem.retry_after : policy.longest_wish;
        if (wish > wait) {
            wait = wish;
            because_ = wait_cause::retry_after;
        }
    }
    if (deadline_ != no_deadline && wait >= deadline_ - now) {
        return enough("the next attempt would start after the deadline of the call");
    }
    if (!ledger_->spend()) { return enough("the retry quota is spent"); }
    wakes_at_ = now + std::chrono::duration_cast<steady_time::duration>(wait);
    return true;
}

ENTITABLE_DECL retry_course::move retry_course::after(error& problem, steady_time now, refused_at where) {
    ++attempts_;
    bool const lost_before = lost_;
    bool const keeps_row =
        kind_ == request_kind::batch_with_operation || kind_ == request_kind::merging_batch_with_operation;
    // A write that finds its own operation row was applied before, even if no response was lost here.
    bool const meets_row = keeps_row && where == refused_at::operation_row;
    lost_ = lost_ || meets_row || problem.effect == effect::unknown;
    effect const left = lost_ ? effect::unknown : effect::none;
    if (meets_row) { return move::look_up; }
    if (worth_retrying(problem)) {
        bool const may_repeat = ledger_->repeats_lost_writes() || keeps_row || left != effect::unknown;
        if (may_repeat && goes_on(problem, now)) { return move::again; }
        close(problem, left);
        return move::fail;
    }
    // A definite response is the outcome, unless it shows something about a lost attempt.
    bool const proves_all = keeps_row && where == refused_at::exact_version;
    conclusion const said = !lost_before || proves_all || problem.effect == effect::unknown
        ? conclusion::as_answered
        : concluded_from(problem, kind_);
    switch (said) {
        case conclusion::success: return move::success;
        case conclusion::compare: return move::compare;
        case conclusion::look_up: return move::look_up;
        case conclusion::settle: return move::settle;
        case conclusion::unknown: close(problem, effect::unknown); break;
        case conclusion::as_answered: close(problem, problem.effect); break;
    }
    return move::fail;
}

ENTITABLE_DECL retry_course::move retry_course::after_reading(error& problem, steady_time now) {
    ++attempts_;
    if (worth_retrying(problem) && goes_on(problem, now)) { return move::again; }
    return move::fail;
}

} // namespace detail
ENTITABLE_END_NAMESPACE
