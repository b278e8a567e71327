// SPDX-License-Identifier: MIT
// Copyright (c) 2026 the entitable authors

// Stores that are emptied while programs run, stores under wrong names, and the smallest fleets: no call says that all is well where rows are
// missing, and none writes into a store of somebody else.

#include "fleets.hpp"
#include <entitable/bulk.hpp>
#include <entitable/memory.hpp>

#include <support/maps.hpp>

using namespace entitable;
using namespace entitable_test;
using namespace fleets;

namespace {

/// Stores behind names, which may be changed while programs run. Time stands still, so nobody looks again whose a store is.
struct swapped_world {
    testing::manual_clock time;
    memory_backend catalogue;
    std::shared_ptr<std::map<std::string, any_store>> stores = std::make_shared<std::map<std::string, any_store>>();

    struct by_name {
        using is_transport = void;
        std::shared_ptr<std::map<std::string, any_store>> stores;
        std::string name;
        [[nodiscard]] any_store& below() const { return stores->try_emplace(name, memory_backend{}).first->second; }
        [[nodiscard]] entitable::profile profile() const { return below().profile(); }
        template <table_request Request>
            requires(!std::same_as<Request, read_entity> && !std::same_as<Request, read_entities>)
        [[nodiscard]] result<response_of<Request>> execute(Request const& request, call& context) const {
            return below().execute(request, context);
        }
    };
    [[nodiscard]] any_store store(std::string const& name) const { return any_store{by_name{stores, name}}; }
    void empty(std::string const& name) const { stores->insert_or_assign(name, any_store{memory_backend{}}); }
    [[nodiscard]] store_opener opener() const {
        return [self = stores](
                   std::string_view name) -> result<any_store> { return any_store{by_name{self, std::string{name}}}; };
    }
    /// Several names of one store.
    [[nodiscard]] store_opener one_for_all() const {
        return [self = stores](std::string_view) -> result<any_store> { return any_store{by_name{self, "one"}}; };
    }
    [[nodiscard]] lookup_map_options brief() { return {std::chrono::milliseconds{0}, &time}; }
    [[nodiscard]] sharded open(virtual_shards const& shards, std::vector<std::string> const& names) {
        return cloud_of(catalogue, "shardmap", shards, names, brief(), opener());
    }
    [[nodiscard]] fleet all(sharded const& cloud) { return fleet{cloud, {.in_flight = 1, .time = &time}}; }
    [[nodiscard]] move_options quick() {
        move_options made;
        made.short_lease = std::chrono::milliseconds{0};
        made.time = &time;
        return made;
    }
};

} // namespace

TEST_CASE("emptied stores: no fleet call reports success before a running program checks the stores again") {
    for (bool const hashed : {false, true}) {
        for (char const* name : {"a", "b", "c"}) {
            CAPTURE(hashed, name);
            swapped_world on;
            hash_stores_options timed;
            timed.time = &on.time;
            sharded const cloud = hashed ? sharded{hash_stores::make({"a", "b", "c"}, on.opener(), timed).value()}
                                         : on.open(virtual_shards{6}, {"a", "b", "c"});
            auto const items = fleets::fill(cloud, 60);
            fleet const all = on.all(cloud);
            memory_backend archive;
            back_up(all, archive, "before").value();
            on.empty(name);
            CHECK_FALSE(check_fleet(all)->healthy());
            CHECK_FALSE(sizes_of(all));
            CHECK_FALSE(back_up(all, archive, "behind"));
            CHECK(verify_backup(archive, "behind").error().code == error_code::backup_incomplete);
            CHECK_FALSE(items.scan_table().to());
            CHECK_FALSE(restore(archive, "before", all));
            swapped_world other;
            sharded const target = other.open(virtual_shards{2}, {"x"});
            table<item> const copies{target, "items"};
            copies.create().value();
            auto const copied = bulk_copy(items.scan_table(), copies);
            CHECK_FALSE((copied && copied->all()));
            if (!hashed) {
                auto drain = plan_drain(all, name);
                CHECK_FALSE((drain && drain->run()));
                auto const drift = schema_drift(all, 0);
                CHECK((!drift || !drift->empty()));
                CHECK_FALSE(items.create_if_absent());
            }
            static_cast<void>(remove_misplaced(all));
            CHECK(tables_in(on.store(name)).empty()); // nobody has made anything
        }
    }
}

TEST_CASE(
    "emptied stores: in a map without tables, the shards of an emptied store are usable again after forget_store") {
    for (bool const stays : {true, false}) {
        CAPTURE(stays);
        swapped_world on;
        static_cast<void>(on.open(virtual_shards{4}, {"a", "b"}));
        on.empty("b");
        sharded const cloud = on.open(virtual_shards{4}, {"a", "b"});
        CHECK(plan_move(cloud, 0, "b").error().code == error_code::wrong_store);
        std::vector<std::string> const into = stays ? std::vector<std::string>{"b"} : std::vector<std::string>{};
        auto const done = forget_store(on.all(cloud), "b", accepting_loss, into);
        REQUIRE(done);
        CHECK(done->shards.size() == 2);
        CHECK(fleets::fill(cloud, 20).scan_table().count().value() == 20);
        if (stays) {
            auto const again = forget_store(on.all(cloud), "b", accepting_loss, into);
            CHECK(again.error().code == error_code::invalid_input);
        }
    }
}

TEST_CASE("wrong stores: one store under two names is refused by every call that would write to it") {
    swapped_world on;
    auto const made =
        lookup_map::make(on.catalogue, "shardmap", virtual_shards{4}, {"a", "b"}, on.one_for_all(), on.brief());
    CHECK(made.error().code == error_code::wrong_store);
    CHECK(hash_stores::make({"a", "b"}, on.one_for_all()).error().code == error_code::wrong_store);
    swapped_world of_hash;
    CHECK(hash_stores::make({"a", "b"}, of_hash.one_for_all()).error().code == error_code::wrong_store);

    swapped_world other;
    sharded const cloud = other.open(virtual_shards{2}, {"a", "b"});
    auto const items = fleets::fill(cloud, 20);
    store_opener const opener = [open = other.opener()](
                                    std::string_view name) { return open(name == "c" ? "a" : name); };
    sharded const aliased{cloud.map(), opener};
    auto plan = plan_move(aliased, 1, "c", other.quick());
    CHECK((plan ? plan->run().error() : plan.error()).code == error_code::wrong_store);
    CHECK(forget_store(other.all(aliased), "b", accepting_loss, {"c"}).error().code == error_code::wrong_store);
    CHECK(items.get("g1", 1).error().code ==
        error_code::shard_moving); // it is sealed until the same call has a store for it
    CHECK(forget_store(other.all(aliased), "b", accepting_loss, {"a"}));
    CHECK(check_fleet(other.all(cloud))->healthy());
}

TEST_CASE("wrong stores: a generation is retired only in its own stores") {
    swapped_world on;
    swapped_world other;
    std::vector<std::string> const names{"a", "b", "c"};
    auto const own = hash_stores::make(names, on.opener()).value();
    auto const theirs = hash_stores::make(names, other.opener()).value();
    fleets::fill(sharded{theirs}, 20);
    auto const check_theirs = [&] {
        auto const opened = hash_stores::open(names, other.opener());
        REQUIRE(opened);
        CHECK(table<item>{sharded{*opened}, "items"}.scan_table().count().value() == 20);
    };
    SECTION("one name opens a store of another fleet") {
        on.stores->insert_or_assign("b", other.stores->at("b"));
        CHECK(hash_stores::retire(names, on.opener()).error().code == error_code::wrong_store);
        CHECK(own.retire().error().code == error_code::wrong_store);
        check_theirs();
    }
    SECTION("the first name opens a store of another fleet") {
        on.stores->insert_or_assign("a", other.stores->at("a"));
        CHECK(own.retire().error().code == error_code::wrong_store);
        CHECK(hash_stores::retire(names, on.opener()).error().code == error_code::wrong_store);
        check_theirs();
    }
    SECTION("the names have a different order") {
        CHECK(hash_stores::retire({"b", "a", "c"}, other.opener()).error().code == error_code::wrong_store);
        CHECK(hash_stores::retire({"a", "b"}, other.opener()).error().code == error_code::wrong_store);
        check_theirs();
    }
    SECTION("one name opens a store of a map") {
        swapped_world mapped;
        auto const items = fleets::fill(mapped.open(virtual_shards{2}, {"b"}), 20);
        on.stores->insert_or_assign("b", mapped.stores->at("b"));
        CHECK(own.retire().error().code == error_code::wrong_store);
        CHECK(items.scan_table().count().value() == 20);
    }
    SECTION("a generation is retired twice, and with an emptied store") {
        on.empty("b");
        CHECK(own.retire());
        CHECK(own.retire());
        CHECK(hash_stores::retire(names, on.opener()));
        CHECK(hash_stores::make(names, on.opener()).error().code == error_code::wrong_store);
    }
}

TEST_CASE("the smallest fleets work: one store, one shard, and one instance of everything else") {
    swapped_world on;
    sharded const cloud = on.open(virtual_shards::ranges({}), {"one"});
    table<item> const items{cloud, "items"};
    items.create().value();
    fleet const all = on.all(cloud);
    memory_backend archive;
    back_up(all, archive, "empty").value();
    CHECK(restore(archive, "empty", all)->rows == 0);
    items.insert({"a", 1, "text", 1}).value();
    items.insert({"m", 1, "text", 1}).value();
    move_options least = on.quick();
    least.page_size = 1;
    CHECK(plan_move(cloud, 0, "two", least).value().run());
    CHECK(split_shard(cloud, 0, "m"));
    CHECK(plan_move(cloud, 1, "one", least).value().run());
    CHECK(remove_misplaced(all)->rows == 0);
    CHECK(plan_merge(cloud, 0, 1, "one", least).value().run());
    CHECK(items.scan_table().count().value() == 2);
    CHECK(back_up(all, archive, "full")->rows == 2);
    CHECK(forget_store(all, "one", accepting_loss).error().code == error_code::invalid_input);
    CHECK(forget_store(all, "one", accepting_loss, {"one"}).error().code == error_code::invalid_input); // it is there
    on.empty("one");
    CHECK(forget_store(all, "one", accepting_loss, {"one"})->shards.size() == 1);
    CHECK(repair_tables(all, accepting_loss).value() == 0);
    CHECK(restore(archive, "full", all)->rows == 2);
    CHECK(items.scan_table().count().value() == 2);
    CHECK(check_fleet(all)->healthy());
    CHECK(schema_drift(all)->empty());

    hash_stores_options timed;
    timed.time = &on.time;
    auto const alone = hash_stores::make({"alone"}, on.opener(), timed).value();
    auto const hashed = fleets::fill(sharded{alone}, 3);
    CHECK(hashed.scan_table().count().value() == 3);
    CHECK(remove_misplaced(on.all(sharded{alone}))->rows == 0);
    CHECK(alone.retire());
    CHECK(hash_stores::open({"alone"}, on.opener(), timed).error().code == error_code::wrong_store);
}
