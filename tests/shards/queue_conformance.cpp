// SPDX-License-Identifier: MIT
// Copyright (c) 2026 the entitable authors

// The suite of all queues on `table_queue` over shards by ranges that move, are split and merged between the requests of its programs: before a request
// reaches its store, so that it comes too late, or when it was applied, so that its answer does not count.

#include "support/queue_conformance.hpp"

#include "support/around.hpp"
#include "support/maps.hpp"
#include <entitable/memory.hpp>
#include <entitable/messaging.hpp>
#include <entitable/retrying.hpp>
#include <entitable/shards.hpp>
#include <entitable/testing/manual_clock.hpp>

#include <map>
#include <memory>

using namespace entitable;
using namespace entitable_test;
using namespace std::chrono_literals;

namespace {

struct restless_stores {
    testing::manual_clock& time;
    std::size_t each;  ///< after so many requests
    std::size_t phase; ///< the first time after so many
    memory_backend catalogue;
    std::map<std::string, any_transport> stores{};
    std::size_t seen{};
    std::size_t changes{};
    std::int32_t upper{1}; ///< the shard of the lanes from the second one on
    std::optional<std::int32_t> third{};
    bool busy{};

    [[nodiscard]] any_transport store(std::string_view name) {
        local_options by_clock;
        by_clock.time = &time;
        return stores.emplace(name, any_transport{memory_backend{by_clock}}).first->second;
    }
    [[nodiscard]] sharded open(store_opener const& opener) {
        return cloud_of(
            catalogue, "shardmap", virtual_shards::ranges({"lane001"}), {"alpha", "beta"}, {1ms, &time}, opener);
    }
    [[nodiscard]] any_transport watched(std::string_view name) {
        auto const hook = [this](bool behind) {
            return [this, behind](std::string_view, bool) {
                if (!busy && (behind ? seen : ++seen) % each == phase && (changes % 2 == 0) == behind) { change(); }
            };
        };
        return any_transport{around{store(name), hook(false), hook(true)}};
    }
    /// The next one of some moves, splits and merges.
    void change() {
        busy = true;
        sharded const mover = open([this](std::string_view name) -> result<any_transport> { return store(name); });
        move_options how;
        how.time = &time;
        how.short_lease = 1ms;
        std::string const to = "store" + std::to_string(changes);
        switch (changes++ % 4) {
            case 0: plan_move(mover, 0, to, how).value().run().value(); break;
            case 1: third = split_shard(mover, upper, "lane002").value(); break;
            case 2: plan_move(mover, *third, to, how).value().run().value(); break;
            default: plan_merge(mover, upper, *third, to, how).value().run().value(); break;
        }
        busy = false;
    }
};

queue_world<table_queue<errand>> over(std::shared_ptr<restless_stores> const& all, testing::manual_clock& time) {
    all->busy = true;
    auto const through = [all, &time](std::uint64_t seed) {
        retrying_options patience;
        patience.operation_rows = true;
        patience.policy = retry_policy::fixed(8, 1ms);
        patience.quota = 0;
        patience.time = &time;
        patience.seed = seed;
        return any_transport{retrying{any_transport{all->open([all](std::string_view name) -> result<any_transport> {
                                          return all->watched(name);
                                      })},
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
            return dead.size() == 1 ? dead[0].id + ": " + dead[0].why : std::to_string(dead.size());
        },
        &time,
        [through, how](entitable::clock& own) {
            queue_options with = how;
            with.time = &own;
            return table_queue<errand>{through(2), "errands", with};
        }};
}

} // namespace

TEST_CASE("message_queue: table_queue over shards that move, are split and merged between its requests") {
    std::size_t const phase = GENERATE(0U, 1U, 2U, 3U, 4U);
    testing::manual_clock time;
    std::size_t changes = 0;
    std::vector<std::shared_ptr<restless_stores>> worlds;
    check_message_queue<table_queue<errand>>([&] {
        worlds.push_back(std::make_shared<restless_stores>(restless_stores{time, 5, phase, {}}));
        return over(worlds.back(), time);
    });
    for (auto const& each : worlds) { changes += each->changes; }
    CHECK(changes > 0);
}
