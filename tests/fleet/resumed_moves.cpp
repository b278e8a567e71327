// SPDX-License-Identifier: MIT
// Copyright (c) 2026 the entitable authors

// What moves, closes and sweeps shards is ended at any request while somebody else moves them: no row is lost, and a success is one.

#include "ended_anywhere.hpp"

using namespace entitable;
using namespace entitable_test;
using namespace fleets;

namespace {

/// Rows are there, once each; those of a table that somebody makes again may be on the way.
void check_rows(ranged const& at, bool made_again) {
    CHECK(at.rows("items") == rows_named("before"));
    if (!made_again) { CHECK(at.rows("others") == rows_named("before")); }
}

} // namespace

TEST_CASE("set_access: can be interrupted at any request while shards move in and out") {
    auto const access = GENERATE(store_access::read_only, store_access::open);
    std::string const wanted = access == store_access::open ? "open" : "draining";
    auto const trials = at_every_request([&](trial& each) {
        ranged const at;
        at.fill();
        if (access == store_access::open) {
            set_access(fleet{at.cloud}, "alpha", store_access::read_only, {"work"}).value();
        }
        staged now{at, each};
        auto const first = set_access(at.program(now.life), "alpha", access, {"work"});
        if (!now.was_met()) {
            REQUIRE(first);
            return false;
        }
        for (bool const again : {false, true}) {
            if (again) {
                auto const second = set_access(fresh_program(at), "alpha", access, {"work"});
                REQUIRE(second);
            }
            if (again || (first && each.read_behind)) {
                for (detail::shard_place const& place : at.map()->places) {
                    CHECK((place.row.store != "alpha" || place.row.state == wanted));
                    CHECK((place.row.store == "alpha" || place.row.state == "open"));
                }
            }
        }
        check_rows(at, makes_tables(each));
        return true;
    });
    CHECK(trials > 20);
}

TEST_CASE("set_access: a state set by a mover is not mistaken for its own") {
    ranged const at;
    at.fill();
    auto const life = std::make_shared<program_life>();
    std::size_t reads = 0;
    life->before = [&](sent_request const& each) {
        if (each.reads_map() && ++reads == 4) { // both shards of the store are closed: once more, for what came to it
            plan_move(at.cloud, 1, "alpha").value().run().value();
            auto leaves = plan_move(at.cloud, 1, "delta").value();
            auto const drains = [&](move_progress const&) { return at.map()->find_shard(1)->row.state != "draining"; };
            CHECK(leaves.run(drains).error().code == error_code::cancelled);
            CHECK(at.map()->find_shard(1)->row.state == "draining");
        }
        return true;
    };
    auto const first = set_access(at.program(life), "alpha", store_access::read_only, {"work"});
    REQUIRE(reads >= 4);
    CHECK(first.error().code == error_code::shard_moving);
    cancel_move(at.cloud, 1).value();
    CHECK(set_access(fresh_program(at), "alpha", store_access::read_only, {"work"}).value() == 1);
    CHECK(at.map()->find_shard(1)->row.state == "draining");
}

TEST_CASE("set_access: shards that are repeatedly opened are not reported as closed") {
    ranged const at;
    at.fill();
    auto const life = std::make_shared<program_life>();
    life->before = [&](sent_request const& each) {
        if (each.reads_map()) { set_access(fleet{at.cloud}, "alpha", store_access::open).value(); }
        return true;
    };
    CHECK(set_access(at.program(life), "alpha", store_access::read_only).error().code == error_code::shard_moving);
}

TEST_CASE("orphaned tables: the sweep can be interrupted at any request while shards move") {
    auto const trials = at_every_request([&](trial& each) {
        ranged const at;
        at.fill();
        plan_move(at.cloud, 0, "beta").value().run().value();
        plan_move(at.cloud, 0, "alpha").value().run().value();
        for (auto const& [store, name] : {std::pair{"alpha", "items0000x2"}, std::pair{"beta", "items0000x4"}}) {
            table<item> const left{any_store{at.all.store(store)}, name};
            left.create_if_absent().value();
            left.insert_or_replace({"b", 1, "left over", 1}).value();
        }
        auto const sweep = [](fleet const& of) -> result<std::size_t> {
            auto const found = schema_drift(of);
            return found ? drop_orphaned_tables(of, *found) : result<std::size_t>{failure{found.error()}};
        };
        staged now{at, each};
        auto const first = sweep(at.program(now.life));
        if (!now.was_met()) {
            REQUIRE(first);
            CHECK(*first == 2);
            return false;
        }
        auto const second = sweep(fresh_program(at));
        REQUIRE(second);
        CHECK(schema_drift(fleet{at.cloud}).value().empty());
        check_rows(at, makes_tables(each));
        return true;
    });
    CHECK(trials > 40);
}

TEST_CASE("drain and place: can be interrupted at any request while shards move") {
    bool const places = GENERATE(false, true);
    auto const call_of = [&](fleet const& of) -> result<void> {
        move_options quick;
        quick.time = of.options().time;
        if (places) {
            auto const done = place(of, "b", "delta", quick);
            return done ? result<void>{} : result<void>{failure{done.error()}};
        }
        rebalance_options options;
        options.moves = quick;
        auto const plan = plan_drain(of, "alpha", options);
        if (!plan) { return failure{plan.error()}; }
        auto const done = plan->run();
        return done ? result<void>{} : result<void>{failure{done.error()}};
    };
    auto const trials = at_every_request([&](trial& each) {
        ranged const at;
        at.fill();
        staged now{at, each};
        auto const first = call_of(at.program(now.life));
        if (!now.was_met()) {
            REQUIRE(first);
            return false;
        }
        auto const second = call_of(fresh_program(at));
        CAPTURE(second ? std::string{} : second.error().to_string());
        REQUIRE(second);
        for (detail::shard_place const& place : at.map()->places) {
            if (!places) {
                CHECK(place.row.store != "alpha");
            } else if (place.keys().contains("b")) {
                CHECK(place.row.store == "delta");
            }
        }
        check_rows(at, makes_tables(each));
        return true;
    });
    CHECK(trials > 60);
}

TEST_CASE("schema_drift: rows that are read from the old store of a moved shard do not count") {
    ranged const at;
    at.fill();
    auto const life = std::make_shared<program_life>();
    bool moved = false;
    life->before = [&](sent_request const& each) {
        if (each.queries && each.table == "items0000x2" && !std::exchange(moved, true)) {
            move_options keeps;
            keeps.keep_old_tables = true;
            plan_move(at.cloud, 0, "delta", keeps).value().run().value();
            row_builder odd{"a", "0001"};
            odd.add("size", value_view{"text"});
            call context;
            any_store const old{at.all.store("alpha")};
            old.execute(write_entity{"items0000x2", mutation::insert(odd.build())}, context).value();
        }
        return true;
    };
    CHECK(schema_drift(at.program(life)).value().empty());
    CHECK(moved);
}
