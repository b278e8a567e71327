// SPDX-License-Identifier: MIT
// Copyright (c) 2026 the entitable authors

// Maps and headers of stores as programs wrote them before there were identities: golden values, in the middle of everything. They are opened, read, written and
// moved as before, and get no row and no property that those programs did not know.

#include "shards.hpp"
#include "support/catch.hpp"
#include "support/maps.hpp"
#include <entitable/fleet.hpp>
#include <entitable/memory.hpp>

#include <map>
#include <set>

using namespace entitable;
using entitable_test::tables_in;

namespace {

struct line {
    std::string place;
    std::int32_t number{};
};
ENTITABLE(line, partition_key(place), row_key(width(number, 4)), properties())

/// A map by ranges that was made with the bound "m": the lower range was split at "h"; its lower half is being moved by a program that died, has an
/// old table that was not dropped, and a table is dropped in part.
struct earlier_map {
    testing::manual_clock time;
    any_store catalogue{memory_backend{}};
    std::map<std::string, any_store, std::less<>> stores;

    using properties = std::vector<std::pair<std::string, value>>;

    static void put(any_store const& store, std::string const& table, std::string const& partition,
        std::string const& row_key, properties const& all) {
        call creating;
        static_cast<void>(store.execute(create_table{table}, creating));
        row_builder made{partition, row_key};
        for (auto const& [name, each] : all) { made.add(name, each); }
        call context;
        store.execute(write_entity{table, mutation::insert(made.build())}, context).value();
    }
    void put_shard(std::string const& row_key, properties const& own) const {
        properties all{{"lease_ms", value{std::int64_t{0}}}, {"open_lease_ms", value{std::int64_t{0}}},
            {"reason", value{std::string_view{""}}}, {"until", value{date_time{}}},
            {"nonce", value{std::string_view{"n"}}}};
        all.insert(all.end(), own.begin(), own.end());
        put(catalogue, "shardmap", "map", row_key, all);
    }

    earlier_map() {
        stores.emplace("one", memory_backend{});
        stores.emplace("two", memory_backend{});
        put(catalogue, "shardmap", "map", "header",
            {{"strategy", value{std::string_view{"ranges"}}}, {"hash_version", value{std::int32_t{1}}},
                {"fingerprint", value{std::int64_t{7'006'652}}}, {"number", value{std::int32_t{3}}},
                {"version", value{std::int64_t{9}}}, {"next_epoch", value{std::int64_t{7}}},
                {"tables", value{std::string_view{"lines:2;old:4-"}}}, {"nonce", value{std::string_view{"n"}}}});
        put_shard("shard0000",
            {{"low", value{std::string_view{""}}}, {"high", value{std::string_view{"h"}}},
                {"state", value{std::string_view{"draining"}}}, {"store", value{std::string_view{"one"}}},
                {"epoch", value{std::int64_t{1}}}, {"attempt_owner", value{std::string_view{"dead"}}},
                {"attempt_store", value{std::string_view{"two"}}}, {"attempt_epoch", value{std::int64_t{6}}},
                {"retired", value{std::string_view{"two:3:5"}}}});
        put_shard("shard0001",
            {{"low", value{std::string_view{"m"}}}, {"high", value{std::string_view{""}}},
                {"state", value{std::string_view{"open"}}}, {"store", value{std::string_view{"two"}}},
                {"epoch", value{std::int64_t{1}}}, {"attempt_owner", value{std::string_view{""}}},
                {"attempt_store", value{std::string_view{""}}}, {"attempt_epoch", value{std::int64_t{0}}},
                {"retired", value{std::string_view{""}}}});
        put_shard("shard0002",
            {{"low", value{std::string_view{"h"}}}, {"high", value{std::string_view{"m"}}},
                {"tables_of", value{std::int32_t{0}}}, {"state", value{std::string_view{"open"}}},
                {"store", value{std::string_view{"one"}}}, {"epoch", value{std::int64_t{1}}},
                {"attempt_owner", value{std::string_view{""}}}, {"attempt_store", value{std::string_view{""}}},
                {"attempt_epoch", value{std::int64_t{0}}}, {"retired", value{std::string_view{""}}}});
        put(stores.at("one"), "lines0000x2", "a", "0001", {});
        put(stores.at("one"), "lines0000x2", "k", "0001", {});
        put(stores.at("two"), "lines0001x2", "z", "0001", {});
        put(stores.at("two"), "lines0000x3", "a", "0009", {}); // retired
        put(stores.at("two"), "lines0000x6", "a", "0001", {}); // of the attempt
        put(stores.at("one"), "old0000x4", "a", "0001", {});   // dropped in part
    }
    [[nodiscard]] sharded open() {
        return sharded{
            lookup_map::open(catalogue, "shardmap", virtual_shards::ranges({}), {std::chrono::milliseconds{0}, &time})
                .value(),
            [this](std::string_view name) -> result<any_store> { return stores.find(name)->second; }};
    }
    /// The rows of the map by key, each with the names of its properties.
    [[nodiscard]] std::map<std::string, std::set<std::string>> stored() const {
        call context;
        auto const found = catalogue.execute(query_entities{"shardmap", {}, {}, {}, 1000, {}}, context).value();
        std::map<std::string, std::set<std::string>> all;
        for (std::size_t index = 0; index < found.rows.size(); ++index) {
            row_view const each = found.rows[index];
            auto& names = all[std::string{each.row_key}];
            property_cursor at{each.payload};
            for (property_view property; at.next(property);) {
                if (property.present) { names.insert(std::string{property.name}); }
            }
        }
        return all;
    }
};

std::set<std::string> places_in(sharded const& cloud) {
    std::set<std::string> all;
    for (line const& each : table<line>{cloud, "lines"}.scan_table().to().value()) { all.insert(each.place); }
    return all;
}

} // namespace

TEST_CASE("earlier maps: a map in the middle of a move, a split and a drop remains usable") {
    earlier_map all;
    auto const before = all.stored();
    sharded const cloud = all.open();
    table<line> const lines{cloud, "lines"};
    CHECK(places_in(cloud) == std::set<std::string>{"a", "k", "z"});
    CHECK(lines.insert({"b", 1}).error().code == error_code::shard_moving);
    CHECK(lines.insert({"l", 1}));
    CHECK(lines.insert({"y", 1}));
    move_options quick;
    quick.short_lease = std::chrono::milliseconds{0};
    quick.time = &all.time;
    CHECK(plan_move(cloud, 0, "two", quick).value().run()); // takes over
    CHECK(plan_move(cloud, 2, "two", quick).value().run());
    CHECK(lines.insert({"b", 1}));
    CHECK(places_in(cloud) == std::set<std::string>{"a", "b", "k", "l", "y", "z"});
    table<line> const old{cloud, "old"};
    CHECK(old.create());
    CHECK(old.scan_table().to().value().empty());
    CHECK(old.drop());
    CHECK(plan_merge(cloud, 0, 2, "two", quick).value().run());
    CHECK(places_in(cloud).size() == 6);
    CHECK(tables_in(all.stores.at("one")).empty());
    CHECK(tables_in(all.stores.at("two")).size() == 2);
    CHECK(check_fleet(fleet{cloud})->healthy());

    auto const behind = all.stored();
    CHECK(behind.size() == 3);
    CHECK(behind.at("header") == before.at("header"));
    CHECK(behind.at("shard0000") == before.at("shard0000"));
    CHECK(behind.at("shard0001") == before.at("shard0001"));
    for (auto const& [name, store] : all.stores) { // nothing says whose they are
        call context;
        auto const listed = store.execute(list_tables{}, context).value().tables;
        CHECK(std::find(listed.begin(), listed.end(), "entitableshards") == listed.end());
    }
}

TEST_CASE("earlier maps: a map in the middle of a move is adopted, with the target store of the move") {
    earlier_map all;
    all.stores.emplace("three", memory_backend{});
    auto const done = adopt(all.open()).value();
    CHECK(done.stores == std::vector<std::string>{"one", "two"});
    sharded const cloud = all.open();
    CHECK(places_in(cloud) == std::set<std::string>{"a", "k", "z"});
    move_options quick;
    quick.short_lease = std::chrono::milliseconds{0};
    quick.time = &all.time;
    CHECK(plan_move(cloud, 0, "three", quick).value().run());
    CHECK(places_in(cloud) == std::set<std::string>{"a", "k", "z"});
    CHECK(table<store_identity>{all.stores.at("three"), "entitableshards"}.get("stores", "map")->map == done.identity);
}

TEST_CASE("hashed stores of an earlier version: stores with a header without a state can be opened, used and retired") {
    std::map<std::string, any_store, std::less<>> stores;
    std::vector<std::string> const names{"one", "two"};
    for (std::size_t place = 0; place < names.size(); ++place) {
        any_store const& store = stores.emplace(names[place], memory_backend{}).first->second;
        earlier_map::put(store, "entitableshards", "stores", "generation000000001",
            {{"fleet", value{std::string_view{"0e984725-c51c-4bf4-9960-e1c80e27aba0"}}},
                {"number", value{std::int32_t{2}}}, {"place", value{static_cast<std::int32_t>(place)}},
                {"hash_version", value{std::int32_t{1}}}});
        call context;
        store.execute(create_table{"lines000" + std::to_string(place) + "x1"}, context).value();
    }
    auto const opener = [&](std::string_view name) -> result<any_store> { return stores.find(name)->second; };
    CHECK(hash_stores::make(names, opener).error().code == error_code::already_made);
    auto const opened = hash_stores::open(names, opener).value();
    table<line> const lines{sharded{opened}, "lines"};
    CHECK(lines.insert({"NYC__Full", 1}));
    CHECK(lines.scan_table().to().value().size() == 1);
    CHECK(opened.retire());
    CHECK(hash_stores::open(names, opener).error().code == error_code::wrong_store);
}
