// SPDX-License-Identifier: MIT
// Copyright (c) 2026 the entitable authors

// The load of shards and stores, from counters of the stores, and a rebalance by it. The requests are counted apart, by their keys.

#include "fleets.hpp"
#include "support/catch.hpp"
#include <entitable/shards/fleet/shard_load.hpp>

#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <vector>

using namespace entitable;
using namespace entitable_test;
using namespace fleets;

namespace shard_load_test {

/// Stores in memory, each below counters.
struct counted_world {
    memory_backend catalogue;
    std::shared_ptr<std::map<std::string, metered<any_store>, std::less<>>> stores =
        std::make_shared<std::map<std::string, metered<any_store>, std::less<>>>();

    [[nodiscard]] sharded open(virtual_shards shards, std::vector<std::string> const& names) const {
        return entitable_test::cloud_of(catalogue, "shardmap", shards, names,
            lookup_map_options{std::chrono::milliseconds{0}},
            [all = stores](std::string_view name) -> result<any_store> {
                auto const at = all->find(name);
                return any_store{at != all->end()
                        ? at->second
                        : all->emplace(std::string{name}, metered<any_store>{any_store{memory_backend{}}, {}})
                              .first->second};
            });
    }
    [[nodiscard]] std::vector<store_traffic> counted() const {
        std::vector<store_traffic> made;
        for (auto const& [name, store] : *stores) { made.push_back({name, store.counted()}); }
        return made;
    }
    void clear() const {
        for (auto const& [name, store] : *stores) { store.clear(); }
    }
};

} // namespace shard_load_test

using namespace shard_load_test;

TEST_CASE("requests are counted for the shard of their partition, and a rebalance evens them") {
    counted_world const all;
    virtual_shards const shards{12};
    auto const cloud = all.open(shards, {"alpha", "beta", "gamma"});
    auto const items = fill(cloud);
    fleet const stores{cloud};
    all.clear();

    // Shards of one store get ten times as many reads.
    auto const map = cloud.map().state().fresh({}).value();
    std::map<std::int32_t, double> by_hand;
    double sum = 0;
    for (std::int32_t number = 0; number < 120; ++number) {
        std::string const group = "g" + std::to_string(number % 40);
        auto const shard = static_cast<std::int32_t>(shards.shard_of(group).value());
        bool const hot = map->places[static_cast<std::size_t>(shard)].row.store == "beta";
        for (int times = 0; times < (hot ? 10 : 1); ++times) {
            items.get(group, number).value();
            by_hand[shard] += 1;
            sum += 1;
        }
    }
    fleet_load const load = load_of(stores, all.counted()).value();
    INFO(load.to_string());
    double in_stores = 0;
    for (std::int32_t shard = 0; shard < 12; ++shard) { CHECK(load(shard) == by_hand[shard]); }
    for (counted_load const& each : load.stores) {
        double expected = 0;
        for (auto const& [shard, count] : by_hand) {
            expected += map->places[static_cast<std::size_t>(shard)].row.store == each.store ? count : 0;
        }
        CHECK(each.operations >= expected); // and requests of the store's own rows
        in_stores += expected;
    }
    CHECK(in_stores == sum);
    CHECK(load(99) == 0);

    auto const plan = plan_rebalance(stores, {.by = balance_by::load, .threshold = 1.3, .load = load}).value();
    CHECK(plan.total == sum);
    CHECK(plan.before > 2);
    CHECK(plan.after < plan.before);
    CHECK_FALSE(plan.moves.empty());
    plan.run().value();

    // What a shard got in its earlier store still counts for it.
    fleet_load const later = load_of(stores, all.counted()).value();
    for (planned_move const& each : plan.moves) { CHECK(later(each.shard) >= by_hand[each.shard]); }
}

TEST_CASE("failed requests, scans and requests without a line of their own") {
    counted_world const all;
    auto const cloud = all.open(virtual_shards{4}, {"alpha", "beta"});
    auto const items = fill(cloud, 20);
    fleet const stores{cloud};
    all.clear();
    CHECK_FALSE(items.get("g1", 999).has_value());
    CHECK(items.scan_table().count().value() == 20);
    fleet_load const load = load_of(stores, all.counted()).value();
    double errors = 0;
    for (counted_load const& each : load.shards) {
        errors += each.errors;
        CHECK(each.operations >= 1); // the scan asks each shard
    }
    CHECK(errors == 1);

    CHECK(load_of(stores, {}).value().shards.size() == 4);
    CHECK(load_of(stores, {}).value()(0) == 0);
    CHECK(load_of(stores, {{"alpha", {}}, {"alpha", {}}}).error().code == error_code::invalid_input);
    traffic rest;
    rest.operations = 7;
    CHECK(load_of(stores, {{"alpha", {rest}}}).value().unassigned == 7);
}

TEST_CASE("ranges that share a table after a split are distinguished by partition") {
    counted_world const all;
    auto const cloud = all.open(virtual_shards::ranges({}), {"alpha"});
    auto const items = fill(cloud, 40);
    fleet const stores{cloud};
    auto const upper = split_shard(cloud, 0, "g20").value();
    all.clear();
    for (int times = 0; times < 5; ++times) { items.get("g0", 0).value(); }
    for (int times = 0; times < 3; ++times) { items.get("g30", 30).value(); }
    fleet_load const load = load_of(stores, all.counted()).value();
    INFO(load.to_string());
    CHECK(load(0) == 5);
    CHECK(load(upper) == 3);
}
