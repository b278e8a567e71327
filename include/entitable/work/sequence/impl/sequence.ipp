// SPDX-License-Identifier: MIT
// Copyright (c) 2026 the entitable authors
#pragma once

#include <entitable/core/process.hpp>
#include <entitable/core/random_seed.hpp>
#include <entitable/core/request/detail/was_beaten.hpp>
#include <entitable/core/request/sequential_requests.hpp>
#include <entitable/core/text.hpp>
#include <entitable/core/transport/run.hpp>
#include <entitable/core/try.hpp>
#include <entitable/work/sequence/impl/reservation.ipp>
#include <entitable/work/sequence/impl/sequence.ipp>
#include <entitable/work/sequence/sequence.hpp>

#include <algorithm>
#include <limits>

ENTITABLE_BEGIN_NAMESPACE
namespace detail {

ENTITABLE_DECL result<void> check_sequence(sequence_options const& options) {
    constexpr std::int64_t int32_most = (std::numeric_limits<std::int32_t>::max)();
    char const* const wrong = options.start < 0 ? "the start of the sequence must not be negative"
        : options.step < 1                      ? "the step of the sequence must be at least 1"
        : options.block < 1                     ? "the block size of the sequence must be at least 1"
        : options.max_attempts < 1              ? "max_attempts of the sequence must be at least 1"
        : options.value_type != edm_type::int64 && options.value_type != edm_type::int32
        ? "value_type of the sequence must be int64 or int32"
        : options.value_type == edm_type::int32 && (std::max)(options.start, options.step) > int32_most
        ? "the start and the step of an Int32 sequence must not exceed 2,147,483,647"
        : nullptr;
    if (wrong != nullptr) { return failure{error_code::out_of_range_input, wrong}; }
    return options.delays.validate();
}

} // namespace detail

ENTITABLE_DECL sequence::state::state(any_store below, sequence_options how, std::string name)
    : through(std::move(below)),
      options(std::move(how)),
      counter{options.table, options.partition_key, std::move(name), options.start, options.step, options.value_type},
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

ENTITABLE_DECL sharded_sequence::state::state(
    any_store below, std::string name, std::uint32_t shards, sequence_options how)
    : through(std::move(below)),
      options(std::move(how)),
      random(options.seed ? *options.seed : random_seed()),
      usable(detail::check_sequence(options)) {
    if (shards < 2 || shards > 1000) {
        usable = failure{error_code::out_of_range_input, "a sharded sequence must have 2 to 1000 shards"};
        return;
    }
    for (std::uint32_t shard = 0; shard < shards; ++shard) {
        std::string partition = options.partition_key + "__";
        text::append_decimal(partition, shard, 3);
        counters.push_back({options.table, std::move(partition), name, 1, 1, options.value_type,
            static_cast<std::int32_t>(shards), {}});
    }
    counters[0].declared = detail::number_rule{options.start, options.step};
}

ENTITABLE_DECL sharded_sequence::sharded_sequence(
    any_store through, std::string counted, std::uint32_t shards, sequence_options options)
    : state_(shared<state>::make(std::move(through), std::move(counted), shards, std::move(options))) {}

ENTITABLE_DECL result<sequence_number> sharded_sequence::next() const {
    if (!state_) { return detail::moved_from("sequence"); }
    if (!state_->usable) { return failure{state_->usable.error()}; }
    sequence_options const& options = state_->options;
    auto const shards = static_cast<std::int64_t>(state_->counters.size());
    auto const shard = static_cast<std::int64_t>(state_->random.bits() % state_->counters.size());
    call context{options.calls, *options.time};
    context.location = read_location::primary;
    // The first row is read before the others: it reveals a program with a different declaration.
    if (!state_->agreed.load(memory_order::acquire)) {
        auto agreeing =
            detail::reserve_numbers(state_->counters[0], 0, options.max_attempts, options.delays, state_->random);
        if (auto const agreed = run(agreeing, context, *options.time, state_->through); !agreed) {
            return failure{agreed.error()};
        }
        state_->agreed.store(true, memory_order::release);
    }
    auto taking = detail::reserve_numbers(
        state_->counters[static_cast<std::size_t>(shard)], 1, options.max_attempts, options.delays, state_->random);
    ENTITABLE_TRY(auto const taken, run(taking, context, *options.time, state_->through));
    // The k-th number of shard s is number k * shards + s of the whole sequence.
    constexpr std::int64_t most = (std::numeric_limits<std::int64_t>::max)();
    std::int64_t const round = taken.first - 1;
    if (round > (most - shard) / shards || round * shards + shard > (most - options.start) / options.step) {
        return failure{error_code::out_of_range_input, "the sequence is exhausted, and it does not wrap"};
    }
    return sequence_number{options.start + (round * shards + shard) * options.step, taken.attempts};
}

ENTITABLE_DECL result<std::uint64_t> sharded_sequence::total() const {
    if (!state_) { return detail::moved_from("sequence"); }
    if (!state_->usable) { return failure{state_->usable.error()}; }
    call_options calls = state_->options.calls; // options of each request
    calls.location = read_location::primary;
    std::uint64_t sum = 0;
    auto counter = state_->counters.begin();
    auto const reading = [&] { return get_entity{counter->table, counter->partition_key, counter->row_key, {}}; };
    auto const turn = [&](get_entity& asked, result<get_entity::response> read) -> result<bool> {
        if (read) {
            ENTITABLE_TRY(value_view const counted, detail::counted_value(read->entity, *counter));
            sum += static_cast<std::uint64_t>(counted.bits());
        } else if (!detail::is_absent(read)) {
            return std::move(read).as_failure();
        } // if not, this shard has not been used yet
        if (++counter == state_->counters.end()) { return false; }
        asked = reading();
        return true;
    };
    sequential_requests<get_entity> adding{reading(), turn};
    auto added = run(adding, calls, *state_->options.time, state_->through);
    return added ? result<std::uint64_t>{sum} : std::move(added).as_failure();
}

ENTITABLE_END_NAMESPACE
