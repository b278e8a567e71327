// SPDX-License-Identifier: MIT
// Copyright (c) 2026 the entitable authors

// Regions and maintenance windows of stores: their stored form, and what plans and reference tables make of them.

#include "fleets.hpp"
#include "support/catch.hpp"

#include <algorithm>
#include <map>
#include <set>

using namespace entitable;
using namespace entitable_test;
using namespace fleets;
using namespace std::chrono_literals;

namespace store_attributes_test {

date_time utc(std::string const& text) { return date_time::parse(text).value(); }

struct rate {
    std::string code;
    std::int32_t cents{};
};
ENTITABLE(rate, partition_key(code), row_key(literal("rate")), properties(cents))

/// The stores of all shards.
std::map<std::int32_t, std::string> places_of(sharded const& cloud) {
    std::map<std::int32_t, std::string> made;
    auto const map = cloud.map().state().fresh({}).value();
    for (auto const& each : map->places) { made[each.row.shard] = each.row.store; }
    return made;
}
std::map<std::string, int> counts_of(sharded const& cloud) {
    std::map<std::string, int> made;
    for (auto const& [shard, store] : places_of(cloud)) { ++made[store]; }
    return made;
}

} // namespace store_attributes_test

using namespace store_attributes_test;

TEST_CASE("attributes: a window contains its minutes in UTC, over midnight and the end of the week") {
    // 2026-11-22 was a Sunday.
    maintenance_window const night{window_day::sunday, 23h, 2h};
    CHECK_FALSE(night.contains(utc("2026-11-22T22:59:59Z")));
    CHECK(night.contains(utc("2026-11-22T23:00:00Z")));
    CHECK(night.contains(utc("2026-11-23T00:59:59Z")));
    CHECK_FALSE(night.contains(utc("2026-11-23T01:00:00Z")));
    CHECK_FALSE(night.contains(utc("2026-11-24T00:30:00Z")));
    CHECK(night.contains(utc("2026-11-29T23:30:00Z")));
    maintenance_window const daily{window_day::daily, 23h + 30min, 1h};
    for (char const* day : {"22", "23", "24"}) {
        CHECK(daily.contains(utc("2026-11-" + std::string{day} + "T23:45:00Z")));
        CHECK(daily.contains(utc("2026-11-" + std::string{day} + "T00:29:59Z")));
        CHECK_FALSE(daily.contains(utc("2026-11-" + std::string{day} + "T00:30:00Z")));
        CHECK_FALSE(daily.contains(utc("2026-11-" + std::string{day} + "T23:29:59Z")));
    }
    maintenance_window const always{window_day::wednesday, 0h, std::chrono::minutes{7 * 24 * 60}};
    CHECK(always.contains(utc("2026-11-24T23:59:59Z")));
    CHECK(always.contains(utc("1601-01-01T00:00:00Z")));
    CHECK(maintenance_window{window_day::monday, 0h, 1min}.contains(utc("1601-01-01T00:00:30Z")));
    CHECK_FALSE(maintenance_window{window_day::daily, 0h, 0min}.good());
    CHECK_FALSE(maintenance_window{window_day::daily, 24h, 1min}.good());
    CHECK_FALSE(maintenance_window{window_day::daily, 0h, 1441min}.good());
    CHECK_FALSE(maintenance_window{window_day::monday, -1min, 1min}.good());
}

TEST_CASE("attributes: are stored as documented, replaced and removed, and leave the map as it was") {
    world const all;
    auto const cloud = all.open(virtual_shards{6});
    CHECK(attributes_of(cloud.map()).value().all().empty());
    auto const east = store_attributes::of(
        "alpha", "germanywestcentral", {{window_day::sunday, 1h, 4h}, {window_day::daily, 23h + 30min, 1h}});
    CHECK(east.windows == "sun 01:00 240;daily 23:30 60");
    put_attributes(cloud.map(), east).value();
    put_attributes(cloud.map(), store_attributes::of("beta", "northeurope")).value();
    // The row as stored: golden values.
    call context;
    auto const row = any_store{all.catalogue}.execute(get_entity{"shardmap", "map", "attributesalpha", {}}, context);
    REQUIRE(row);
    auto const read = attributes_of(cloud.map()).value();
    REQUIRE(read.all().size() == 2);
    CHECK(read.all()[0].windows == "sun 01:00 240;daily 23:30 60");
    CHECK(read.all()[0].maintenance()->size() == 2);
    CHECK(read.all()[0].maintenance()->front().length == 4h);
    CHECK(read.region_of("alpha") == "germanywestcentral");
    CHECK(read.region_of("gamma").empty());
    CHECK(read.stores_in("northeurope") == std::vector<std::string>{"beta"});
    CHECK(read.in_maintenance("alpha", utc("2026-11-22T02:00:00Z")));
    CHECK_FALSE(read.in_maintenance("beta", utc("2026-11-22T02:00:00Z")));
    CHECK(cloud.map().to_string()); // who knows no attributes reads the map as before
    CHECK(rules_of(cloud.map()).value().all().empty());
    put_attributes(cloud.map(), store_attributes::of("alpha", "")).value();
    CHECK(attributes_of(cloud.map()).value().all()[0].windows.empty());
    remove_attributes(cloud.map(), "alpha").value();
    CHECK(remove_attributes(cloud.map(), "alpha").error().code == error_code::resource_not_found);
    for (char const* windows : {"sun", "sun 1:00 60", "sun 25:00 60", "sun 01:60 60", "xxx 01:00 60", "sun 01:00 0",
             "sun 01:00 10081", "daily 01:00 1441", ";", "sun 01:00 60;", "sun 01:00 -1", "SUN 01:00 60"}) {
        CAPTURE(windows);
        store_attributes wrong;
        wrong.store = "alpha";
        wrong.windows = windows;
        bool const trailing = std::string_view{windows} == "sun 01:00 60;"; // an empty rest is nothing
        CHECK(put_attributes(cloud.map(), wrong).has_value() == trailing);
    }
    CHECK(put_attributes(cloud.map(), store_attributes::of("a/b", "x")).error().code == error_code::invalid_input);
    CHECK(put_attributes(cloud.map(), store_attributes::of("alpha", "a b")).error().code == error_code::invalid_input);
    CHECK(
        put_attributes(cloud.map(), store_attributes::of("alpha", "x", {{window_day::daily, 0h, 0min}})).error().code ==
        error_code::invalid_input);
}

TEST_CASE("attributes: a store within its window neither gets nor loses a shard, when planned and when run") {
    world const all;
    testing::manual_clock time{utc("2026-11-22T02:00:00Z")};
    auto const cloud = all.open(virtual_shards{12});
    fleet const stores{cloud, {.stores = {"delta"}, .time = &time}};
    auto const items = fill(cloud);
    std::vector<maintenance_window> const sunday{{window_day::sunday, 1h, 4h}};
    put_attributes(cloud.map(), store_attributes::of("alpha", "", sunday)).value();
    auto const plan = plan_rebalance(stores).value();
    CHECK(plan.maintained == std::vector<std::string>{"alpha"});
    CHECK(plan.total == 12);
    CHECK_FALSE(plan.moves.empty());
    for (planned_move const& each : plan.moves) { CHECK((each.source != "alpha" && each.target != "alpha")); }
    CHECK(plan.to_string().find("the store alpha is in a maintenance window: no moves") != std::string::npos);
    auto const done = plan.run().value();
    CHECK(done.moved == plan.moves.size());
    auto const between = counts_of(cloud);
    CHECK(between.at("alpha") == 4);
    CHECK(between.at("beta") + between.at("gamma") + between.at("delta") == 8);

    // A new store is in its window when the plan runs, and not when it is made.
    time.advance(12h);
    auto const later = plan_rebalance(stores).value();
    REQUIRE(later.maintained.empty());
    REQUIRE_FALSE(later.moves.empty());
    std::string const target = later.moves[0].target;
    put_attributes(cloud.map(), store_attributes::of(target, "", {{window_day::sunday, 13h, 4h}})).value();
    auto const places = places_of(cloud);
    auto const waited = later.run().value();
    CHECK(waited.postponed > 0);
    CHECK(waited.postponed + waited.moved == later.moves.size());
    for (auto const& [shard, store] : places_of(cloud)) {
        if (places.at(shard) != store) { CHECK((places.at(shard) != target && store != target)); }
    }
    time.advance(6h);
    auto const rest = later.run().value(); // the same plan continues
    CHECK(rest.moved == waited.postponed);
    CHECK(rest.postponed == 0);
    for (auto const& [store, count] : counts_of(cloud)) { CHECK(count == 3); }
    CHECK(items.scan_table().count().value() == 120);

    // A store is not emptied within its window; a shard whose only stores are in their windows waits.
    time.advance(7 * 24h);
    put_attributes(cloud.map(), store_attributes::of("beta", "", {{window_day::daily, 0h, 24h}})).value();
    CHECK(plan_drain(stores, "beta").value().moves.empty());
    std::int32_t const elsewhere = [&] {
        for (auto const& [shard, store] : places_of(cloud)) {
            if (store == "gamma") { return shard; }
        }
        return -1;
    }();
    put_rule(cloud.map(), placement_rule::only("by law", {elsewhere}, {"beta"})).value();
    auto const waiting = plan_rebalance(stores).value();
    for (planned_move const& each : waiting.moves) { CHECK(each.shard != elsewhere); }
    for (char const* each : {"alpha", "gamma", "delta"}) {
        put_attributes(cloud.map(), store_attributes::of(each, "", {{window_day::daily, 0h, 24h}})).value();
    }
    auto const none = plan_rebalance(stores).value();
    CHECK(none.moves.empty());
    CHECK(none.maintained.size() == 4);
    CHECK(none.run().value().moved == 0);
    remove_attributes(cloud.map(), "beta").value();
    CHECK(plan_rebalance(stores).value().moves.empty()); // the shard's store is in its window: it does not lose it
}

TEST_CASE("attributes: shards stay in their region if it can be balanced, and cross the border only for the balance") {
    world const all;
    auto const cloud = all.open(virtual_shards{12}, {"eu1", "us1"});
    fleet const stores{cloud, {.stores = {"eu2", "us2"}}};
    for (char const* each : {"eu1", "eu2", "us1", "us2"}) {
        put_attributes(cloud.map(), store_attributes::of(each, std::string{each}.substr(0, 2))).value();
    }
    auto const plan = plan_rebalance(stores).value();
    CHECK(plan.moves.size() == 6);
    CHECK(plan.after <= 1.05);
    for (planned_move const& each : plan.moves) {
        CHECK(each.source.substr(0, 2) == each.target.substr(0, 2));
        CHECK_FALSE(each.across_regions);
    }
    // A region with one store more: two shards must cross.
    fleet const wide{cloud, {.stores = {"eu2", "us2", "us3", "us4"}}};
    for (char const* each : {"us3", "us4"}) { put_attributes(cloud.map(), store_attributes::of(each, "us")).value(); }
    auto const crossing = plan_rebalance(wide).value();
    CHECK(crossing.after <= 1.05);
    auto const crossed = std::count_if(
        crossing.moves.begin(), crossing.moves.end(), [](planned_move const& each) { return each.across_regions; });
    CHECK(crossed == 2); // of the six of eu1, two each for eu1 and eu2
    CHECK(crossing.to_string().find(" in another region\n") != std::string::npos);
    auto const within = plan_rebalance(wide, {.across_regions = false}).value();
    for (planned_move const& each : within.moves) { CHECK_FALSE(each.across_regions); }
    CHECK(within.after > 1.05);
    // A store is emptied into its own region.
    auto const emptied = plan_drain(wide, "us1").value();
    CHECK(emptied.moves.size() == 6);
    for (planned_move const& each : emptied.moves) { CHECK(each.target.starts_with("us")); }
    // Where its region has no other store, a shard that must go crosses, unless that is forbidden.
    fleet const alone{cloud};
    auto const leaving = plan_drain(alone, "eu1").value();
    CHECK(leaving.moves.size() == 6);
    for (planned_move const& each : leaving.moves) { CHECK(each.across_regions); }
    CHECK(plan_drain(alone, "eu1", {.across_regions = false}).error().code == error_code::placement_forbidden);
    // An unknown region is no border.
    remove_attributes(cloud.map(), "us1").value();
    auto const unknown = plan_drain(alone, "eu1").value();
    for (planned_move const& each : unknown.moves) { CHECK_FALSE(each.across_regions); }
}

TEST_CASE("attributes: the nearest copy of a reference table is that of the first region that has one") {
    world const all;
    testing::manual_clock time{utc("2026-11-22T02:00:00Z")};
    auto const cloud = all.open(virtual_shards{6});
    fleet const stores{cloud, {.time = &time}};
    memory_backend const home;
    reference_table<rate> const rates{stores, "rates", home};
    rates.source().create().value();
    rates.source().insert({"EUR", 108}).value();
    CHECK(rates.nearest({"north"}).error().code == error_code::reference_missing);
    rates.publish().value().whole().value();
    put_attributes(cloud.map(), store_attributes::of("alpha", "south")).value();
    put_attributes(cloud.map(), store_attributes::of("beta", "north", {{window_day::sunday, 1h, 4h}})).value();
    put_attributes(cloud.map(), store_attributes::of("gamma", "north")).value();
    auto const sorted = [&](std::vector<std::string> const& regions) {
        return attributes_of(cloud.map())
            .value()
            .nearest_first({"alpha", "beta", "gamma", "none"}, regions, time.now());
    };
    using names = std::vector<std::string>;
    CHECK(sorted({"north", "south"}) == names{"gamma", "beta", "alpha", "none"});
    CHECK(sorted({"south"}) == names{"alpha", "gamma", "none", "beta"});
    CHECK(sorted({}) == names{"alpha", "gamma", "none", "beta"});
    CHECK(sorted({""}) == names{"alpha", "gamma", "none", "beta"}); // an unknown region is no region
    CHECK(rates.nearest({"north", "south"})->get("EUR")->value.cents == 108);
    // The nearest store does not respond: the next one serves.
    all.store("gamma").plan({testing::fault::refused(), 1, "get_entity"});
    std::size_t const before = all.store("beta").requests();
    CHECK(rates.nearest({"north", "south"})->get("EUR")->value.cents == 108);
    CHECK(all.store("beta").requests() == before + 2); // the pointer and the row
}
