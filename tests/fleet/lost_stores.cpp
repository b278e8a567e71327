// SPDX-License-Identifier: MIT
// Copyright (c) 2026 the entitable authors

// A store that does not answer any more: nothing waits for it but what is asked of it, and it is given up by one call, ended anywhere.

#include "fleets.hpp"
#include "support/catch.hpp"
#include "support/maps.hpp"
#include "support/meddled.hpp"

#include <set>

using namespace entitable;
using namespace fleets;
using entitable_test::meddled;
using entitable_test::meddling;
using entitable_test::tables_in;

namespace {

/// Stores behind names: each can be away, or be replaced by an empty one.
struct lossy_world {
    struct place {
        any_store store{memory_backend{}};
        bool away{};
    };
    testing::manual_clock time;
    memory_backend catalogue;
    std::map<std::string, std::shared_ptr<place>> places;
    std::chrono::milliseconds lease{0};

    struct at_place {
        using is_transport = void;
        std::shared_ptr<place> here;
        [[nodiscard]] entitable::profile profile() const { return here->store.profile(); }
        template <table_request Request>
            requires(!std::same_as<Request, read_entity> && !std::same_as<Request, read_entities>)
        [[nodiscard]] result<response_of<Request>> execute(Request const& request, call& context) const {
            if (here->away) { return failure{error_code::transport_failed, "nobody answers"}; }
            return here->store.execute(request, context);
        }
    };
    place& at(std::string_view name) {
        auto& known = places[std::string{name}];
        if (!known) { known = std::make_shared<place>(); }
        return *known;
    }
    [[nodiscard]] store_opener opener(std::shared_ptr<meddling> const& plan) {
        return [this, plan](std::string_view name) -> result<any_store> {
            static_cast<void>(at(name));
            return any_store{meddled{any_store{at_place{places.at(std::string{name})}}, plan}};
        };
    }
    [[nodiscard]] lookup_map_options options() { return {lease, &time}; }
    [[nodiscard]] sharded open(virtual_shards const& shards, std::vector<std::string> const& names = {"a", "b", "c"},
        std::shared_ptr<meddling> const& plan = std::make_shared<meddling>()) {
        any_store const through{meddled{any_store{catalogue}, plan}};
        return entitable_test::cloud_of(through, "shardmap", shards, names, options(), opener(plan));
    }
    [[nodiscard]] fleet stores(sharded const& cloud) {
        fleet_options one;
        one.in_flight = 1;
        one.time = &time;
        return fleet{cloud, one};
    }
    [[nodiscard]] move_options moves() {
        move_options quick;
        quick.short_lease = std::chrono::milliseconds{0};
        quick.time = &time;
        return quick;
    }
};

std::set<std::string> texts_in(table<item> const& items) {
    std::set<std::string> all;
    for (item const& each : items.scan_table().to().value()) { all.insert(each.text); }
    return all;
}

} // namespace

TEST_CASE("lost stores: a move whose target dies is cancelled, and the shard moves elsewhere") {
    lossy_world all;
    sharded const cloud = all.open(virtual_shards{3});
    auto const items = fill(cloud, 60);
    auto const before = texts_in(items);
    auto const broken = plan_move(cloud, 0, "d", all.moves()).value().run([&](move_progress const& at) {
        all.at("d").away = at.step == move_step::catching_up || all.at("d").away;
        return true;
    });
    CHECK(broken.error().code == error_code::transport_failed);
    auto const ended = cancel_move(cloud, 0).value();
    CHECK(ended.left_in == std::vector<std::string>{"d"});
    CHECK(texts_in(items) == before);
    auto const moved = plan_move(cloud, 0, "b", all.moves()).value().run().value();
    CHECK(moved.left_in == std::vector<std::string>{"d"});
    CHECK(texts_in(items) == before);
    all.at("d").away = false;
    CHECK(tables_in(all.at("d").store).size() == 1);
    CHECK(plan_move(cloud, 0, "c", all.moves()).value().run().value().left_in.empty());
    CHECK(tables_in(all.at("d").store).empty()); // swept once it answers
    CHECK(schema_drift(all.stores(cloud), 0).value().empty());
}

TEST_CASE("lost stores: a source that dies after the flip is abandoned, and the shard moves again") {
    lossy_world all;
    sharded const cloud = all.open(virtual_shards{3});
    auto const items = fill(cloud, 60);
    auto const before = texts_in(items);
    auto const moved = plan_move(cloud, 0, "b", all.moves()).value().run([&](move_progress const& at) {
        all.at("a").away = at.step == move_step::flipping || all.at("a").away;
        return true;
    });
    REQUIRE(moved);
    CHECK(moved->left_in == std::vector<std::string>{"a"});
    CHECK(plan_move(cloud, 0, "c", all.moves()).value().run().value().left_in == std::vector<std::string>{"a"});
    CHECK(texts_in(items) == before);
    all.at("a").away = false;
    CHECK(plan_move(cloud, 0, "b", all.moves()).value().run().value().left_in.empty());
    CHECK(tables_in(all.at("a").store).empty());
}

TEST_CASE("lost stores: a partly dropped table blocks neither moves nor a new table of its name") {
    lossy_world all;
    sharded const cloud = all.open(virtual_shards{3});
    auto items = fill(cloud, 60);
    all.at("a").away = true;
    auto const dropped = items.drop();
    CHECK(dropped.error().code == error_code::transport_failed);
    CHECK(dropped.error().message.find("its parts in the store a") != std::string::npos);
    CHECK(items.get("g1", 1).error().code == error_code::table_not_found);
    CHECK(plan_move(cloud, 1, "c", all.moves()).value().run());
    CHECK_FALSE(items.create()); // its part in the store that is away
    all.at("a").away = false;
    items.create_if_absent().value();
    CHECK(items.scan_table().to().value().empty());
    items.insert({"g1", 1, "new", 1}).value();
    for (std::int32_t const shard : {0, 1, 2}) {
        auto plan = plan_move(cloud, shard, "d", all.moves()).value();
        plan.run().value();
    }
    CHECK(texts_in(items) == std::set<std::string>{"new"});
    CHECK(items.drop());
    CHECK(schema_drift(all.stores(cloud), 0).value().empty());
    for (char const* name : {"a", "b", "c", "d"}) {
        CAPTURE(name);
        CHECK(tables_in(all.at(name).store).empty());
    }
}

TEST_CASE("lost stores: a partly dropped table is re-created, dropped and moved, and its old and new tables are never "
          "confused") {
    for (unsigned order = 0; order < 16; ++order) {
        CAPTURE(order);
        lossy_world all;
        sharded const cloud = all.open(virtual_shards{2}, {"a", "b"});
        auto const items = fill(cloud, 20);
        for (unsigned bit = 0; bit < 4; ++bit) {
            if ((order >> bit & 1U) != 0) {
                auto& gone = all.at(bit % 2 == 0 ? "a" : "c").away;
                gone = true;
                CHECK_FALSE(items.drop());
                gone = false;
                items.create_if_absent().value();
                items.insert({"g1", 1, "kept", 1}).value();
            }
            plan_move(cloud, 1, bit % 2 == 0 ? "c" : "b", all.moves()).value().run().value();
            plan_move(cloud, 0, bit % 2 == 0 ? "c" : "a", all.moves()).value().run().value();
        }
        CHECK((order == 0 || texts_in(items) == std::set<std::string>{"kept"}));
        CHECK(items.drop());
        CHECK(schema_drift(all.stores(cloud), 0).value().empty());
        for (char const* name : {"a", "b", "c"}) { CHECK(tables_in(all.at(name).store).empty()); }
    }
}

TEST_CASE("lost stores: the leftovers of a dropped table are removed after its successor has moved; the successor "
          "keeps its rows") {
    lossy_world all;
    sharded const cloud = all.open(virtual_shards{2}, {"a", "b"});
    auto const items = fill(cloud, 20);
    move_options keeping = all.moves();
    keeping.keep_old_tables = true;
    plan_move(cloud, 0, "c", keeping).value().run().value();
    all.at("a").away = true;
    CHECK_FALSE(items.drop()); // the old table in that store
    CHECK(items.create_if_absent().value());
    for (std::int32_t number = 0; number < 20; ++number) {
        items.insert({"g" + std::to_string(number), number, "new " + std::to_string(number), 1}).value();
    }
    CHECK(plan_move(cloud, 0, "b", all.moves()).value().run()); // both tables would have this name there
    CHECK(plan_move(cloud, 1, "c", all.moves()).value().run());
    all.at("a").away = false;
    CHECK_FALSE(items.create_if_absent().value()); // ends the drop
    CHECK(texts_in(items).size() == 20);
    CHECK(tables_in(all.at("a").store).empty());
}

TEST_CASE("lost stores: forgetting a store can be interrupted at any request, and nothing waits for the store") {
    auto const shards = virtual_shards{6};
    for (bool const behind : {false, true}) {
        for (std::size_t at = 1;; ++at) {
            CAPTURE(at, behind);
            lossy_world all;
            sharded const cloud = all.open(shards);
            auto const items = fill(cloud, 60);
            std::set<std::string> rest; // what other stores have
            all.at("b").away = true;
            auto const map = cloud.map().state().fresh({}).value();
            for (std::int32_t number = 0; number < 60; ++number) {
                auto const each = items.get("g" + std::to_string(number % 40), number);
                if (each) { rest.insert(each->text); }
            }
            // A move into it that cannot end, and an old table in it.
            all.at("b").away = false;
            CHECK_FALSE(plan_move(cloud, 0, "b", all.moves()).value().run([&](move_progress const& now) {
                return now.step != move_step::verifying;
            }));
            move_options keeping = all.moves();
            keeping.keep_old_tables = true;
            plan_move(cloud, 1, "c", keeping).value().run().value();
            for (std::int32_t number = 0; number < 60; ++number) {
                if (auto const place = cloud.map().state().place_of(*map, "g" + std::to_string(number % 40));
                    (*place)->row.shard == 1) {
                    rest.insert("text " + std::to_string(number));
                }
            }
            all.at("b").away = true;
            auto const plan = std::make_shared<meddling>();
            sharded const dying = all.open(shards, {"a", "b", "c"}, plan);
            plan->at = plan->seen + at;
            plan->behind = behind;
            plan->dies = true;
            auto const first = forget_store(all.stores(dying), "b", accepting_loss);
            auto const again = forget_store(all.stores(all.open(shards)), "b", accepting_loss);
            REQUIRE(again);
            if (!plan->met) {
                CHECK(at > 15);
                REQUIRE(first);
                CHECK(first->shards.size() == 1);
                CHECK(first->shards.front().shard == 4);
                CHECK((first->attempts == 1 && first->retired >= 1));
                CHECK(first->to_string().find("1 virtual shards lost the rows of 1 tables") != std::string::npos);
                CHECK(again->shards.empty());
            }
            sharded const fresh = all.open(shards);
            table<item> const now{fresh, "items"};
            CHECK(texts_in(now) == rest);
            CHECK(now.create_if_absent().has_value());
            CHECK(check_fleet(all.stores(fresh)).value().healthy());
            CHECK(schema_drift(all.stores(fresh), 0).value().empty());
            for (std::int32_t shard = 0; shard < 6; ++shard) {
                CHECK(plan_move(fresh, shard, "d", all.moves()).value().run().value().left_in.empty());
            }
            CHECK(texts_in(now) == rest);
            CHECK(now.drop());
            // It comes back: nobody uses what it has, and that is found.
            all.at("b").away = false;
            fleet_options with;
            with.stores = {"b"};
            fleet const wider{fresh, with};
            now.create().value();
            CHECK(drop_orphaned_tables(wider, schema_drift(wider, 0).value()).has_value());
            CHECK(tables_in(all.at("b").store).empty());
            if (!plan->met) { break; }
        }
    }
}

TEST_CASE(
    "lost stores: starting an emptied store without rows can be interrupted at any request, and no new row is lost") {
    auto const shards = virtual_shards::ranges({"g2", "g3"});
    for (bool const behind : {false, true}) {
        for (std::size_t at = 1;; ++at) {
            CAPTURE(at, behind);
            lossy_world all;
            all.lease = std::chrono::seconds{10};
            sharded const cloud = all.open(shards);
            auto const items = fill(cloud, 60);
            all.at("b").store = any_store{memory_backend{}};
            all.time.advance(std::chrono::minutes{2});
            CHECK(items.insert({"g25", 1000, "lost", 1}).error().code == error_code::wrong_store);
            auto const plan = std::make_shared<meddling>();
            sharded const dying = all.open(shards, {"a", "b", "c"}, plan);
            plan->at = plan->seen + at;
            plan->behind = behind;
            plan->dies = true;
            auto const first = forget_store(all.stores(dying), "b", accepting_loss, {"b"});
            bool const open = items.insert({"g25", 1000, "new", 1}).has_value(); // as soon as it is open again
            auto const again = forget_store(all.stores(all.open(shards)), "b", accepting_loss, {"b"});
            CAPTURE(again ? again->to_string() : again.error().to_string());
            CHECK((again || (open && again.error().code == error_code::invalid_input)));
            CHECK((!first || open));
            sharded const fresh = all.open(shards);
            table<item> const now{fresh, "items"};
            CAPTURE(fresh.map().to_string().value(), now.get("g29", 29).error().to_string());
            CHECK(now.get("g25", 1000).has_value() == open);
            CHECK(now.get("g1", 1));
            CHECK(now.get("g3", 3));
            CHECK(now.get("g29", 29).error().code == error_code::resource_not_found);
            CHECK(schema_drift(all.stores(fresh), 0).value().empty());
            CHECK(
                forget_store(all.stores(fresh), "b", accepting_loss, {"b"}).error().code == error_code::invalid_input);
            if (!plan->met) {
                CHECK(at > 8);
                break;
            }
        }
    }
}

TEST_CASE("lost stores: a client with an old copy of the map either writes to the new tables or is refused") {
    lossy_world all;
    all.lease = std::chrono::seconds{10};
    auto const shards = virtual_shards::ranges({"g2", "g3"});
    sharded const cloud = all.open(shards);
    auto const items = fill(cloud, 60);
    CHECK(items.get("g25", 25));
    auto const plan = std::make_shared<meddling>();
    sharded const other = all.open(shards, {"a", "b", "c"}, plan);
    // At every request of the other program: what is acknowledged before the end is lost with the store, what is behind it is not.
    auto const lost = forget_store(all.stores(other), "b", accepting_loss).value();
    CHECK(lost.shards.front().now_in == "a");
    CHECK(items.insert({"g25", 1000, "new", 1}));
    CHECK(table<item>{all.open(shards), "items"}.get("g25", 1000));
    CHECK(items.get("g25", 25).error().code == error_code::resource_not_found);
}

TEST_CASE("lost stores: rules determine the new stores, and impossible placements are refused before any change") {
    lossy_world all;
    sharded const cloud = all.open(virtual_shards{6});
    auto const items = fill(cloud, 60);
    put_rule(cloud.map(), placement_rule::only("by law", {1}, {"b"})).value();
    all.at("b").away = true;
    auto const before = cloud.map().to_string().value();
    auto const refused = forget_store(all.stores(cloud), "b", accepting_loss);
    CHECK(refused.error().code == error_code::placement_forbidden);
    CHECK(cloud.map().to_string().value() == before);
    put_rule(cloud.map(), placement_rule::only("by law", {1}, {"b", "c"})).value();
    auto const done = forget_store(all.stores(cloud), "b", accepting_loss).value();
    CHECK(done.rules == std::vector<std::string>{"by law"});
    REQUIRE(done.shards.size() == 2);
    CHECK((done.shards[0].shard == 1 && done.shards[0].now_in == "c"));
    CHECK((done.shards[1].shard == 4 && done.shards[1].now_in == "a"));
    lossy_world single;
    sharded const alone = single.open(virtual_shards{1}, {"a"});
    fill(alone, 3);
    CHECK(forget_store(single.stores(alone), "a", accepting_loss).error().code == error_code::invalid_input);
}

TEST_CASE("lost stores: parts of tables are re-created only if the table is named") {
    lossy_world all;
    sharded const cloud = all.open(virtual_shards{6});
    auto const items = fill(cloud, 60);
    call context;
    auto const parts = tables_in(all.at("b").store);
    any_store{all.at("b").store}.execute(delete_table{*parts.begin()}, context).value();
    CHECK(items.create_if_absent().error().code == error_code::wrong_store);
    CHECK(forget_store(all.stores(cloud), "b", accepting_loss, {"b"}).value().shards.size() ==
        1); // the other one has all
    CHECK(items.create_if_absent().has_value());
    any_store{all.at("b").store}.execute(delete_table{*parts.rbegin()}, context).value();
    CHECK(repair_tables(all.stores(cloud), accepting_loss).value() == 1);
    CHECK(repair_tables(all.stores(cloud), accepting_loss).value() == 0);
    CHECK(items.create_if_absent().has_value());
    CHECK(items.scan_table().to());
}
