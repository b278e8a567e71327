// SPDX-License-Identifier: MIT
// Copyright (c) 2026 the entitable authors

// Backups under load, killed at every request, damaged, and restored into fleets of other shapes.

#include "fleets.hpp"
#include "support/catch.hpp"
#include "support/long.hpp"
#include "support/temporary_folder.hpp"
#include <entitable/client/row_table.hpp>
#include <entitable/file.hpp>
#include <entitable/memory.hpp>
#include <entitable/shards/fleet/fleet_backup.hpp>

#include <support/maps.hpp>

#include <algorithm>
#include <atomic>
#include <map>
#include <set>
#include <thread>

using namespace entitable;
using namespace entitable_test;
using namespace fleets;

namespace {

/// A program that ends at one of its requests, before or behind it: everything it sends afterwards goes nowhere.
class mortal {
public:
    using is_transport = void;

    struct life {
        std::atomic<std::size_t> sent{0};
        std::size_t ends_at{static_cast<std::size_t>(-1)};
        bool behind{};
    };
    mortal(any_store below, std::shared_ptr<life> of) : below_(std::move(below)), life_(std::move(of)) {}
    [[nodiscard]] entitable::profile profile() const { return below_.profile(); }
    template <table_request Request>
        requires(!std::same_as<Request, read_entity> && !std::same_as<Request, read_entities>)
    [[nodiscard]] result<response_of<Request>> execute(Request const& request, call& context) const {
        std::size_t const number = life_->sent++;
        if (number > life_->ends_at || (number == life_->ends_at && !life_->behind)) {
            return failure{error_code::cancelled, "the program has ended"};
        }
        auto answer = below_.execute(request, context);
        if (number == life_->ends_at) { return failure{error_code::cancelled, "the program has ended"}; }
        return answer;
    }

private:
    any_store below_;
    std::shared_ptr<life> life_;
};

/// The same world through the eyes of a program that ends.
fleet fleet_of(world const& all, std::shared_ptr<mortal::life> const& of, virtual_shards shards) {
    static testing::manual_clock time; // nobody waits
    auto map = lookup_map::open(all.catalogue, "shardmap", std::move(shards), {std::chrono::milliseconds{0}}).value();
    return fleet{sharded{map,
                     [all, of](std::string_view name) -> result<any_store> {
                         return any_store{mortal{any_store{all.store(name)}, of}};
                     }},
        {.in_flight = 1, .time = &time}};
}

std::size_t count_of_tables(any_store const& store) {
    call context;
    return store.execute(list_tables{}, context).value().tables.size();
}

} // namespace

TEST_CASE("backup: a backup is restored into a fleet with different shards, including system rows") {
    world const all;
    fleet const stores{all.open(virtual_shards{6})};
    auto const items = fill(stores.cloud());
    fill(stores.cloud(), 7, "others");
    table<item> const empty{stores.cloud(), "empty"};
    empty.create().value();
    call context;
    any_store const cloud{stores.cloud()};
    cloud
        .execute(
            write_entity{"items", mutation::insert(row{"g1", "~!op!x", row_builder{"g1", "~!op!x"}.build().payload()})},
            context)
        .value();

    memory_backend const archive;
    auto const made = back_up(stores, archive, "nightly").value();
    CHECK(made.rows == 128);
    CHECK(made.kept == 0);
    CHECK(made.parts.size() == 18);
    CHECK(made.header.tables == "items;others;empty");
    CHECK(verify_backup(archive, "nightly").value().rows == 128);
    CHECK(back_up(stores, archive, "nightly").error().code == error_code::invalid_input);
    CHECK(back_up(stores, archive, "night-ly").error().code == error_code::invalid_input);

    items.remove("g8", 8, any_etag).value(); // after the backup
    world const other;
    fleet const target{other.open(virtual_shards{11}, {"x", "y"})};
    auto const restored = restore(archive, "nightly", target).value();
    CHECK((restored.rows == 128 && restored.written == 128));
    CHECK(restore(archive, "nightly", target).value().written == 0); // again: everything is there
    auto const told = audit(stores, target).value();
    REQUIRE(told.size() == 3);
    CHECK((told[1].table == "items" && told[1].equal == 120 && told[1].only_right == 1 && told[1].different == 0));
    CHECK(check_fleet(target).value().healthy());
    CHECK(table<item>{target.cloud(), "items"}.get("g8", 8).value().size == 8);

    // Somebody else's row, and one that is there otherwise.
    table<item> const there{target.cloud(), "items"};
    there.insert({"new", 1, "x", 1}).value();
    CHECK(restore(archive, "nightly", target).error().code == error_code::row_mismatch);
    there.remove("new", 1, any_etag).value();
    there.update("g8", 8, [](item& each) { each.size = 9; }).value();
    CHECK(restore(archive, "nightly", target).error().code == error_code::entity_already_exists);

    CHECK(restore(archive, "weekly", target).error().code == error_code::backup_incomplete);
    drop_backup(archive, "nightly").value();
    drop_backup(archive, "nightly").value();
    CHECK(count_of_tables(archive) == 0);
}

TEST_CASE("backup: damage is detected before it is served") {
    world const all;
    fleet const stores{all.open(virtual_shards{3})};
    fill(stores.cloud());
    memory_backend const archive;
    auto const made = back_up(stores, archive, "nightly").value();
    row_table const part{archive, made.parts.at(1).stored};
    std::string partition;
    std::string key;
    part.for_each({}, {},
            [&](entity const& each) {
                partition = each.partition_key();
                key = each.row_key();
            })
        .value();
    SECTION("a row is missing") { part.remove(partition, key, any_etag).value(); }
    SECTION("a row differs") {
        entity changed{partition, key};
        changed.set("size", std::int32_t{-1});
        part.merge(changed, any_etag).value();
    }
    CHECK(verify_backup(archive, "nightly").error().code == error_code::row_mismatch);
    CHECK(verify_backup(archive, "nightly").error().message.find("virtual shard 1") != std::string::npos);
    world const other;
    CHECK(restore(archive, "nightly", fleet{other.open(virtual_shards{2})}).error().code == error_code::row_mismatch);
}

TEST_CASE("backup: a run that was stopped at any request is resumed by the next run") {
    testing::manual_clock time;
    std::size_t points = 0;
    std::size_t kept = 0;
    for (bool const behind : {false, true}) {
        for (std::size_t at = 0;; at += behind ? rounds(3, 1) : 1) {
            world const all;
            fleet const stores{all.open(virtual_shards{3}), {.time = &time}};
            fill(stores.cloud(), 30);
            memory_backend const archive;
            auto const life = std::make_shared<mortal::life>();
            life->ends_at = at;
            life->behind = behind;
            auto const first =
                back_up(fleet_of(all, life, virtual_shards{3}), any_store{mortal{any_store{archive}, life}}, "nightly");
            if (life->sent <= at) {
                REQUIRE(first);
                break;
            }
            ++points;
            CAPTURE(at, behind);
            REQUIRE_FALSE(first);
            // Half of a backup is none.
            world const early;
            fleet const target{early.open(virtual_shards{2}), {.time = &time}};
            auto const tried = restore(archive, "nightly", target);
            if (!tried) {
                CHECK(tried.error().code == error_code::backup_incomplete);
                auto const again = back_up(stores, archive, "nightly");
                REQUIRE(again);
                kept += again->kept;
                CHECK(again->rows == 30);
            } else {
                CHECK(tried->rows == 30); // it ended behind its last change
            }
            CHECK(verify_backup(archive, "nightly"));
            drop_backup(archive, "nightly").value();
            CHECK(count_of_tables(archive) == 0); // nothing of an attempt is left
        }
    }
    CHECK(points > 40);
    CHECK(kept > 20);
}

TEST_CASE("restore: a run that was stopped at any request is resumed by the next run") {
    world const all;
    testing::manual_clock time;
    fleet const stores{all.open(virtual_shards{2}), {.time = &time}};
    fill(stores.cloud(), 20);
    memory_backend const archive;
    back_up(stores, archive, "nightly").value();
    std::size_t points = 0;
    for (bool const behind : {false, true}) {
        for (std::size_t at = 0;; at += behind ? rounds(3, 1) : 1) {
            world const other;
            fleet const target{other.open(virtual_shards{3}), {.time = &time}};
            auto const life = std::make_shared<mortal::life>();
            life->ends_at = at;
            life->behind = behind;
            auto const first = restore(
                any_store{mortal{any_store{archive}, life}}, "nightly", fleet_of(other, life, virtual_shards{3}));
            CAPTURE(at, behind);
            if (life->sent <= at) {
                REQUIRE(first);
                break;
            }
            ++points;
            REQUIRE_FALSE(first);
            REQUIRE(restore(archive, "nightly", target));
            CHECK(audit(stores, target).value().at(0).same());
        }
    }
    CHECK(points > 30);
}

TEST_CASE("backup: a backup is complete despite faults on single stores and shards that move during the backup") {
    world const all;
    auto const cloud = all.open(virtual_shards{6});
    fleet const stores{cloud, {.in_flight = 2}};
    fill(cloud);
    testing::faulty const archive{any_store{memory_backend{}}};
    archive.plan({testing::fault::lost_after(), 3, "transact"});
    archive.plan({testing::fault::lost_before(), 7, "transact"});
    archive.plan({testing::fault::busy(), 9, "transact"});
    all.store("beta").plan({testing::fault::refused(), 2, "query_entities"});
    auto const failed = back_up(stores, any_store{archive}, "nightly");
    CHECK(failed.error().message.starts_with("the store beta: "));
    bool moved = false;
    backup_options options;
    options.snapshot = [&](std::string_view name, any_store const& there) -> result<any_store> {
        if (name == "beta" && !moved) { // between the reading of the map and that of the shard
            moved = true;
            auto const map = cloud.map().state().fresh({}).value();
            for (detail::shard_place const& each : map->places) {
                if (each.row.store == "beta") { plan_move(cloud, each.row.shard, "delta").value().run().value(); }
            }
        }
        return there;
    };
    auto const made = back_up(stores, any_store{archive}, "nightly", options).value();
    CHECK(made.kept >= 4);
    CHECK(made.rows == 120);
    CHECK_FALSE(made.header.snapshots); // what the first run has copied was none
    CHECK(std::count_if(made.parts.begin(), made.parts.end(), [](auto const& each) { return each.store == "delta"; }) >=
        1);
    world const other;
    fleet const target{other.open(virtual_shards{2})};
    other.store("gamma").plan({testing::fault::refused(), 2, "transact"});
    CHECK(restore(any_store{archive}, "nightly", target));
    CHECK(audit(stores, target).value().at(0).same());
    CHECK(archive.all_fired());
}

TEST_CASE("backup: files under load are backed up, each store as of one point in time") {
    temporary_folder const folder{temporary_folder::memory()};
    file_options quick;
    quick.durability = durability::relaxed;
    std::map<std::string, file_backend> files;
    for (auto const* name : {"one", "two", "three"}) {
        files.emplace(name, file_backend{folder / (std::string{name} + ".db"), quick});
    }
    memory_backend const catalogue;
    sharded const cloud = entitable_test::cloud_of(catalogue, "shardmap", virtual_shards{6}, {"one", "two", "three"},
        [&](std::string_view name) -> result<any_store> { return any_store{files.at(std::string{name})}; });
    fleet const stores{cloud};
    table<item> const items{cloud, "items"};
    items.create().value();
    constexpr int groups = 12;
    // Two rows of each group always have the same size; a row more is there from each round on.
    std::atomic<bool> stop{false};
    std::atomic<std::int32_t> acknowledged{0};
    auto const round = [&](std::int32_t number) {
        for (int group = 0; group < groups; ++group) {
            std::string const name = "g" + std::to_string(group);
            auto change = items.batch();
            change.insert_or_replace({name, 0, "low", number});
            change.insert_or_replace({name, 9999, "high", number});
            change.insert_or_replace({name, number, std::string(200, 'x'), number});
            change.submit().value();
        }
        acknowledged = number;
    };
    for (std::int32_t number = 1; number <= 40; ++number) { round(number); }
    std::thread writer{[&] {
        for (std::int32_t number = 41; !stop; ++number) { round(number); }
    }};
    struct stop_at_end {
        std::atomic<bool>& flag;
        std::thread& thread;
        ~stop_at_end() {
            flag = true;
            if (thread.joinable()) { thread.join(); }
        }
    } const end{stop, writer};
    while (acknowledged < 42) { std::this_thread::yield(); }
    std::atomic<int> copies{0};
    backup_options options;
    options.snapshot = [&](std::string_view name, any_store const&) -> result<any_store> {
        std::string const path = folder / ("copy" + std::to_string(++copies) + ".db");
        if (auto copied = files.at(std::string{name}).copy_to(path); !copied) { return std::move(copied).as_failure(); }
        auto opened = file_backend::open(path, quick);
        return opened ? result<any_store>{any_store{*std::move(opened)}} : std::move(opened).as_failure();
    };
    std::int32_t const before = acknowledged;
    file_backend const archive{folder / "archive.db", quick};
    auto const made = back_up(stores, archive, "hourly", options).value();
    CHECK(made.header.snapshots);
    CHECK(copies >= 3);
    CHECK(acknowledged > before); // writers were not kept waiting
    stop = true;
    writer.join();

    memory_backend const second_catalogue;
    std::map<std::string, memory_backend> second;
    fleet const target{
        entitable_test::cloud_of(second_catalogue, "shardmap", virtual_shards{4}, {"a", "b"},
            [&](std::string_view name) -> result<any_store> { return any_store{second[std::string{name}]}; }),
        {.in_flight = 1}};
    restore(archive, "hourly", target).value();
    table<item> const restored{target.cloud(), "items"};
    for (int group = 0; group < groups; ++group) {
        std::string const name = "g" + std::to_string(group);
        auto const low = restored.get(name, 0).value().size;
        CHECK(low == restored.get(name, 9999).value().size); // a transaction is whole
        CHECK(low >= before);                                // nothing that was acknowledged is missing
        CHECK(restored.where(fields<item>::group == name).count().value() == static_cast<std::uint64_t>(low) + 2);
    }
}
