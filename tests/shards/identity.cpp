// SPDX-License-Identifier: MIT
// Copyright (c) 2026 the entitable authors

// Whose a store is: a store that was emptied, a wrong one and one of another map are noticed, and nothing that was there once is made again unasked.

#include "shards.hpp"
#include "support/catch.hpp"
#include "support/maps.hpp"
#include <entitable/fleet.hpp>
#include <entitable/memory.hpp>

#include <map>
#include <set>

using namespace entitable;
using entitable_test::map_without_identity;
using entitable_test::tables_in;

namespace {

struct item {
    std::string place;
    std::int32_t number{};
    std::string what;
    friend bool operator==(item const&, item const&) = default;
};
ENTITABLE(item, partition_key(place), row_key(width(number, 4)), properties(what))

constexpr std::int32_t places = 30;

/// Stores behind names that can be emptied, or changed for others.
struct store_world {
    testing::manual_clock time;
    memory_backend catalogue;
    std::map<std::string, std::shared_ptr<any_store>> stores;

    [[nodiscard]] any_store& store(std::string const& name) {
        auto& known = stores[name];
        if (!known) { known = std::make_shared<any_store>(memory_backend{}); }
        return *known;
    }
    void empty(std::string const& name) { store(name) = any_store{memory_backend{}}; }

    /// Asks the store that is behind the name now, as a connection to an address does.
    struct by_name {
        using is_transport = void;
        std::shared_ptr<any_store> below;
        [[nodiscard]] entitable::profile profile() const { return below->profile(); }
        template <table_request Request>
            requires(!std::same_as<Request, read_entity> && !std::same_as<Request, read_entities>)
        [[nodiscard]] result<response_of<Request>> execute(Request const& request, call& context) const {
            return below->execute(request, context);
        }
    };
    [[nodiscard]] store_opener opener() {
        return [this](std::string_view name) -> result<any_store> {
            static_cast<void>(store(std::string{name}));
            return any_store{by_name{stores.at(std::string{name})}};
        };
    }
    [[nodiscard]] lookup_map_options brief() {
        lookup_map_options options;
        options.lease = std::chrono::milliseconds{0};
        options.time = &time;
        return options;
    }
    [[nodiscard]] result<lookup_map> make(
        std::vector<std::string> const& names, std::string const& table = "shardmap", std::uint32_t number = 6) {
        return lookup_map::make(catalogue, table, virtual_shards{number}, names, opener(), brief());
    }
    [[nodiscard]] sharded open(std::string const& table = "shardmap", std::uint32_t number = 6) {
        return sharded{lookup_map::open(catalogue, table, virtual_shards{number}, brief()).value(), opener()};
    }
    [[nodiscard]] hash_stores_options hashed(std::int64_t generation = 1) {
        hash_stores_options options;
        options.generation = generation;
        options.time = &time;
        return options;
    }
};

void fill(sharded const& cloud) {
    table<item> const items{cloud, "items"};
    items.create().value();
    for (std::int32_t number = 0; number < places; ++number) {
        items.insert({"p" + std::to_string(number), 1, "old"}).value();
    }
}

bool is_wrong(error const& why, std::string_view what) {
    return why.code == error_code::wrong_store && why.effect == effect::none &&
        why.message.find(what) != std::string::npos;
}

std::set<std::string> properties_of(any_store const& catalogue, std::string const& row_key) {
    call context;
    auto const found = catalogue.execute(get_entity{"shardmap", "map", row_key, {}}, context).value();
    std::set<std::string> names;
    property_cursor at{found.entity.view().payload};
    for (property_view each; at.next(each);) {
        if (each.present) { names.insert(std::string{each.name}); }
    }
    return names;
}

} // namespace

TEST_CASE("identity: an emptied store of a map is an error, and is not repaired automatically") {
    store_world all;
    std::vector<std::string> const names{"a", "b", "c"};
    CHECK(all.make(names));
    sharded const running = all.open();
    fill(running);
    table<item> const watched{running, "items"};
    all.empty("b");
    SECTION("a program starts normally") {
        CHECK(all.make(names).error().code == error_code::already_made);
        sharded const cloud = all.open();
        table<item> const items{cloud, "items"};
        CHECK(is_wrong(items.create_if_absent().error(), "the store b lost the identity of the map"));
        CHECK(is_wrong(items.create().error(), "the store b"));
        CHECK(is_wrong(items.scan_table().to().error(), "the store b"));
        CHECK(tables_in(all.store("b")).empty());
        std::size_t found = 0;
        for (std::int32_t number = 0; number < places; ++number) {
            auto const each = items.get("p" + std::to_string(number), 1);
            found += each ? 1U : 0U;
            CHECK((each || is_wrong(each.error(), "the store b")));
            auto const written = items.insert({"p" + std::to_string(number), 2, "new"});
            CHECK(written.has_value() == each.has_value());
        }
        CHECK((found > 0 && found < places));
        fleet const stores{cloud};
        CHECK_FALSE(check_fleet(stores).value().healthy());
        CHECK(is_wrong(schema_drift(stores).error(), "the store b"));
        CHECK(is_wrong(plan_move(cloud, 1, "d").error(), "the store b"));
        CHECK(is_wrong(plan_move(cloud, 0, "b").error(), "the store b"));
    }
    SECTION("a program is running") {
        std::size_t lost = 0;
        for (std::int32_t number = 0; number < places;
            ++number) { // the table is gone, and the map says that it was whole
            auto const each = watched.get("p" + std::to_string(number), 1);
            lost += each ? 0U : 1U;
            CHECK((each || is_wrong(each.error(), "lacks items")));
        }
        CHECK(lost > 0);
        CHECK(is_wrong(watched.scan_table().to().error(), "lacks items"));
        CHECK(is_wrong(watched.create_if_absent().error(), "lacks items"));
        CHECK(tables_in(all.store("b")).empty());
        all.time.advance(std::chrono::seconds{60});
        CHECK(is_wrong(watched.create_if_absent().error(), "lost the identity"));
    }
    SECTION("one part of a table was deleted") {
        all.stores.clear();
        store_world other;
        CHECK(other.make(names));
        sharded const cloud = other.open();
        fill(cloud);
        call context;
        auto const part = *tables_in(other.store("b")).begin();
        other.store("b").execute(delete_table{part}, context).value();
        table<item> const items{cloud, "items"};
        CHECK(is_wrong(items.create_if_absent().error(), part));
        CHECK(is_wrong(items.scan_table().to().error(), part));
    }
}

TEST_CASE("identity: a name that opens another store of the map is an error") {
    store_world all;
    CHECK(all.make({"a", "b", "c"}));
    fill(all.open());
    std::swap(all.store("a"), all.store("c"));
    sharded const cloud = all.open();
    table<item> const items{cloud, "items"};
    CHECK(is_wrong(items.scan_table().to().error(), "identifies itself as"));
    CHECK(is_wrong(items.create_if_absent().error(), "identifies itself as c"));
}

TEST_CASE("identity: two maps cannot share a store") {
    store_world all;
    CHECK(all.make({"a", "b"}, "mapa"));
    fill(all.open("mapa"));
    auto const refused = all.make({"c", "b"}, "mapb");
    CHECK(is_wrong(refused.error(), "the store b belongs to the map"));
    CHECK(lookup_map::open(all.catalogue, "mapb", virtual_shards{6}).error().code == error_code::shard_map_invalid);
    CHECK(all.make({"c", "d"}, "mapb")); // what was begun is made with other stores
    fill(all.open("mapb"));
    auto plan = plan_move(all.open("mapa"), 0, "d");
    CHECK(is_wrong((plan ? plan->run().error() : plan.error()), "the store d belongs to the map"));
    CHECK(table<item>{all.open("mapa"), "items"}.scan_table().to().value().size() == places);
    CHECK(table<item>{all.open("mapb"), "items"}.scan_table().to().value().size() == places);

    // A catalogue that was emptied makes a new map, whose stores belong to the old one.
    store_world lost;
    lost.stores = all.stores;
    CHECK(is_wrong(lost.make({"a", "b"}, "mapa").error(), "belongs to the map"));
    CHECK(release_store(all.store("b")));
    CHECK(release_store(all.store("b")));
    CHECK(is_wrong(table<item>{all.open("mapa"), "items"}.scan_table().to().error(), "the store b"));
}

TEST_CASE("identity: a map that replaces the opened map is refused") {
    store_world all;
    CHECK(all.make({"a"}));
    sharded const cloud = all.open();
    fill(cloud);
    call context;
    any_store{all.catalogue}.execute(delete_table{"shardmap"}, context).value();
    CHECK(all.make({"b"}));
    table<item> const items{cloud, "items"};
    CHECK(items.get("p1", 1).error().code == error_code::shard_map_invalid);
    CHECK(items.insert({"p1", 9, ""}).error().code == error_code::shard_map_invalid);
    CHECK(tables_in(all.store("b")).empty());
}

TEST_CASE("identity: a map of an earlier version still works; adopting it marks stores and tables") {
    store_world all;
    auto const before =
        map_without_identity(all.catalogue, "shardmap", virtual_shards{6}, {"a", "b", "c"}, all.brief());
    sharded const old{before, all.opener()};
    fill(old);
    table<item> const items{old, "items"};
    plan_move(old, 1, "d").value().run().value();
    CHECK(items.scan_table().to().value().size() == places);
    items.drop().value();
    fill(old);
    std::set<std::string> const of_header{
        "strategy", "hash_version", "fingerprint", "number", "version", "next_epoch", "tables", "nonce"};
    CHECK(properties_of(all.catalogue, "header") == of_header);
    shard_map_header const header = table<shard_map_header>{all.catalogue, "shardmap"}.get("map", "header").value();
    CHECK(header.tables == "items:4");
    for (char const* name : {"a", "b", "c", "d"}) {
        CHECK(tables_in(all.store(name)).size() > 0);
        call context;
        CHECK(
            all.store(name).execute(list_tables{}, context).value().tables.size() == tables_in(all.store(name)).size());
    }
    SECTION("a store that was emptied before the adoption is not adopted") {
        all.empty("c");
        CHECK(is_wrong(adopt(all.open()).error(), "the store c lacks items"));
        CHECK(all.open().map().state().fresh({}).value()->identity.empty()); // it does not count yet
        CHECK(properties_of(all.catalogue, "header") == of_header);
        CHECK(table<item>{all.open(), "items"}
                .create_if_absent()
                .has_value()); // as before: not whole is what it is until adopted
    }
    SECTION("the map is adopted in any number of attempts") {
        auto const done = adopt(all.open()).value();
        CHECK(done.stores == std::vector<std::string>{"a", "b", "c", "d"});
        CHECK(adopt(all.open()).value().stores.empty());
        CHECK(adopt(all.open()).value().identity == done.identity);
        auto const own = table<shard_map_identity>{all.catalogue, "shardmap"}.get("map", "identity").value();
        CHECK(own.identity == done.identity);
        CHECK_FALSE(own.state);
        CHECK(table<shard_map_header>{all.catalogue, "shardmap"}.get("map", "header").value().tables == "items:4+");
        CHECK(table<store_identity>{all.store("d"), "entitableshards"}.get("stores", "map").value().store == "d");
        CHECK(items.scan_table().to().value().size() == places); // of a program that has the map from before
        all.empty("c");
        CHECK(is_wrong(table<item>{all.open(), "items"}.create_if_absent().error(), "the store c"));
        // A program of an earlier version changes the map: its identity remains.
        shard_map_header rewritten = table<shard_map_header>{all.catalogue, "shardmap"}.get("map", "header").value();
        rewritten.tables = "items:4";
        table<shard_map_header>{all.catalogue, "shardmap"}.replace(rewritten, any_etag).value();
        CHECK(is_wrong(table<item>{all.open(), "items"}.create_if_absent().error(), "the store c"));
    }
}

TEST_CASE("identity: existing hashed stores are opened, and not created again") {
    store_world all;
    std::vector<std::string> const names{"a", "b", "c"};
    {
        sharded const cloud{hash_stores::make(names, all.opener(), all.hashed()).value()};
        fill(cloud);
    }
    CHECK(hash_stores::make(names, all.opener(), all.hashed()).error().code == error_code::already_made);
    SECTION("one store was emptied") {
        for (std::string const& each : names) {
            store_world copy;
            copy.stores = all.stores;
            copy.stores[each] = std::make_shared<any_store>(memory_backend{});
            CHECK(is_wrong(hash_stores::make(names, copy.opener(), copy.hashed()).error(), "the store " + each));
            CHECK(is_wrong(hash_stores::open(names, copy.opener(), copy.hashed()).error(), "the store " + each));
            CHECK(tables_in(copy.store(each)).empty());
        }
    }
    SECTION("a retired generation stays retired, and a generation below the greatest is not created") {
        auto const first = hash_stores::open(names, all.opener(), all.hashed()).value();
        std::vector<std::string> const more{"a", "b", "c", "d"};
        sharded const grown{hash_stores::make(more, all.opener(), all.hashed(3)).value()};
        fill(grown);
        CHECK(is_wrong(hash_stores::make(names, all.opener(), all.hashed(2)).error(), "has the generation 3"));
        CHECK(first.retire());
        CHECK(is_wrong(hash_stores::make(names, all.opener(), all.hashed()).error(), "is retired as generation 1"));
        CHECK(is_wrong(hash_stores::open(names, all.opener(), all.hashed()).error(), "is retired as generation 1"));
        CHECK(hash_stores::retire(names, all.opener(), all.hashed())); // by a process that could not open them
        CHECK(table<item>{grown, "items"}.scan_table().to().value().size() == places);
        // A program of an earlier version takes a tombstone for a header of another hash.
        auto const tombstone = table<hash_store_header>{all.store("b"), "entitableshards"}.get("stores", 1).value();
        CHECK((tombstone.hash_version == 0 && tombstone.state == "retired"));
    }
    SECTION("a map cannot use a hashed store, and hashed stores cannot use a store of a map") {
        CHECK(is_wrong(all.make({"d", "a"}).error(), "the store a is one of the hashed stores"));
        CHECK(all.make({"d", "e"}));
        CHECK(is_wrong(
            hash_stores::make({"e", "f"}, all.opener(), all.hashed()).error(), "the store e belongs to the map"));
        CHECK(hash_stores::retire(names, all.opener(), all.hashed()));
        CHECK(plan_move(all.open(), 0, "a").value().run()); // a store of a retired generation is free
        fill(all.open());
    }
}

TEST_CASE("identity: a partly dropped table over hashed stores is not re-created over its rows") {
    store_world all;
    std::vector<std::string> const names{"a", "b", "c"};
    sharded const cloud{hash_stores::make(names, all.opener(), all.hashed()).value()};
    fill(cloud);
    call context;
    all.store("a").execute(delete_table{"items0000x1"}, context).value(); // the first one goes first
    table<item> const items{cloud, "items"};
    all.time.advance(std::chrono::hours{1});
    CHECK(is_wrong(items.create_if_absent().error(), "has rows"));
    CHECK(items.drop().error().code == error_code::resource_not_found); // ends what was begun
    CHECK(items.create());
    CHECK(items.scan_table().to().value().empty());
    all.store("b").execute(delete_table{"items0001x1"}, context).value();
    all.time.advance(std::chrono::hours{1});
    CHECK(is_wrong(items.create_if_absent().error(), "lacks items0001x1"));
}
