// SPDX-License-Identifier: MIT
// Copyright (c) 2026 the entitable authors

// Repairs, loads and changes of the map that are ended at any request while somebody else moves shards and makes tables: what is there stays, and a success
// is one.

#include "ended_anywhere.hpp"
#include <entitable/bulk.hpp>

#include <support/held_checkpoint.hpp>
#include <support/maps.hpp>

using namespace entitable;
using namespace entitable_test;
using namespace fleets;

namespace {

/// A map of an earlier program over the same stores.
ranged without_identity() {
    world all;
    auto const shards = virtual_shards::ranges({"h", "p"});
    auto map =
        map_without_identity(all.catalogue, "shardmap", shards, {"alpha", "beta"}, {std::chrono::milliseconds{0}});
    sharded cloud{
        std::move(map), [all](std::string_view name) -> result<any_store> { return any_store{all.store(name)}; }};
    return ranged{std::move(all), std::move(cloud)};
}

/// Every store that has shards says that it belongs to the map, and the map says so too.
void check_identities(ranged const& at) {
    auto const map = at.map();
    CHECK_FALSE(map->identity.empty());
    for (detail::shard_place const& place : map->places) {
        CAPTURE(place.row.shard, place.row.store);
        CHECK(map->lists(place.row.store));
        auto const own =
            table<store_identity>{any_store{at.all.store(place.row.store)}, "entitableshards"}.get("stores", "map");
        REQUIRE(own);
        CHECK((own->map == map->identity && own->store == place.row.store));
    }
}

/// The map is as nobody's attempt left it, and nothing is missing in the stores.
void check_nothing_missing(ranged const& at) {
    auto const drift = schema_drift(fleet{at.cloud}, 0);
    REQUIRE(drift);
    for (table_difference const& found : *drift) {
        CAPTURE(found.store, found.table, found.text);
        CHECK(found.what != table_difference::kind::missing);
    }
    CHECK(check_fleet(fleet{at.cloud})->unread.empty());
}

/// Ends what a program that died has left under way.
void cancel_moves(ranged const& at) {
    for (detail::shard_place const& place : at.map()->places) {
        if (!place.row.attempt_owner.empty()) { cancel_move(at.cloud, place.row.shard).value(); }
    }
}

void check_rows(ranged const& at, trial const& each) {
    CHECK(at.rows("items") == rows_named("before"));
    CHECK(is_one_of(at.rows("others"), makes_tables(each)));
}

} // namespace

TEST_CASE("repair_tables: can be interrupted at any request while shards move and tables are created") {
    auto const trials = at_every_request([&](trial& each) {
        ranged const at;
        at.fill();
        table<item>{at.cloud, "empty"}.create().value();
        auto const map = at.map();
        for (detail::shard_place const& place : map->places) { // parts that have no row, so that nothing is lost
            call context;
            any_store const store{at.all.store(place.row.store)};
            store.execute(delete_table{place.table_name(*map->find("empty"))}, context).value();
        }
        staged now{at, each};
        auto const first = repair_tables(at.program(now.life), accepting_loss);
        if (!now.was_met()) {
            REQUIRE(first);
            CHECK(*first == map->places.size());
            return false;
        }
        auto const second = repair_tables(fresh_program(at), accepting_loss);
        REQUIRE(second);
        cancel_moves(at); // a move of a part that was lost ends without it
        check_nothing_missing(at);
        CHECK(table<item>{at.cloud, "empty"}.scan_table().to().value().empty());
        check_rows(at, each);
        fleet const all{
            at.cloud, {.stores = {"alpha", "beta", "delta"}}}; // a part that was made where its shard was before
        drop_orphaned_tables(all, schema_drift(all, 0).value()).value();
        CHECK(schema_drift(all, 0).value().empty());
        check_rows(at, each);
        return true;
    });
    CHECK(trials > 40);
}

TEST_CASE("forget_store: can be interrupted at any request while shards move in and out") {
    auto const trials = at_every_request([&](trial& each) {
        ranged const at;
        at.fill();
        staged now{at, each};
        auto const first = forget_store(at.program(now.life), "beta", accepting_loss, {"alpha"});
        if (!now.was_met()) {
            REQUIRE(first);
            CHECK(first->shards.size() == 1);
            return false;
        }
        auto const second = forget_store(fresh_program(at), "beta", accepting_loss, {"alpha"});
        REQUIRE(second);
        for (detail::shard_place const& place : at.map()->places) {
            CHECK(place.row.store != "beta");
            CHECK(place.row.state == "open");
            CHECK(place.row.attempt_owner.empty());
        }
        check_identities(at);
        check_nothing_missing(at);
        // What was never in the store is there. The store had the middle range, and whatever somebody moved there.
        auto const rows = at.rows("items");
        std::set<std::string> found;
        for (item const& row : rows) { found.insert(row.group); }
        std::size_t const kind = each.change % kinds_of_change;
        bool const brings_others = kind == 0 || kind == 4;
        for (item const& row : rows_named("before")) {
            bool const was_there = row.group == "j" || row.group == "m";
            CAPTURE(row.group);
            CHECK((found.count(row.group) == 1 || was_there || brings_others));
        }
        if (first && each.how == schedule::alive) { // a report names all that is lost
            for (item const& row : rows_named("before")) {
                bool told = found.count(row.group) == 1;
                for (auto const* report : {&*first, &*second}) {
                    for (lost_shard const& lost : report->shards) {
                        told = told || (row.group >= lost.low && (lost.high.empty() || row.group < lost.high));
                    }
                }
                CAPTURE(row.group);
                CHECK(told);
            }
        }
        return true;
    });
    CHECK(trials > 40);
}

TEST_CASE("adopt: can be interrupted at any request while shards move and tables are created") {
    auto const trials = at_every_request([&](trial& each) {
        ranged const at = without_identity();
        at.fill();
        staged now{at, each};
        auto const first = adopt(at.program(now.life).cloud());
        if (!now.was_met()) {
            REQUIRE(first);
            return false;
        }
        if (first) { check_identities(at); }
        auto const second = adopt(fresh_program(at).cloud());
        REQUIRE(second);
        check_identities(at);
        for (detail::shard_table const& each_table : at.map()->tables) {
            CHECK((each_table.whole || each_table.dropping));
        }
        check_nothing_missing(at);
        check_rows(at, each);
        return true;
    });
    CHECK(trials > 40);
}

TEST_CASE("a map is adopted, or a store is forgotten, between any two requests of a move, a merge or a placement") {
    for (bool const adopts : {true, false}) {
        for (std::string const what : {"move", "merge", "place"}) {
            std::size_t trials = 0;
            for (bool const ends : {false, true}) {
                for (std::size_t number = 0;; ++number) {
                    CAPTURE(adopts, what, ends, number);
                    ranged const at = adopts ? without_identity() : ranged{};
                    at.fill();
                    if (!adopts) {
                        plan_move(at.cloud, 2, "beta").value().run().value(); // so that the fleet has a store to spare
                    }
                    auto const life = std::make_shared<program_life>();
                    bool met = false;
                    life->before = [&](sent_request const& sent) {
                        if (sent.number == number) {
                            met = true;
                            if (adopts) {
                                REQUIRE(adopt(at.cloud));
                            } else {
                                auto const gone = forget_store(fleet{at.cloud}, "delta", accepting_loss, {"alpha"});
                                CHECK((gone ||
                                    gone.error().code == error_code::placement_forbidden)); // by the rule of `place`
                            }
                            if (ends) { life->ends_at = number + 1 + number % 3; }
                        }
                        return true;
                    };
                    auto const program = at.program(life);
                    move_options quick;
                    quick.time = program.options().time;
                    auto const run = [&]() -> result<void> {
                        if (what == "place") {
                            auto const done = place(program, "b", "delta", quick);
                            return done ? result<void>{} : result<void>{failure{done.error()}};
                        }
                        auto plan = what == "move" ? plan_move(program.cloud(), 0, "delta", quick)
                                                   : plan_merge(program.cloud(), 0, 1, "delta", quick);
                        if (!plan) { return failure{plan.error()}; }
                        auto const done = plan->run();
                        return done ? result<void>{} : result<void>{failure{done.error()}};
                    };
                    auto const done = run();
                    life->before = {};
                    cancel_moves(at);
                    if (met) { check_identities(at); }
                    check_nothing_missing(at);
                    auto const rows = at.rows("items");
                    CHECK((rows == rows_named("before") || (!adopts && met)));
                    if (!met) {
                        REQUIRE(done);
                        break;
                    }
                    ++trials;
                }
            }
            CHECK(trials > 40);
        }
    }
}

TEST_CASE("remove_misplaced: can be interrupted at any request while shards move and tables are created") {
    auto const trials = at_every_request([&](trial& each) {
        ranged const at;
        at.fill();
        for (auto const& [store, name] : {std::pair{"alpha", "items0000x2"}, std::pair{"alpha", "items0002x2"}}) {
            for (auto const* group : {"a", "j", "z"}) {
                table<item>{any_store{at.all.store(store)}, name}.insert_or_replace({group, 9, "late", 1}).value();
            }
        }
        staged now{at, each};
        auto const first = remove_misplaced(at.program(now.life));
        if (!now.was_met()) {
            REQUIRE(first);
            CHECK(first->rows == 4); // the others are where clients find them
            return false;
        }
        auto const second = remove_misplaced(fresh_program(at));
        REQUIRE(second);
        CHECK(second->unread.empty());
        auto rows = at.rows("items");
        std::erase_if(rows, [](item const& row) { return row.text == "late"; });
        CHECK(rows == rows_named("before"));
        CHECK(is_one_of(at.rows("others"), makes_tables(each)));
        CHECK(check_fleet(fleet{at.cloud})->unread.empty());
        return true;
    });
    CHECK(trials > 40);
}

TEST_CASE("moves and splits: can be interrupted at any request while another process moves shards, and then repeated") {
    bool const splits = GENERATE(false, true);
    auto const trials = at_every_request([&](trial& each) {
        ranged const at;
        at.fill();
        auto const ask = [&](fleet const& program) -> result<void> {
            if (splits) {
                auto const made = split_shard(program.cloud(), 2, "s");
                return made ? result<void>{} : result<void>{failure{made.error()}};
            }
            move_options quick;
            quick.time = program.options().time;
            auto plan = plan_move(program.cloud(), 2, "gamma", quick);
            if (!plan) { return failure{plan.error()}; }
            auto const done = plan->run();
            return done ? result<void>{} : result<void>{failure{done.error()}};
        };
        staged now{at, each};
        auto const first = ask(at.program(now.life));
        if (!now.was_met()) {
            REQUIRE(first);
            return false;
        }
        auto const second = ask(fresh_program(at)); // refused where it is done, or the shard is there no more
        cancel_moves(at);
        CAPTURE(second ? "" : second.error().to_string());
        CHECK((second || second.error().effect == effect::none));
        check_identities(at);
        check_nothing_missing(at);
        check_rows(at, each);
        return true;
    });
    CHECK(trials > (splits ? 8U : 60U));
}

TEST_CASE("bulk loads: can be interrupted at any request while shards move, and resumed from the checkpoint") {
    bool const copies = GENERATE(false, true);
    std::vector<item> wanted;
    for (std::int32_t number = 0; number < 24; ++number) {
        wanted.push_back({std::string{"bejmrx"[number / 4]}, number % 4, "loaded", number});
    }
    auto const trials = at_every_request([&](trial& each) {
        if (makes_tables(each)) {
            each.change += 1; // a table that is dropped while it is loaded has lost its rows
        }
        ranged const at;
        table<item>{at.cloud, "items"}.create().value();
        table<item> const source{at.cloud, "others"};
        source.create().value();
        if (copies) {
            for (item const& row : wanted) { source.insert(row).value(); }
        }
        entitable_test::held_checkpoint const checkpoint;
        auto const load = [&](fleet const& program) -> result<bulk_report> {
            bulk_options options;
            options.window = 5;
            options.time = program.options().time;
            options.wait_budget = std::chrono::milliseconds{1};
            options.in_flight = 2;
            table<item> const into{program.cloud(), "items"};
            if (copies) { return bulk_copy(table<item>{program.cloud(), "others"}.scan_table(), into, options); }
            options.checkpoint = checkpoint;
            return bulk_insert(into, wanted, options);
        };
        staged now{at, each};
        auto const first = load(at.program(now.life));
        if (!now.was_met()) {
            REQUIRE(first);
            CHECK(first->all());
            return false;
        }
        auto const by_key = [](std::vector<item> rows) {
            std::sort(
                rows.begin(), rows.end(), [](item const& left, item const& right) { return left.size < right.size; });
            return rows;
        };
        if (first && first->all()) {
            CHECK(by_key(at.rows("items")) == wanted);
        } else {
            auto const second = load(fresh_program(at));
            REQUIRE(second);
            CHECK(second->all());
            CHECK(by_key(at.rows("items")) == wanted);
        }
        return true;
    });
    CHECK(trials > 40);
}
