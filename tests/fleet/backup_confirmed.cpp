// SPDX-License-Identifier: MIT
// Copyright (c) 2026 the entitable authors

// A part of a backup counts when the map has confirmed it: shards that move, and tables that are made again, while or after they are read.

#include "fleets.hpp"
#include "support/catch.hpp"
#include "watched_program.hpp"
#include <entitable/fleet/fleet_backup.hpp>

#include <algorithm>

using namespace entitable;
using namespace entitable_test;
using namespace fleets;

namespace {

/// Three rows in two ranges that share a table: "alice" and "anna" in shard 0, "zoe" in shard 1. One store.
struct small_fleet {
    world all;
    memory_backend archive;
    sharded cloud = all.open(virtual_shards::ranges({}), {"one"});
    table<item> items{cloud, "items"};

    small_fleet() {
        items.create().value();
        for (auto const* group : {"alice", "anna", "zoe"}) {
            items.insert({group, 1, "before", 1}).value();
        }
        split_shard(cloud, 0, "m").value();
    }
    void move(std::int32_t shard, std::string const& to) const { plan_move(cloud, shard, to).value().run().value(); }
    [[nodiscard]] std::vector<item> restored() const {
        world const other;
        fleet const target{other.open(virtual_shards{2}, {"x"})};
        restore(archive, "nightly", target).value();
        return table<item>{target.cloud(), "items"}.scan_table().to().value();
    }
};

} // namespace

TEST_CASE("backup: a shard moves while it is read, and the map is away behind it") {
    bool const comes_back = GENERATE(false, true);
    small_fleet const made;
    auto const life = std::make_shared<program_life>();
    bool away = false;
    bool moved = false;
    life->before = [&](sent_request const& each) {
        if (each.queries && each.table == "items0000x2" && !std::exchange(moved, true)) {
            made.move(0, "two"); // erases its keys from the table that both halves share
            if (comes_back) {
                made.move(0, "one"); // the same store and keys, another epoch
            } else {
                away = true;
            }
        }
        return !away || each.where != "catalogue";
    };
    auto const first = back_up(program_over(made.all, life, virtual_shards::ranges({})), made.archive, "nightly");
    CHECK(moved);
    if (comes_back) {
        REQUIRE(first);
        CHECK(first->rows == 3);
    } else {
        REQUIRE_FALSE(first);
        auto const again = back_up(fleet{made.cloud}, made.archive, "nightly").value();
        CHECK(again.rows == 3);
        CHECK(again.kept <= 1); // the shard that moved was not whole
    }
    verify_backup(made.archive, "nightly").value();
    CHECK(made.restored().size() == 3);
}
