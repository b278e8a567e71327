// SPDX-License-Identifier: MIT
// Copyright (c) 2026 the entitable authors

// Tables over shards are created and dropped: ended at any request, or with a shard that moves or is split before or behind any request. What the map says
// of a table is what its stores have.

#include "shards.hpp"
#include "support/catch.hpp"
#include "support/maps.hpp"
#include "support/meddled.hpp"
#include <entitable/fleet.hpp>
#include <entitable/memory.hpp>

#include <map>

using namespace entitable;
using entitable_test::meddled;
using entitable_test::meddling;
using entitable_test::tables_in;

namespace {

struct line {
    std::string place;
    std::int32_t number{};
};
ENTITABLE(line, partition_key(place), row_key(width(number, 4)), properties())

/// A map by ranges over two stores, and a program whose requests are meddled with.
struct parted_world {
    memory_backend catalogue;
    std::shared_ptr<std::map<std::string, any_store>> stores = std::make_shared<std::map<std::string, any_store>>();
    std::shared_ptr<meddling> plan = std::make_shared<meddling>();
    virtual_shards shards = virtual_shards::ranges({"h", "p"});
    testing::manual_clock* time{};

    [[nodiscard]] store_opener opener(std::shared_ptr<meddling> const& with) const {
        return [all = stores, with](std::string_view name) -> result<any_store> {
            return any_store{meddled{all->try_emplace(std::string{name}, memory_backend{}).first->second, with}};
        };
    }
    [[nodiscard]] sharded open(std::shared_ptr<meddling> const& with) const {
        any_store const through{meddled{any_store{catalogue}, with}};
        return entitable_test::cloud_of(
            through, "shardmap", shards, {"a", "b"}, {std::chrono::milliseconds{0}, time}, opener(with));
    }
    [[nodiscard]] sharded other() const { return open(std::make_shared<meddling>()); }
};

constexpr char const* places[] = {"a", "c", "k", "z"};

/// What somebody else does to the shards.
void interfere(std::size_t how, sharded const& cloud, testing::manual_clock& time) {
    move_options quick;
    quick.short_lease = std::chrono::milliseconds{0};
    quick.time = &time;
    if (how == 1) {
        if (auto plan = plan_move(cloud, 0, "c", quick)) {
            static_cast<void>(plan->run()); // a table of which a part is missing yet keeps it where it is
        }
        static_cast<void>(cancel_move(cloud, 0));
    } else if (how == 2) {
        split_shard(cloud, 0, "b").value();
    } else if (how == 3) {
        auto plan = plan_merge(cloud, 1, 2, "c", quick);
        static_cast<void>(plan ? plan->run() : result<move_progress>{std::move(plan).as_failure()});
        static_cast<void>(cancel_move(cloud, 1));
    }
}

/// The table is whole, and each of its parts works; nothing else is there.
void check_whole(sharded const& cloud, testing::manual_clock& time) {
    table<line> const lines{cloud, "lines"};
    CHECK_FALSE(lines.create_if_absent().value());
    auto const map = cloud.map().state().fresh({}).value();
    REQUIRE(map->find("lines") != nullptr);
    CHECK(map->find("lines")->whole);
    for (char const* place : places) { CHECK(lines.insert({place, 1})); }
    CHECK(lines.scan_table().to().value().size() == std::size(places));
    fleet_options by_clock;
    by_clock.time = &time;
    by_clock.stores = {"c"};
    CHECK(schema_drift(fleet{cloud, by_clock}, 0).value().empty());
}

} // namespace

TEST_CASE("parts of a table: creation is interrupted, or shards change, at any request") {
    for (std::size_t how = 0; how < 4; ++how) {
        for (bool const behind : {false, true}) {
            for (std::size_t at = 1;; ++at) {
                CAPTURE(how, behind, at);
                testing::manual_clock time;
                parted_world world;
                world.time = &time;
                sharded const cloud = world.open(world.plan);
                sharded const other = world.other();
                *world.plan = {.seen = 0, .at = at, .behind = behind, .dies = how == 0};
                world.plan->hook = [&] { interfere(how, other, time); };
                auto const made = table<line>{cloud, "lines"}.create_if_absent();
                if (how == 0 || !made) { table<line>{other, "lines"}.create_if_absent().value(); }
                check_whole(other, time);
                if (!world.plan->met) {
                    CHECK(made);
                    CHECK(at > 6);
                    break;
                }
            }
        }
    }
}

TEST_CASE("parts of a table: shards change at any request while an existing table is created again") {
    for (std::size_t how = 1; how < 4; ++how) {
        for (bool const behind : {false, true}) {
            for (std::size_t at = 1;; ++at) {
                CAPTURE(how, behind, at);
                testing::manual_clock time;
                parted_world world;
                world.time = &time;
                sharded const cloud = world.open(world.plan);
                sharded const other = world.other();
                table<line>{other, "lines"}.create().value();
                *world.plan = {.seen = 0, .at = at, .behind = behind, .dies = false};
                world.plan->hook = [&] { interfere(how, other, time); };
                auto const made = table<line>{cloud, "lines"}.create_if_absent();
                CHECK((made ? "" : made.error().message) == "");
                check_whole(other, time);
                if (!world.plan->met) {
                    CHECK(at > 3);
                    break;
                }
            }
        }
    }
}

TEST_CASE("parts of a table: removal is interrupted, or shards change, at any request") {
    for (std::size_t how = 0; how < 4; ++how) {
        for (bool const behind : {false, true}) {
            for (std::size_t at = 1;; ++at) {
                CAPTURE(how, behind, at);
                testing::manual_clock time;
                parted_world world;
                world.time = &time;
                sharded const cloud = world.open(world.plan);
                sharded const other = world.other();
                table<line> const lines{other, "lines"};
                lines.create().value();
                table<line> const kept{other, "kept"};
                kept.create().value();
                for (char const* place : places) {
                    lines.insert({place, 1}).value();
                    kept.insert({place, 1}).value();
                }
                *world.plan = {.seen = 0, .at = at, .behind = behind, .dies = how == 0};
                world.plan->hook = [&] { interfere(how, other, time); };
                auto const gone = table<line>{cloud, "lines"}.drop();
                bool const there = lines.get("a", 1).has_value();
                CHECK((!gone || !there));
                if (there) { // the drop did not come so far
                    CHECK(lines.scan_table().to().value().size() == std::size(places));
                }
                if (!gone) {
                    auto const again = lines.drop();
                    CHECK((again || again.error().code == error_code::resource_not_found));
                }
                CHECK(lines.create());
                CHECK(lines.scan_table().to().value().empty()); // no earlier row
                check_whole(other, time);
                CHECK(kept.scan_table().to().value().size() == std::size(places));
                CHECK(lines.drop());
                CHECK(kept.drop());
                for (auto const& [name, store] : *world.stores) {
                    CAPTURE(name);
                    CHECK(tables_in(store).empty());
                }
                if (!world.plan->met) {
                    CHECK(gone);
                    CHECK(at > 4);
                    break;
                }
            }
        }
    }
}
