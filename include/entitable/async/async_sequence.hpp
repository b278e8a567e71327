// SPDX-License-Identifier: MIT
// Copyright (c) 2026 the entitable authors
#pragma once

/// \file
/// `async_sequence`: a sequence whose numbers are awaited.

#include <entitable/async/awaited.hpp>
#include <entitable/async/semaphore.hpp>
#include <entitable/async/task.hpp>
#include <entitable/core/random_seed.hpp>
#include <entitable/core/try.hpp>
#if !defined(ENTITABLE_IMPORTED)
#include <entitable/work/sequence/sequence.hpp>
#endif

ENTITABLE_BEGIN_NAMESPACE

/// A `sequence` in a loop: the same guarantees, errors, row and operation. `options.time` has no effect: the loop has a clock. Tasks
/// take turns. Copies are cheap and share the block; a move copies. The loop must outlive the sequence.
///
/// Thread safety: only the loop's thread. A child of `fork` must not use it.
class async_sequence {
public:
    /// Counts in the row named `counted`. Sends nothing yet.
    async_sequence(event_loop& loop, any_store through, std::string counted, sequence_options options = {})
        : at_(shared<state>::make(loop, std::move(through), std::move(counted), std::move(options))) {}

    async_sequence(async_sequence const&) = default;            ///< copies and moves share the block
    async_sequence& operator=(async_sequence const&) = default; ///< copies and moves share the block
    ~async_sequence() = default;

    /// Like `sequence::next`.
    [[nodiscard]] task<result<sequence_number>> next() const { return next_of(at_); }
    /// Like `sequence::reserve`.
    [[nodiscard]] task<result<number_block>> reserve(std::uint32_t count) const { return reserve_of(at_, count); }

private:
    struct state : counted {
        state(event_loop& loop, any_store through, std::string name, sequence_options how)
            : options(std::move(how)),
              counter{options.table, options.partition_key, std::move(name), options.start, options.step,
                  options.value_type},
              random(options.seed ? *options.seed : random_seed()),
              usable(detail::check_sequence(options)),
              turn(loop, 1) {
            call_options calls = options.calls;
            calls.location = read_location::primary;
            place = shared<detail::async_place>::make(loop.core(), std::move(through), options.table, std::move(calls));
        }

        sequence_options options;
        detail::counter_row counter;
        random_source random;
        result<void> usable;
        shared<detail::async_place> place;
        async_semaphore turn; ///< one task counts at a time, because concurrent tasks would only conflict
        number_block block{};
        std::uint32_t given{}; ///< numbers taken from the block
    };
    struct taking { // not a lambda, because GCC 12 gives lambdas of a coroutine no linkage
        state* of;
        std::uint32_t count;

        detail::reservation operator()() const {
            return detail::reserve_numbers(
                of->counter, count, of->options.max_attempts, of->options.delays, of->random);
        }
    };

    static task<result<number_block>> take(shared<state> at, std::uint32_t count) {
        taking const make{at.get(), count};
        ENTITABLE_CO_TRY(detail::reserved const taken, co_await awaited<detail::reservation>(at->place, make));
        co_return number_block{taken.first, at->options.step, count, taken.attempts};
    }
    static task<result<number_block>> reserve_of(shared<state> at, std::uint32_t count) {
        if (!at->usable) { co_return failure{at->usable.error()}; }
        if (count == 0) { co_return failure{error_code::out_of_range_input, "the block size must be at least 1"}; }
        ENTITABLE_CO_TRY(auto const permit, co_await at->turn.acquire());
        co_return co_await take(at, count);
    }
    static task<result<sequence_number>> next_of(shared<state> at) {
        if (!at->usable) { co_return failure{at->usable.error()}; }
        ENTITABLE_CO_TRY(auto const permit, co_await at->turn.acquire());
        if (at->given < at->block.count) { co_return sequence_number{at->block[at->given++], 0}; }
        ENTITABLE_CO_TRY(number_block const taken, co_await take(at, at->options.block));
        at->block = taken;
        at->given = 1;
        co_return sequence_number{taken.first, taken.attempts};
    }

    shared<state> at_;
};

ENTITABLE_END_NAMESPACE
