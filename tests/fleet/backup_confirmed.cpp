// SPDX-License-Identifier: MIT
// Copyright (c) 2026 the entitable authors

// A part of a backup counts when the map has confirmed it: shards that move, and tables that are made again, while or after they are read.

#include "fleets.hpp"
#include "support/catch.hpp"
#include "watched_program.hpp"
#include <entitable/memory.hpp>
#include <entitable/shards/fleet/fleet_backup.hpp>

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
        for (auto const* group : {"alice", "anna", "zoe"}) { items.insert({group, 1, "before", 1}).value(); }
        split_shard(cloud, 0, "m").value();
    }
    void move(std::int32_t shard, std::string const& to) const { plan_move(cloud, shard, to).value().run().value(); }
    [[nodiscard]] fleet program(std::shared_ptr<program_life> const& life = std::make_shared<program_life>()) const {
        return program_over(all, life, virtual_shards::ranges({}));
    }
    [[nodiscard]] any_store watched_archive(std::shared_ptr<program_life> const& life) const {
        return any_store{watched{any_store{archive}, "archive", life}};
    }
    /// A run that ends before the header says whole.
    void almost_back_up(backup_options const& options = {}) const {
        auto const life = std::make_shared<program_life>();
        bool over = false;
        life->before = [&](sent_request const& each) {
            table<backup_part> const parts{archive, "nightly0backup"};
            bool all_whole = each.where == "archive";
            for (detail::shard_place const& shard : cloud.map().state().fresh({}).value()->places) {
                auto const found = parts.get("backup", shard.row.shard, "items");
                all_whole = all_whole && found && found->state == "whole" && found->store == shard.row.store;
            }
            over = over || all_whole;
            return !over;
        };
        REQUIRE_FALSE(back_up(program(life), watched_archive(life), "nightly", options));
        REQUIRE(over);
    }
    [[nodiscard]] std::vector<item> restored() const {
        world const other;
        fleet const target{other.open(virtual_shards{2}, {"x"})};
        restore(archive, "nightly", target).value();
        return table<item>{target.cloud(), "items"}.scan_table().to().value();
    }
};

} // namespace

TEST_CASE("backup: a shard moves while it is read, and then the map is unreachable") {
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
    auto const first = back_up(made.program(life), made.archive, "nightly");
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

TEST_CASE("backup: a shard that moves away and back during its read is read again") {
    world const all;
    sharded const cloud = all.open(virtual_shards::ranges({"m"}), {"one"});
    table<item> const items{cloud, "items"};
    items.create().value();
    items.insert({"alice", 1, "before", 1}).value();
    auto const life = std::make_shared<program_life>();
    bool moved = false;
    life->before = [&](sent_request const& each) {
        if (each.queries && each.table == "items0000x2" && !std::exchange(moved, true)) {
            plan_move(cloud, 0, "two").value().run().value();
            plan_move(cloud, 0, "one").value().run().value(); // the same store and keys; the table that is read is gone
        }
        return true;
    };
    memory_backend const archive;
    auto const made = back_up(program_over(all, life, virtual_shards::ranges({})), archive, "nightly");
    CHECK(moved);
    REQUIRE(made);
    CHECK(made->rows == 1);
    CHECK(made->parts.at(0).source == "items0000x4");
    CHECK(made->parts.at(0).epoch == 4);
}

TEST_CASE("backup: a resumed run keeps only the parts whose shard has not moved") {
    small_fleet const made;
    made.almost_back_up();
    std::size_t kept = 2;
    std::size_t parts = 2;
    SECTION("nothing has changed since") {}
    SECTION("a shard has moved") {
        made.move(0, "two");
        kept = 1;
    }
    SECTION("a shard has moved away and back") {
        made.move(0, "two");
        made.move(0, "one");
        kept = 1;
    }
    SECTION("a shard was split") {
        split_shard(made.cloud, 0, "an").value();
        kept = 1;
        parts = 3;
    }
    SECTION("two shards were merged") {
        plan_merge(made.cloud, 0, 1, "one").value().run().value();
        kept = 0;
        parts = 1;
    }
    SECTION("a split shard was merged again, and has the same keys") {
        split_shard(made.cloud, 0, "an").value();
        plan_merge(made.cloud, 0, 2, "one").value().run().value();
        kept = 1;
    }
    SECTION("its table was dropped and re-created, with the name in different case") {
        made.items.drop().value();
        table<item> const again{made.cloud, "ITEMS"};
        again.create().value();
        for (auto const* group : {"anna", "bob", "zoe"}) { again.insert({group, 2, "after", 2}).value(); }
        kept = 0;
    }
    SECTION("a table was created") {
        table<item>{made.cloud, "others"}.create().value();
        kept = 0;
        parts = 4;
    }
    auto const rows = made.items.scan_table().to().value();
    auto const again = back_up(made.program(), made.archive, "nightly").value();
    CHECK(again.kept == kept);
    CHECK(again.parts.size() == parts);
    CHECK(made.restored() == rows);
    CHECK(verify_backup(made.archive, "nightly").value().rows == 3);
    drop_backup(made.archive, "nightly").value();
    call context;
    CHECK(made.archive.execute(list_tables{}, context).value().tables.empty());
}

TEST_CASE("backup: a backup is reported as made from snapshots only if every run used them") {
    small_fleet const made;
    backup_options snapshots;
    snapshots.snapshot = [](std::string_view, any_store const& there) { return result<any_store>{there}; };
    made.almost_back_up(snapshots);
    SECTION("a run in between did not use any") {
        made.move(0, "two");
        made.almost_back_up();
        CHECK_FALSE(back_up(made.program(), made.archive, "nightly", snapshots).value().header.snapshots);
    }
    SECTION("all runs used them") {
        CHECK(back_up(made.program(), made.archive, "nightly", snapshots).value().header.snapshots);
    }
}

TEST_CASE("backup: a late run does not change the work of a later run") {
    auto const kind = GENERATE(0, 1, 2, 3);
    std::size_t refused = 0;
    for (std::size_t at = 0;; ++at) {
        small_fleet const made;
        made.almost_back_up();
        table<item> const others{made.cloud, "others"};
        if (kind != 0) { others.create().value(); }
        if (kind == 3) { made.move(0, "two"); }
        auto const life = std::make_shared<program_life>();
        bool met = false;
        life->before = [&](sent_request const& each) {
            if (each.number == at) { // another process makes the backup to its end
                met = true;
                if (kind == 2) { others.drop().value(); }
                back_up(made.program(), made.archive, "nightly").value();
                if (kind == 1) { made.move(0, "two"); }
            }
            return true;
        };
        auto const late = back_up(made.program(life), made.watched_archive(life), "nightly");
        CAPTURE(kind, at);
        if (!met) {
            REQUIRE(late);
            break;
        }
        REQUIRE_FALSE(late);
        error_code const code = late.error().code;
        CAPTURE(late.error().to_string());
        CHECK((code == error_code::update_condition_not_satisfied || code == error_code::invalid_input));
        refused += code == error_code::update_condition_not_satisfied ? 1U : 0U;
        REQUIRE(verify_backup(made.archive, "nightly"));
        CHECK(made.restored().size() == 3);
    }
    CHECK(refused > 3);
}

namespace {

/// The rows of a backup as programs wrote them that kept no source: golden values.
struct old_backup {
    memory_backend archive;

    static row header(std::string_view state) {
        row_builder made{"backup", "header"};
        made.add("state", value_view{state});
        made.add("tables", value_view{std::string_view{state == "whole" ? "items" : ""}});
        made.add("shards", value_view{std::int32_t{state == "whole" ? 2 : 0}});
        made.add("map_version", value_view{std::int64_t{state == "whole" ? 3 : 0}});
        made.add("snapshots", value_view{false});
        made.add("begun", value_view{date_time{134'000'000'000'000'000}});
        made.add("ended", value_view{date_time{134'000'000'000'000'000}});
        return made.build();
    }
    void add(row const& made, std::string const& table = "nightly0backup") const {
        call context;
        archive.execute(write_entity{table, mutation::insert(made)}, context).value();
    }
    void add_part(int shard, std::int64_t rows, std::int64_t digest) const {
        std::string const stored = "nightly0items000" + std::to_string(shard) + "x1";
        row_builder made{"backup", "part000" + std::to_string(shard) + "__items"};
        made.add("state", value_view{std::string_view{"whole"}});
        made.add("store", value_view{std::string_view{"one"}});
        made.add(shard == 0 ? "high" : "low", value_view{std::string_view{"m"}});
        made.add("attempt", value_view{std::int64_t{1}});
        made.add("stored", value_view{std::string_view{stored}});
        made.add("rows", value_view{rows});
        made.add("digest", value_view{digest});
        add(made.build());
        table<item>{archive, stored}.create().value();
    }
    explicit old_backup(std::string_view state, bool lacks_rows = false) {
        table<item>{archive, "nightly0backup"}.create().value();
        add(header(state));
        add_part(0, lacks_rows ? 0 : 2, lacks_rows ? 0 : 1'051'940'780'549'473'442);
        add_part(1, 1, 1'559'826'000'454'135'051);
        for (auto const* group : {"alice", "anna", "zoe"}) {
            bool const upper = std::string_view{group} == "zoe";
            if (upper || !lacks_rows) {
                table<item>{archive, upper ? "nightly0items0001x1" : "nightly0items0000x1"}
                    .insert({group, 1, "before", 1})
                    .value();
            }
        }
    }
};

} // namespace

TEST_CASE("backup: a backup of an earlier version is verified and restored") {
    old_backup const made{"whole"};
    CHECK(verify_backup(made.archive, "nightly").value().rows == 3);
    world const other;
    fleet const target{other.open(virtual_shards{2}, {"x"})};
    CHECK(restore(made.archive, "nightly", target).value().rows == 3);
    CHECK(table<item>{target.cloud(), "items"}.scan_table().to().value().size() == 3);
}

TEST_CASE("backup: complete parts of an unfinished backup of an earlier version are copied again") {
    old_backup const old{"copying", true};
    small_fleet made;
    made.archive = old.archive;
    auto const again = back_up(made.program(), made.archive, "nightly").value();
    CHECK(again.kept == 0);
    CHECK(again.rows == 3);
    CHECK(made.restored().size() == 3);
}
