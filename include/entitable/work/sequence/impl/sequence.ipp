// SPDX-License-Identifier: MIT
// Copyright (c) 2026 the entitable authors
#pragma once

#include <entitable/core/process.hpp>
#include <entitable/core/random_seed.hpp>
#include <entitable/core/transport/run.hpp>
#include <entitable/core/try.hpp>
#include <entitable/work/sequence/sequence.hpp>

ENTITABLE_BEGIN_NAMESPACE
namespace detail {

ENTITABLE_DECL result<void> check_sequence(sequence_options const& options) {
    char const* const wrong = options.start < 0 ? "the start of the sequence must not be negative"
        : options.step < 1                      ? "the step of the sequence must be at least 1"
        : options.block < 1                     ? "the block size of the sequence must be at least 1"
        : options.max_attempts < 1              ? "max_attempts of the sequence must be at least 1"
                                                : nullptr;
    if (wrong != nullptr) { return failure{error_code::out_of_range_input, wrong}; }
    return options.delays.validate();
}

} // namespace detail

ENTITABLE_DECL sequence::state::state(any_store below, sequence_options how, std::string name)
    : through(std::move(below)),
      options(std::move(how)),
      counter{options.table, options.partition_key, std::move(name), options.start, options.step},
      random(options.seed ? *options.seed : random_seed()),
      usable(detail::check_sequence(options)),
      now(new turns{platform::forks()}) {}

ENTITABLE_DECL sequence::state::~state() {
    for (turns* each = now.load(memory_order::acquire); each != nullptr;) {
        delete std::exchange(each, each->of_parent);
    }
}

/// Returns the turns of this process, made at its first call.
ENTITABLE_DECL sequence::turns& sequence::state::own_turns() {
    turns* found = now.load(memory_order::acquire);
    std::uint64_t const here = platform::forks();
    if (found->forks == here) { return *found; }
    auto* const made = new turns{here, found};
    if (now.compare_exchange_strong(found, made, memory_order::acq_rel, memory_order::acquire)) { return *made; }
    delete made; // another thread came first
    return *found;
}

ENTITABLE_DECL result<number_block> sequence::state::take(std::uint32_t count) {
    call context{options.calls, *options.time};
    context.location = read_location::primary;
    auto taking = detail::reserve_numbers(counter, count, options.max_attempts, options.delays, random);
    ENTITABLE_TRY(auto taken, run(taking, context, *options.time, through));
    return number_block{taken.first, options.step, count, taken.attempts};
}

ENTITABLE_DECL sequence::sequence(any_store through, std::string counted, sequence_options options)
    : state_(shared<state>::make(std::move(through), std::move(options), std::move(counted))) {}

ENTITABLE_DECL result<number_block> sequence::reserve(std::uint32_t count) const {
    if (!state_) { return detail::moved_from("sequence"); }
    if (!state_->usable) { return failure{state_->usable.error()}; }
    if (count == 0) { return failure{error_code::out_of_range_input, "the block size must be at least 1"}; }
    std::lock_guard const guard{state_->own_turns().turn};
    return state_->take(count);
}

ENTITABLE_DECL result<sequence_number> sequence::next() const {
    if (!state_) { return detail::moved_from("sequence"); }
    if (!state_->usable) { return failure{state_->usable.error()}; }
    turns& own = state_->own_turns();
    std::lock_guard const guard{own.turn};
    if (own.given < own.block.count) { return sequence_number{own.block[own.given++], 0}; }
    ENTITABLE_TRY(auto taken, state_->take(state_->options.block));
    own.block = taken;
    own.given = 1;
    return sequence_number{taken.first, taken.attempts};
}

ENTITABLE_END_NAMESPACE
