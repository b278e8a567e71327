// SPDX-License-Identifier: MIT
// Copyright (c) 2026 the entitable authors

// Backups, restores and copies of reference tables that are ended at any request while shards move: nothing is lost, and nothing is called whole that
// is not.

#include "ended_anywhere.hpp"
#include <entitable/client/row_table.hpp>
#include <entitable/memory.hpp>
#include <entitable/shards/fleet/fleet_backup.hpp>
#include <entitable/shards/fleet/reference_table.hpp>

using namespace entitable;
using namespace entitable_test;
using namespace fleets;

namespace {

bool is_in(backup_part const& part, std::string const& group) {
    return group >= part.low.value_or("") && (!part.high || group < *part.high);
}

/// The rows of "items" in each part that counts are those of its keys.
void check_whole_parts(any_store const& archive) {
    table<backup_part> const parts{archive, "nightly0backup"};
    auto const found = parts.where(fields<backup_part>::backup == "backup" && fields<backup_part>::shard >= 0).to();
    if (!found) {
        return; // there is no backup yet
    }
    for (backup_part const& each : *found) {
        if (each.state == "whole" && each.table == "items") {
            std::size_t wanted = 0;
            for (item const& row : rows_named("before")) { wanted += is_in(each, row.group) ? 1U : 0U; }
            CAPTURE(each.shard, each.store, *each.source);
            CHECK(table<item>{archive, each.stored}.scan_table().to().value().size() == wanted);
        }
    }
}

std::vector<std::vector<item>> restored(any_store const& archive) {
    world const other;
    sharded const target = other.open(virtual_shards{1}, {"x"});
    restore(archive, "nightly", fleet{target}).value();
    return {table<item>{target, "items"}.scan_table().to().value(),
        table<item>{target, "others"}.scan_table().to().value()};
}

} // namespace

TEST_CASE("backup: can be interrupted at any request while shards move and tables are created") {
    std::size_t kept = 0;
    auto const trials = at_every_request([&](trial& each) {
        ranged const at;
        at.fill();
        memory_backend const archive;
        staged now{at, each};
        auto const first =
            back_up(at.program(now.life), any_store{watched{any_store{archive}, "archive", now.life}}, "nightly");
        if (!now.was_met()) {
            REQUIRE(first);
            return false;
        }
        check_whole_parts(archive);
        bool const is_whole = verify_backup(archive, "nightly").has_value();
        CHECK((!first || is_whole));
        if (!is_whole) {
            auto const again = back_up(fresh_program(at), archive, "nightly");
            REQUIRE(again);
            kept += again->kept;
        }
        auto const rows = restored(archive);
        CHECK(rows[0] == rows_named("before"));
        CHECK(is_one_of(rows[1], makes_tables(each)));
        if (makes_tables(each) && !is_whole) { // the second run has seen the table that was made again
            CHECK(rows[1] == rows_named("made again"));
        }
        drop_backup(archive, "nightly").value();
        call context;
        CHECK(archive.execute(list_tables{}, context).value().tables.empty());
        return true;
    });
    CHECK(trials > 200);
    CHECK(kept > 100);
}

TEST_CASE("restore: can be interrupted at any request while shards move") {
    memory_backend const archive;
    {
        ranged const source;
        source.fill();
        back_up(fleet{source.cloud}, archive, "nightly").value();
    }
    auto const trials = at_every_request([&](trial& each) {
        if (makes_tables(each)) {
            each.change += 1; // nobody may use the tables of a restore
        }
        ranged const at;
        staged now{at, each};
        auto const first =
            restore(any_store{watched{any_store{archive}, "archive", now.life}}, "nightly", at.program(now.life));
        if (!now.was_met()) {
            REQUIRE(first);
            return false;
        }
        for (bool const again : {false, true}) {
            if (again) {
                auto const second = restore(archive, "nightly", fresh_program(at));
                CAPTURE(second ? std::string{} : second.error().to_string(),
                    first ? std::string{} : first.error().to_string());
                REQUIRE(second);
            }
            if (again || first) {
                CHECK(at.rows("items") == rows_named("before"));
                CHECK(at.rows("others") == rows_named("before"));
                CHECK(check_fleet(fleet{at.cloud}).value().unread.empty());
            }
        }
        return true;
    });
    CHECK(trials > 200);
}

TEST_CASE("reference table: publishing can be interrupted at any request while shards move to other stores") {
    bool const repairs = GENERATE(false, true);
    auto const trials = at_every_request([&](trial& each) {
        ranged const at;
        memory_backend const home;
        auto const names_of = [&](fleet const& all, any_store const& source) {
            return reference_table<item>{all, "names", source};
        };
        reference_table<item> const all = names_of(fleet{at.cloud}, home);
        all.source().create().value();
        auto rows = rows_named("old");
        for (item const& row : rows) { all.source().insert(row).value(); }
        all.publish().value();
        if (!repairs) {
            rows.push_back({"z", 1, "new", 7});
            all.source().insert(rows.back()).value();
        }
        staged now{at, each};
        auto const first = [&]() -> result<void> {
            auto const by = names_of(at.program(now.life), any_store{watched{any_store{home}, "archive", now.life}});
            if (repairs) { return by.repair("alpha"); }
            auto const published = by.publish();
            return published ? published->whole() : result<void>{failure{published.error()}};
        }();
        if (!now.was_met()) {
            REQUIRE(first);
            return false;
        }
        auto const check = [&](std::string const& store) {
            any_store const there{at.all.store(store)};
            auto const served = detail::read_pointer({there, "names", "copy"}).value();
            CAPTURE(store);
            REQUIRE(served.version == (repairs ? 1 : 2));
            CHECK(table<item>{there, served.stored}.scan_table().to().value() == rows);
        };
        for (bool const again : {false, true}) {
            if (again && repairs) {
                REQUIRE(names_of(fresh_program(at), home).repair("alpha"));
            } else if (again) {
                auto const published = names_of(fresh_program(at), home).publish();
                REQUIRE(published);
                REQUIRE(published->whole());
            }
            if (repairs) {
                check("alpha"); // served all the time
            } else if (again || (first && each.read_behind)) {
                for (std::string const& store : fleet{at.cloud}.stores().value()) { check(store); }
            }
        }
        return true;
    });
    CHECK(trials > 60);
}
