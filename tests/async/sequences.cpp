// SPDX-License-Identifier: MIT
// Copyright (c) 2026 the entitable authors

// Many tasks of one thread draw numbers.

#include <entitable/async.hpp>
#include <entitable/memory.hpp>
#include <entitable/sequence.hpp>
#include <entitable/testing.hpp>
#include <entitable/testing/manual_clock.hpp>

#include <support/catch.hpp>

#include <algorithm>

using namespace entitable;

namespace {

/// A read whose answer is lost is an error, and the task tries again; a lost write is not an error.
task<result<void>> draw(async_sequence from, int count, std::vector<std::int64_t>& all) {
    for (int drawn = 0; drawn < count;) {
        if (auto const number = co_await from.next()) {
            all.push_back(number->value);
            ++drawn;
        } else if (number.error().code != error_code::transport_failed) {
            co_return failure{number.error()};
        }
        if (auto const block = co_await from.reserve(3)) {
            for (std::uint32_t at = 0; at < block->count; ++at) { all.push_back((*block)[at]); }
        }
    }
    co_return result<void>{};
}

void all_differ(std::vector<std::int64_t> all, std::size_t least) {
    CHECK(all.size() >= least);
    std::sort(all.begin(), all.end());
    CHECK(std::adjacent_find(all.begin(), all.end()) == all.end());
}

} // namespace

TEST_CASE("tasks that draw from two sequences over one row never get the same number, even with lost answers") {
    auto const block = GENERATE(1U, 7U);
    auto const spot = GENERATE(false, true);
    CAPTURE(block, spot);
    memory_backend store;
    testing::manual_clock time;
    testing::faulty<memory_backend> service{store, {.time = &time}};
    service.plan_random(
        block, 100, 400, {testing::fault::lost_before(), testing::fault::lost_after(), testing::fault::half_answer()});
    event_loop loop{{.time = &time, .letters = false}};
    any_store const through = spot ? any_store{store} : any_store{service}; // a store loses no answers
    sequence_options options;
    options.block = block;
    options.seed = 7;
    async_sequence const first{loop, through, "orders", options};
    options.seed = 8;
    async_sequence const second{loop, through, "orders", options};
    std::vector<std::int64_t> all;
    for (int each = 0; each < 10; ++each) { loop.spawn(draw(each % 2 == 0 ? first : second, 20, all)); }
    loop.run();
    if (loop.error()) { FAIL_CHECK(loop.error()->to_string()); }
    all_differ(all, 10 * (20 + 15 * 3));
    // A blocking sequence continues after them.
    auto const behind = sequence{store, "orders"}.next().value().value;
    CHECK(behind > *std::max_element(all.begin(), all.end()));
}

TEST_CASE("an awaited sequence refuses the same arguments as the blocking sequence") {
    event_loop loop;
    sequence_options options;
    options.step = 0;
    CHECK(loop.run(async_sequence{loop, memory_backend{}, "a", options}.next()).error().code ==
        error_code::out_of_range_input);
    CHECK(loop.run(async_sequence{loop, memory_backend{}, "a"}.reserve(0)).error().code ==
        error_code::out_of_range_input);
    CHECK(loop.run(async_sequence{loop, memory_backend{}, "a"}.next()).value().value == 1);
    loop.stop();
    CHECK(loop.run(async_sequence{loop, memory_backend{}, "a"}.next()).error().code == error_code::cancelled);
}
