// SPDX-License-Identifier: MIT
// Copyright (c) 2026 the entitable authors

// Hashed stores: where keys are, how and when a wrong list of stores is refused, what that costs in requests, and growing by a copy.

#include "shards.hpp"
#include "support/catch.hpp"
#include "support/delayed.hpp"
#include <entitable/bulk.hpp>
#include <entitable/fleet.hpp>
#include <entitable/memory.hpp>

#include <map>

using namespace entitable;
using namespace entitable_test;

namespace {

struct item {
    std::string group;
    std::int32_t number{};
    friend bool operator==(item const&, item const&) = default;
};
ENTITABLE(item, partition_key(group), row_key(width(number, 4)), properties())
using i = fields<item>;

/// Stores in memory behind names, which can fail, and by one clock.
struct hashed {
    testing::manual_clock time;
    std::map<std::string, testing::faulty<any_store>> stores;

    [[nodiscard]] testing::faulty<any_store>& store(std::string const& name) {
        return stores.try_emplace(name, any_store{memory_backend{}}).first->second;
    }
    [[nodiscard]] store_opener opener() {
        return [this](std::string_view name) -> result<any_store> { return any_store{store(std::string{name})}; };
    }
    [[nodiscard]] hash_stores_options by_clock(std::int64_t generation = 1) {
        hash_stores_options options;
        options.generation = generation;
        options.time = &time;
        return options;
    }
    [[nodiscard]] result<hash_stores> make(std::vector<std::string> const& names, std::int64_t generation = 1) {
        return hash_stores::make(names, opener(), by_clock(generation));
    }
    [[nodiscard]] result<hash_stores> open(std::vector<std::string> const& names, std::int64_t generation = 1) {
        return hash_stores::open(names, opener(), by_clock(generation));
    }
    [[nodiscard]] table<hash_store_header> headers(std::string const& name) {
        return table<hash_store_header>{store(name), "entitableshards"};
    }
};

std::vector<std::string> numbered_stores(std::size_t count) {
    std::vector<std::string> all;
    for (std::size_t at = 0; at < count; ++at) { all.push_back("store" + std::to_string(at)); }
    return all;
}

/// A key in the store of this place.
std::string key_in(std::uint32_t place, std::uint32_t number) {
    for (int at = 0;; ++at) {
        std::string made = "g" + std::to_string(at);
        if (virtual_shards::jump(number).shard_of(made) == place) { return made; }
    }
}

void check_refused(error const& told, std::string_view store, std::string_view found) {
    CAPTURE(told.to_string());
    CHECK(told.code == error_code::wrong_store);
    CHECK(told.effect == effect::none);
    CHECK(told.message.find(store) != std::string::npos);
    CHECK(told.message.find(found) != std::string::npos);
}

} // namespace

TEST_CASE("hashed stores: the stored form never changes") {
    CHECK(virtual_shards::jump(11).shard_of("") == 1U);
    CHECK(virtual_shards::jump(11).shard_of("NYC__Full") == 10U);
    CHECK(virtual_shards::jump(11).shard_of("tenant-42") == 4U);
    hashed all;
    (void)all.make({"one", "two"}, 7).value();
    query_entities everything{"ENTITABLEshards", {}, {}, {}, 1000, {}};
    call context;
    auto const found = all.store("two").execute(everything, context).value().rows;
    REQUIRE(found.size() == 1);
    CHECK(found[0].partition_key == "stores");
    CHECK(found[0].row_key == "generation000000007");
    auto const header = all.headers("two").get("stores", 7).value();
    CHECK(header.fleet == all.headers("one").get("stores", 7).value().fleet);
    CHECK(header.fleet.size() == 36);
    CHECK(header.number == 2);
    CHECK(header.place == 1);
    CHECK(header.hash_version == 1);
}

TEST_CASE("hashed stores: each key is only in the store of its hash") {
    hashed all;
    sharded const cloud{all.make({"one", "two", "three"}).value()};
    table<item> const items{cloud, "items"};
    items.create().value();
    std::size_t total = 0;
    for (std::int32_t number = 0; number < 200; ++number) {
        items.insert({"g" + std::to_string(number % 50), number}).value();
    }
    std::vector<std::string> const names{"one", "two", "three"};
    for (std::size_t place = 0; place < names.size(); ++place) {
        std::string const stored = "items000" + std::to_string(place) + "x1";
        for (item const& each : table<item>{all.store(names[place]), stored}.scan_table()) {
            CHECK(jump_hash(shard_hash(each.group), 3) == place);
            ++total;
        }
    }
    CHECK(total == 200);
    CHECK(items.scan_table().count().value() == 200);
    std::string const said = cloud.explain("items").value();
    CHECK(said.find("fan-out: 3 of 3 tables in 3 stores") == 0);
    CHECK(said.find("items0002x1 in three") != std::string::npos);
    CHECK(cloud.map().to_string().value().find("by jump") != std::string::npos);
    CHECK(check_fleet(fleet{cloud}).value().healthy());
}

TEST_CASE("hashed stores: a list with a different order, a different length, or a foreign or new store is refused") {
    hashed all;
    (void)all.make({"one", "two", "three"}).value();
    (void)all.make({"uno", "due", "tre"}).value();
    check_refused(all.open({"one", "three", "two"}).error(), "three, place 1 of 3", "has place 2 of 3");
    check_refused(all.open({"one", "two"}).error(), "one, place 0 of 2", "has place 0 of 3");
    check_refused(all.open({"one", "two", "three", "four"}).error(), "one", "has place 0 of 3");
    check_refused(all.open({"one", "due", "three"}).error(), "due", "belongs to the fleet");
    check_refused(all.open({"one", "two", "new"}).error(), "new", "has no header for generation 1");
    check_refused(all.open({"one", "two", "three"}, 2).error(), "one", "no header for generation 2, but for 1");
    // What a name opens is another store.
    auto const swapped = [&](std::string_view name) { return all.opener()(name == "two" ? "three" : name); };
    check_refused(
        hash_stores::open({"one", "two", "three"}, swapped, all.by_clock()).error(), "two", "has place 2 of 3");
    CHECK(all.open({"one", "two", "three"}));
    // Nobody takes a store for two fleets.
    check_refused(all.make({"one", "new"}).error(), "one", "has place 0 of 3");
    check_refused(all.make({"one", "two", "tre"}).error(), "tre", "belongs to the fleet");
    CHECK(all.headers("new").scan_table().count().value_or(0) == 0);
    for (std::vector<std::string> const& none :
        {std::vector<std::string>{}, {"a", "a"}, {"a b"}, {""}, numbered_stores(901)}) {
        CHECK(all.open(none).error().code == error_code::invalid_input);
        CHECK(all.make(none).error().code == error_code::invalid_input);
    }
    CHECK(all.make({"a"}, 0).error().code == error_code::invalid_input);
}

TEST_CASE("hashed stores: headers are checked once a minute") {
    hashed all;
    sharded const cloud{all.make({"one", "two", "three"}).value()};
    table<item> const items{cloud, "items"};
    items.create().value();
    std::string const key = key_in(1, 3);
    items.insert({key, 1}).value();
    all.headers("two").remove("stores", 1, any_etag).value();
    all.time.advance(std::chrono::seconds{59});
    CHECK(items.get(key, 1));
    all.time.advance(std::chrono::seconds{1});
    check_refused(items.get(key, 1).error(), "two", "has no header");
    check_refused(items.insert({key, 2}).error(), "two", "has no header");
    check_refused(items.scan_table().to().error(), "two", "has no header");
    CHECK(items.insert({key_in(0, 3), 2})); // the others go on
    check_refused(
        partial(cloud, [](any_store const& there) { return table<item>{there, "items"}.scan_table().to(); }).error(),
        "two", "has no header"); // not a store that is away, but a wrong one
    hash_store_header header;
    header.generation = 1;
    header.fleet = all.headers("one").get("stores", 1).value().fleet;
    header.number = 3;
    header.place = 2;
    header.hash_version = shard_hash_version;
    all.headers("two").insert(header).value();
    check_refused(items.get(key, 1).error(), "two", "has place 2 of 3");
    header.place = 1;
    header.fleet = "another";
    all.headers("two").insert_or_replace(header).value();
    check_refused(items.get(key, 1).error(), "two", "belongs to the fleet another");
    header.fleet = all.headers("one").get("stores", 1).value().fleet;
    header.hash_version = 2;
    all.headers("two").insert_or_replace(header).value();
    check_refused(items.get(key, 1).error(), "two", "hash version 2");
    header.hash_version = shard_hash_version;
    all.headers("two").insert_or_replace(header).value();
    CHECK(items.get(key, 1));
    CHECK(items.scan_table().count().value() == 2);
}

TEST_CASE("hashed stores: a wrong or unreachable store does not affect the others") {
    hashed all;
    sharded const cloud{all.make({"one", "two", "three"}).value()};
    table<item> const items{cloud, "items"};
    items.create().value();
    all.headers("one").remove("stores", 1, any_etag).value();
    for (int minute = 0; minute < 10; ++minute) {
        all.time.advance(std::chrono::minutes{1});
        all.store("two").plan({testing::fault::refused(), 1, "query_entities"});
        CHECK(items.insert({key_in(2, 3), minute}));
        check_refused(items.insert({key_in(0, 3), minute}).error(), "one", "has no header");
        static_cast<void>(
            items.insert_or_replace({key_in(1, 3), minute})); // its header is looked at here or for its tables
        CHECK(items.insert_or_replace({key_in(1, 3), minute}));
        CHECK(all.store("two").all_fired());
    }
}

TEST_CASE("hashed stores: an unresponsive store fails only its own requests") {
    hashed all;
    std::vector<std::string> const names{"one", "two", "three"};
    {
        sharded const cloud{all.make(names).value()};
        table<item>{cloud, "items"}.create().value();
    }
    for (std::size_t number = 1; number <= 2; ++number) {
        all.store("one").plan({testing::fault::refused(), number, "query_entities"});
    }
    sharded const cloud{all.open(names).value()}; // opening tolerates it, and lists the tables of the next store
    table<item> const items{cloud, "items"};
    CHECK(items.insert({key_in(1, 3), 1}));
    all.store("one").plan({testing::fault::refused(), 1, "query_entities"});
    auto const away = items.insert({key_in(0, 3), 1});
    REQUIRE(!away);
    CHECK(away.error().message.find("the header of the store one is unreadable") == 0);
    CHECK(away.error().effect == effect::none);
    CHECK(items.insert({key_in(0, 3), 1})); // asked again
    // While somebody looks again a store is used on.
    all.time.advance(std::chrono::seconds{60});
    all.store("two").plan({testing::fault::refused(), 1, "query_entities"});
    auto const some =
        partial(cloud, [](any_store const& there) { return table<item>{there, "items"}.scan_table().to(); }).value();
    REQUIRE(some.missing().size() == 1);
    CHECK(some.missing().front().store == "two");
    CHECK(some.value().size() == 1);
    for (std::string const& each : names) { all.store(each).plan({testing::fault::refused(), 1, "query_entities"}); }
    auto const none = all.open(names);
    REQUIRE(!none);
    CHECK(none.error().message.find("the header of the store one") == 0);
}

TEST_CASE("hashed stores: all headers are read concurrently") {
    testing::manual_clock time;
    std::map<std::string, any_store, std::less<>> stores;
    auto const opener = [&](std::string_view name) -> result<any_store> {
        auto const at = stores.find(name);
        if (at != stores.end()) { return at->second; }
        delayed const made{any_store{memory_backend{}}, time, [] { return std::chrono::milliseconds{20}; }};
        return stores.emplace(std::string{name}, made).first->second;
    };
    hash_stores_options options;
    options.time = &time;
    auto const names = numbered_stores(64);
    (void)hash_stores::make(names, opener, options).value();
    auto begun = time.steady();
    sharded_options how;
    how.time = &time;
    sharded const cloud{hash_stores::open(names, opener, options).value(), how};
    CHECK(time.steady() - begun ==
        std::chrono::milliseconds{60}); // headers, the tables of one store, and its header again: it has none
    table<item> const items{cloud, "items"};
    items.create().value();
    time.advance(std::chrono::minutes{2});
    begun = time.steady();
    CHECK(items.scan_table().count().value() == 0);
    CHECK(time.steady() - begun ==
        std::chrono::milliseconds{80}); // tables of the first, which is checked, the other headers, the page
}

TEST_CASE("hashed stores: can be created in any number of attempts, by several programs concurrently") {
    for (std::size_t failing = 1; failing <= 12; ++failing) {
        CAPTURE(failing);
        hashed all;
        std::vector<std::string> const names{"one", "two", "three"};
        std::size_t refused = 0;
        for (std::string const& each : names) {
            all.store(each).plan(
                {failing % 2 == 0 ? testing::fault::refused() : testing::fault::lost_after(), 1 + failing / 4,
                    failing % 3 == 0       ? "write_entity"
                        : failing % 3 == 1 ? "create_table"
                                           : "query_entities"});
        }
        result<hash_stores> made = all.make(names);
        for (; !made && refused < 20; ++refused) { made = all.make(names); }
        if (!made && made.error().code == error_code::already_made) { // the error came behind the last write
            made = all.open(names);
        }
        REQUIRE(made);
        std::string const fleet = all.headers("one").get("stores", 1).value().fleet;
        for (std::string const& each : names) {
            CHECK(all.headers(each).scan_table().to().value().size() == 1);
            CHECK(all.headers(each).get("stores", 1).value().fleet == fleet);
        }
    }
}

TEST_CASE("hashed stores: a copy in the same stores increases their number from 11 to 64, and the old generation is "
          "retired") {
    hashed all;
    auto const few = numbered_stores(11);
    auto const many = numbered_stores(64);
    hash_stores const old_stores = all.make(few).value();
    sharded const old_cloud{old_stores};
    table<item> const items{old_cloud, "items"};
    items.create().value();
    std::vector<item> given;
    for (std::int32_t number = 0; number < 500; ++number) {
        given.push_back({"g" + std::to_string(number / 2), number});
    }
    CHECK(bulk_insert(items, given).value().written == 500);
    query_entities first{"items", {}, {}, {}, 100, {}};
    call context;
    auto begun = old_cloud.execute(first, context).value();

    sharded const cloud{all.make(many, 2).value()};
    table<item> const grown{cloud, "items"};
    grown.create().value();
    CHECK(bulk_copy(items.scan_table(), grown).value().written == 500);
    CHECK(bulk_copy(items.scan_table(), grown).value().written == 0);
    CHECK(old_stores.retire());
    CHECK(old_stores.retire());                                                // again is done
    CHECK(grown.scan_table().to().value() == items.scan_table().to().value()); // for a minute
    all.time.advance(std::chrono::seconds{60});
    check_refused(items.get("g1", 2).error(), "store", "is retired as generation 1");
    check_refused(all.open(few).error(), "store0", "is retired as generation 1");
    check_refused(all.make(few).error(), "store0", "is retired as generation 1"); // nobody makes it again
    all.time.advance(std::chrono::hours{1}); // nothing that was read before is good
    check_refused(items.get("g1", 2).error(), "store", "is retired as generation 1");
    check_refused(items.scan_table().to().error(), "store", "is retired as generation 1");
    CHECK(grown.get("g1", 2));
    std::size_t rows = begun.rows.size(); // a scan that was begun over 11 goes on over 64
    while (begun.continuation) {
        first.continuation = begun.continuation;
        call again;
        begun = cloud.execute(first, again).value();
        rows += begun.rows.size();
    }
    CHECK(rows == 500);
}

TEST_CASE("hashed stores: tables are created, listed and deleted") {
    hashed all;
    std::vector<std::string> const names{"one", "two", "three"};
    sharded const cloud{all.make(names).value()};
    sharded const other{all.open(names).value()};
    table<item> const items{cloud, "Items"};
    CHECK(items.get("a", 1).error().code == error_code::table_not_found);
    items.create().value();
    CHECK((table<item>{other, "iTEMS"}.insert({"a", 1})));
    CHECK(items.create().error().code == error_code::table_already_exists);
    CHECK((table<item>{other, "iTEMS"}.create().error().code == error_code::table_already_exists));
    table<item>{cloud, std::string(46, 'a')}.create().value();
    CHECK((table<item>{cloud, std::string(47, 'a')}.create().error().code == error_code::invalid_resource_name));
    call context;
    CHECK(other.execute(list_tables{}, context).value().tables ==
        std::vector<std::string>{std::string(46, 'a'), "Items"});
    // One that was made in some stores only is not there, until somebody makes it again.
    all.store("one").plan({testing::fault::refused(), 1, "create_table"});
    table<item> const half{cloud, "half"};
    auto const stopped = half.create();
    REQUIRE(!stopped);
    CHECK(stopped.error().effect == effect::unknown);
    CHECK(half.scan_table().to().error().code == error_code::table_not_found);
    half.create().value();
    CHECK(half.scan_table().to().value().empty());
    // And one that was dropped in some.
    half.insert({key_in(2, 3), 1}).value();
    all.store("three").plan({testing::fault::refused(), 1, "delete_table"});
    CHECK(half.drop().error().effect == effect::unknown);
    CHECK(half.get(key_in(1, 3), 1).error().code == error_code::table_not_found);
    CHECK(half.drop().error().code == error_code::resource_not_found);
    half.create().value();
    CHECK(half.scan_table().to().value().empty());
    half.drop().value();
    CHECK(half.get(key_in(1, 3), 1).error().code == error_code::table_not_found);
}

TEST_CASE("hashed stores: moves and rules are not supported") {
    hashed all;
    sharded const cloud{all.make({"one", "two", "three"}).value()};
    table<item>{cloud, "items"}.create().value();
    CHECK(plan_move(cloud, 0, "four").error().code == error_code::invalid_input);
    auto plan = plan_move(cloud, 0, "two").value();
    CHECK(plan.run().error().code == error_code::not_supported);
    CHECK(put_rule(cloud.map(), placement_rule::never("no", {0}, {"one"})).error().code == error_code::not_supported);
    CHECK(rules_of(cloud.map()).value().all().empty());
    CHECK(set_access(fleet{cloud}, "one", store_access::offline).error().code == error_code::not_supported);
    table<item> const items{cloud, "items"};
    CHECK(items.insert({key_in(0, 3), 1}));
}
