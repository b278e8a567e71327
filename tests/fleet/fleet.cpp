// SPDX-License-Identifier: MIT
// Copyright (c) 2026 the entitable authors

// An outcome for each store; what is in the stores, and what is not where it belongs.

#include "fleets.hpp"
#include "support/around.hpp"
#include "support/catch.hpp"
#include <entitable/shards/fleet/detail/shard_visits.hpp>
#include <entitable/shards/route/detail/map_stores.hpp>

#include <support/maps.hpp>

#include <set>
#include <stdexcept>

using namespace entitable;
using entitable_test::around;
using namespace fleets;

namespace {

/// A row past the map, into the table of a shard.
void plant(world const& all, sharded const& cloud, std::int32_t shard, row what) {
    auto const map = cloud.map().state().fresh({}).value();
    auto const at = detail::visit_of(*map, map->places.at(static_cast<std::size_t>(shard)));
    call context;
    any_store const there{all.store(at.store)};
    there.execute(write_entity{at.tables.front().stored, mutation::insert(std::move(what))}, context).value();
}

} // namespace

TEST_CASE("fleet: each store has an outcome, and failed stores can be retried") {
    world const all;
    fleet const stores{all.open(virtual_shards{6}), {.in_flight = 3, .stores = {"delta", "closed1"}}};
    CHECK(stores.stores().value() == std::vector<std::string>{"alpha", "beta", "closed1", "delta", "gamma"});
    std::mutex lock;
    std::multiset<std::string> asked;
    bool broken = true;
    auto const body = [&](std::string_view name, any_store const& there) -> result<std::size_t> {
        std::lock_guard<std::mutex> const guard{lock};
        asked.insert(std::string{name});
        if (broken && name == "beta") { return failure{error_code::store_busy, "busy"}; }
        call context;
        auto const tables = there.execute(list_tables{}, context);
        return tables ? result<std::size_t>{tables->tables.size()} : failure{tables.error()};
    };
    auto told = stores.each(body).value();
    CHECK(told.failed() == std::vector<std::string>{"beta", "closed1"});
    CHECK_FALSE(told.good());
    CHECK(told.whole().error().message == "the store beta (2 of 5 stores failed): busy");
    CHECK(told.to_string().find("alpha: done\nbeta: StoreBusy") == 0);
    broken = false;
    stores.resume(told, body);
    CHECK(told.failed() == std::vector<std::string>{"closed1"});
    CHECK(asked == std::multiset<std::string>{"alpha", "beta", "beta", "delta", "gamma"}); // the others once
#if ENTITABLE_HAS_EXCEPTIONS
    auto const throwing = [](std::string_view name, any_store const&) -> result<int> {
        if (name == "beta") { throw std::runtime_error{"mine"}; }
        return 1;
    };
    CHECK_THROWS_AS(stores.each(throwing), std::runtime_error);
#endif
}

TEST_CASE("fleet: a check finds rows on the wrong shard, and names stores that do not answer") {
    world const all;
    auto const cloud = all.open(virtual_shards{6});
    fleet const stores{cloud};
    auto const items = fill(cloud);
    auto const sound = check_fleet(stores).value();
    CHECK(sound.healthy());
    CHECK(sound.whole().value().contents.size() == 6);
    CHECK(sound.of_table("items").rows == 120);
    CHECK(sound.contents.size() == 6);

    auto const belongs = static_cast<std::int32_t>(*virtual_shards{6}.shard_of("stray"));
    std::int32_t const elsewhere = (belongs + 1) % 6;
    plant(all, cloud, elsewhere, row{"stray", "0001", row_builder{"stray", "0001"}.build().payload()});
    auto const found = check_fleet(stores).value();
    CHECK_FALSE(found.healthy());
    CHECK(found.misplaced_rows == 1);
    CHECK(found.of_table("items").same_rows(sound.of_table("items"))); // nobody finds it
    CHECK(found.whole().error().code == error_code::row_mismatch);
    CHECK(found.whole().error().detail.find("stray") != std::string::npos);
    REQUIRE(found.misplaced.size() == 1);
    CHECK(found.misplaced[0].shard == elsewhere);
    CHECK(found.misplaced[0].belongs_to == static_cast<std::uint32_t>(belongs));
    CHECK(found.to_string().find("belongs to shard " + std::to_string(belongs)) != std::string::npos);

    all.store("beta").plan({testing::fault::refused(), 1, "query_entities"});
    auto const partly = check_fleet(stores).value();
    REQUIRE(partly.unread.size() == 1);
    CHECK(partly.unread[0].store == "beta");
    CHECK(partly.whole().error().message.starts_with("the store beta: "));
    CHECK(sizes_of(stores).value().stores.size() == 3);
    all.store("beta").plan({testing::fault::refused(), 1, "query_entities"});
    CHECK(sizes_of(stores).error().message.starts_with("the store beta: "));
}

TEST_CASE("fleet: checksums depend on the rows and not on their distribution") {
    world const one;
    world const other;
    fleet const few{one.open(virtual_shards{3})};
    fleet const many{other.open(virtual_shards{11}, {"x", "y"})};
    fill(few.cloud());
    auto const items = fill(many.cloud());
    auto const here = check_fleet(few).value().of_table("items");
    CHECK(here.same_rows(check_fleet(many).value().of_table("items")));
    CHECK(audit(few, many).value().at(0).same());
    CHECK(audit(few, many).value().at(0).equal == 120);

    items.update("g7", 7, [](item& each) { each.size = -1; }).value();
    items.remove("g8", 8, any_etag).value();
    items.insert({"g9", 9999, "new", 1}).value();
    CHECK_FALSE(here.same_rows(check_fleet(many).value().of_table("items")));
    auto const told = audit(few, many).value().at(0);
    CHECK((told.equal == 118 && told.different == 1 && told.only_left == 1 && told.only_right == 1));
    REQUIRE(told.differences.size() == 3);
    CHECK(told.differences[0].partition_key == "g7");
    CHECK(told.differences[1].how == audit_difference::kind::only_left);
    fill(many.cloud(), 3, "others");
    CHECK(audit(few, many).value().at(1).only_right == 3);
}

TEST_CASE("fleet: reports sizes, free space, and the day when a store will be full") {
    world const all;
    auto const cloud = all.open(virtual_shards{6});
    fleet const stores{cloud, {.in_flight = 2, .stores = {"delta"}}};
    auto const items = fill(cloud);
    auto const roomy = [](std::string_view name) -> std::optional<std::uint64_t> {
        return name == "delta" ? std::nullopt : std::optional<std::uint64_t>{100'000};
    };
    auto const before = sizes_of(stores, roomy).value();
    CHECK(before.stores.size() == 4);
    CHECK(before.stores[2].store == "delta");
    CHECK(before.stores[2].rows == 0);
    CHECK_FALSE(before.stores[2].free_share());
    CHECK(before.imbalance(balance_by::shards) == 2.0 * 4 / 6);
    std::uint64_t rows = 0;
    for (auto const& each : before.stores) { rows += each.rows; }
    CHECK(rows == 120);
    CHECK(before.stores[0].free_share().value() == 1.0 - static_cast<double>(before.stores[0].bytes) / 100'000);
    // ten days and as many bytes as were free
    auto later = before;
    later.at.ticks += date_time::ticks_per_second * 86'400 * 10;
    later.stores[0].bytes += (100'000 - later.stores[0].bytes) / 2;
    auto const full = full_at(before, later, "alpha");
    REQUIRE(full);
    auto const days = static_cast<double>(full->ticks - later.at.ticks) / date_time::ticks_per_second / 86'400;
    CHECK((days > 9.9 && days < 10.1));
    CHECK_FALSE(full_at(before, later, "beta"));  // it does not grow
    CHECK_FALSE(full_at(before, later, "delta")); // nobody knows its capacity
}

TEST_CASE("fleet: tables that differ between a store and the map are found") {
    world const all;
    auto const cloud = all.open(virtual_shards{6});
    fleet const stores{cloud, {.in_flight = 2, .stores = {"delta"}}};
    auto const items = fill(cloud);
    CHECK(schema_drift(stores).value().empty());
    call context;
    any_store const delta{all.store("delta")};
    delta.execute(create_table{"items0003x77"}, context).value();
    delta.execute(create_table{"mine"}, context).value(); // of another program
    auto const map = cloud.map().state().fresh({}).value();
    auto const lost = detail::visit_of(*map, map->places.at(4)).tables.at(0).stored;
    any_store const beta{all.store("beta")};
    beta.execute(delete_table{lost}, context).value();
    plant(all, cloud, 0, [] {
        row_builder made{"odd", "0001"};
        made.add("size", value_view{"text"});
        return made.build();
    }());
    auto const found = schema_drift(stores).value();
    REQUIRE(found.size() == 3);
    CHECK(found[0].what == table_difference::kind::other_type);
    CHECK((found[1].what == table_difference::kind::missing && found[1].text == lost && found[1].store == "beta"));
    CHECK((found[2].what == table_difference::kind::left_over && found[2].text == "items0003x77"));
    CHECK(items.create().error().code == error_code::wrong_store); // what was there once is not made by that
    CHECK(items.create().error().message.find(lost) != std::string::npos);
    CHECK(repair_tables(stores, accepting_loss).value() == 1);
    CHECK(items.create().error().code == error_code::table_already_exists);
    CHECK(schema_drift(stores, 0).value().size() == 1);
}

TEST_CASE("fleet: a table that a killed mover left behind is dropped, and tables in use are not") {
    world const all;
    auto const cloud = all.open(virtual_shards{3});
    fleet const stores{cloud, {.in_flight = 2, .stores = {"delta"}}};
    auto const items = fill(cloud);
    detail::list_store(cloud.state(), "delta").value();
    // Taken over before it makes its table, and killed behind that.
    bool dead = false;
    std::function<void()> take_over = [&] { cancel_move(cloud, 0).value(); };
    auto const dying = [&](any_store below) {
        return any_store{around{std::move(below),
            [&](std::string_view request, bool) {
                if (request == create_table::name && take_over) { std::exchange(take_over, nullptr)(); }
            },
            [&](std::string_view request, bool) { dead = dead || request == create_table::name; }}};
    };
    sharded const mover{lookup_map::open(all.catalogue, "shardmap", virtual_shards{3}).value(),
        [&](std::string_view name) -> result<any_store> { return dying(any_store{all.store(name)}); }};
    auto plan = plan_move(mover, 0, "delta").value();
    CHECK(plan.run([&](move_progress const&) { return !dead; }).error().code == error_code::cancelled);
    CHECK_FALSE(take_over);
    call context;
    any_store const delta{all.store("delta")};
    CHECK(entitable_test::tables_in(delta).size() == 1);
    delta.execute(create_table{"items0003x77"}, context).value(); // of a number that was not given out
    delta.execute(create_table{"others0000x3"}, context).value(); // of another map

    auto drift = schema_drift(stores).value();
    REQUIRE(drift.size() == 3);
    auto const of_others = drift;
    // Asked for what is used, it drops nothing.
    plan_move(cloud, 0, "delta")
        .value()
        .run([&](move_progress const& at) {
            if (at.step == move_step::verifying) {
                for (auto const* store : {"alpha", "beta", "gamma", "delta"}) {
                    call own;
                    auto const there = any_store{all.store(store)}.execute(list_tables{}, own).value().tables;
                    for (std::string const& name : there) {
                        drift.push_back({table_difference::kind::left_over, store, name, name});
                    }
                }
                CHECK(drop_orphaned_tables(stores, drift).value() == 1);
            }
            return true;
        })
        .value();
    CHECK(items.scan_table().count().value() == 120);
    CHECK(drop_orphaned_tables(stores, of_others).value() == 0);
    CHECK(schema_drift(stores).value().size() == 2);
    CHECK(check_fleet(stores).value().healthy());
}

TEST_CASE("fleet: a shard that moves during its visit is visited again") {
    world const all;
    auto const cloud = all.open(virtual_shards{6});
    fleet const stores{cloud, {.in_flight = 1}};
    auto const items = fill(cloud);
    int visits = 0;
    auto const work = [&](detail::shard_visit const& at, any_store const&) -> result<void> {
        if (at.shard == 2 && ++visits <= 2) { // moves while it is visited
            plan_move(cloud, 2, at.store == "gamma" ? "alpha" : "gamma").value().run().value();
        }
        return {};
    };
    auto const every = [](detail::shard_visit const&) { return true; };
    auto const told = detail::visit_shards(stores, every, {}, work).value().shards;
    CHECK(visits == 3);
    CHECK(told.size() == 6);
    CHECK(told[2].outcome);
    auto const restless = [&](detail::shard_visit const& at, any_store const&) -> result<void> {
        plan_move(cloud, at.shard, at.store == "gamma" ? "alpha" : "gamma").value().run().value();
        return {};
    };
    auto const one = [](detail::shard_visit const& at) { return at.shard == 2; };
    CHECK(detail::visit_shards(stores, one, {}, restless).value().shards.at(0).outcome.error().code ==
        error_code::shard_moving);
    CHECK(check_fleet(stores).value().of_table("items").rows == 120);
}

TEST_CASE("fleet: a store is read-only or offline, with a reason, and other stores continue") {
    testing::manual_clock time;
    world const all;
    auto const cloud = all.open(virtual_shards{6}, {"alpha", "beta", "gamma"}, {std::chrono::seconds{60}, &time});
    fleet const stores{cloud, {.time = &time}};
    auto const items = fill(cloud);
    auto const other = all.open(virtual_shards{6}, {"alpha"}, {std::chrono::seconds{60}, &time}); // another client
    table<item> const its_items{other, "items"};
    std::string in_beta;
    std::string in_alpha;
    for (int group = 0; group < 40; ++group) {
        std::string const name = "g" + std::to_string(group);
        auto const shard = *virtual_shards{6}.shard_of(name);
        (shard % 3 == 1 ? in_beta : in_alpha) = shard % 3 == 2 ? in_alpha : name;
    }
    auto const number_of = [](std::string const& name) { return std::stoi(name.substr(1)); };
    CHECK(its_items.get(in_beta, number_of(in_beta)));

    steady_time const before = time.steady();
    date_time const until{date_time::unix_epoch};
    CHECK(set_access(stores, "beta", store_access::read_only, {"its disk is replaced", until}).value() == 2);
    CHECK(time.steady() - before >= std::chrono::seconds{60}); // no copy of the map from before is good any more
    for (table<item> const* each : {&items, &its_items}) {
        CHECK(each->get(in_beta, number_of(in_beta)));
        auto const refused = each->insert({in_beta, 5000, "x", 1});
        CHECK(refused.error().code == error_code::shard_moving);
        CHECK(refused.error().message.find("its disk is replaced") != std::string::npos);
        CHECK(refused.error().effect == effect::none);
        CHECK(each->insert_or_replace({in_alpha, 5000, "x", 1}));
    }
    CHECK(cloud.map().state().fresh({}).value()->places[1].row.until == until);
    CHECK(plan_move(cloud, 1, "delta").value().run().error().code == error_code::shard_moving);
    CHECK(set_access(stores, "beta", store_access::offline).value() == 2);
    CHECK(set_access(stores, "beta", store_access::offline).value() == 0);
    CHECK(its_items.get(in_beta, number_of(in_beta)).error().code == error_code::shard_moving);
    CHECK(its_items.get(in_alpha, number_of(in_alpha)));
    CHECK(set_access(stores, "beta", store_access::open).value() == 2);
    CHECK(items.insert({in_beta, 5000, "x", 1}));
    CHECK(its_items.get(in_beta, 5000));
    CHECK(check_fleet(stores).value().healthy());
}
