// SPDX-License-Identifier: MIT
// Copyright (c) 2026 the entitable authors

// The suite of all queues on `table_queue` over shards by ranges that move, are split and merged between the requests of its programs: before a request
// reaches its store, so that it comes too late, or when it was applied, so that its answer does not count.

#include "support/queue_conformance.hpp"

#include "support/long.hpp"
#include "support/restless_stores.hpp"
#include <entitable/messaging.hpp>
#include <entitable/retrying.hpp>
#include <entitable/testing/manual_clock.hpp>

#include <memory>

using namespace entitable;
using namespace entitable_test;
using namespace std::chrono_literals;

namespace {

queue_world<table_queue<errand>> over(std::shared_ptr<restless_stores> const& all, testing::manual_clock& time) {
    all->busy = true;
    auto const through = [all, &time](std::uint64_t seed) {
        retrying_options patience;
        patience.operation_rows = true;
        patience.policy = retry_policy::fixed(8, 1ms);
        patience.quota = 0;
        patience.time = &time;
        patience.seed = seed;
        return any_store{retrying{
            any_store{all->open([all](std::string_view name) -> result<any_store> { return all->watched(name); })},
            patience}};
    };
    queue_options how;
    how.lanes = 3;
    how.visibility = 4s;
    how.max_deliveries = 3;
    how.time = &time;
    table_queue<errand> const queue{through(1), "errands", how};
    queue.create().value();
    all->busy = false;
    return {queue, [&time](std::chrono::nanoseconds by) { time.advance(by); },
        [](table_queue<errand> const& of) {
            auto const dead = of.dead_letters().value();
            return dead.size() == 1 ? dead[0].id + ": " + dead[0].reason : std::to_string(dead.size());
        },
        &time,
        [through, how, seed = std::make_shared<std::uint64_t>(1)](entitable::clock& own) {
            queue_options with = how;
            with.time = &own;
            return table_queue<errand>{through(++*seed), "errands", with}; // ids of operations are drawn from it
        }};
}

} // namespace

TEST_CASE("message_queue: table_queue over shards that move, are split and merged between its requests") {
    std::size_t const phase = GENERATE(0U, 3U, 1U, 2U, 4U);
    if (phase != 0 && phase != 3 && rounds(0, 1, 1) == 0) { return; }
    testing::manual_clock time;
    static std::size_t changes = 0; // of all sections
    std::vector<std::shared_ptr<restless_stores>> worlds;
    check_message_queue<table_queue<errand>>([&] {
        worlds.push_back(std::make_shared<restless_stores>(restless_stores{time, 5, phase, {}}));
        return over(worlds.back(), time);
    });
    for (auto const& each : worlds) { changes += each->changes; }
    CHECK(changes > 0);
}
