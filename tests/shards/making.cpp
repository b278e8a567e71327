// SPDX-License-Identifier: MIT
// Copyright (c) 2026 the entitable authors

// Maps and hashed stores are made, adopted and retired: ended at any request, made by two programs at once, and by one that arrives late.

#include "shards.hpp"
#include "support/catch.hpp"
#include "support/maps.hpp"
#include "support/meddled.hpp"

#include <map>

using namespace entitable;
using entitable_test::map_without_identity;
using entitable_test::meddled;
using entitable_test::meddling;

namespace {

struct item {
    std::string place;
    std::int32_t number{};
    std::string what;
};
ENTITABLE(item, partition_key(place), row_key(width(number, 4)), properties(what))

/// A catalogue and stores in memory, as several programs see them.
struct shared_world {
    memory_backend catalogue;
    std::shared_ptr<std::map<std::string, any_store>> stores = std::make_shared<std::map<std::string, any_store>>();

    [[nodiscard]] static lookup_map_options brief() { return {std::chrono::milliseconds{0}}; }
    [[nodiscard]] any_store store(std::string_view name) const {
        return stores->try_emplace(std::string{name}, memory_backend{}).first->second;
    }
    /// Of a program whose requests are meddled with.
    [[nodiscard]] store_opener opener(std::shared_ptr<meddling> const& plan) const {
        return [self = *this, plan](
                   std::string_view name) -> result<any_store> { return any_store{meddled{self.store(name), plan}}; };
    }
    [[nodiscard]] any_store catalogue_of(std::shared_ptr<meddling> const& plan) const {
        return any_store{meddled{any_store{catalogue}, plan}};
    }
};

std::shared_ptr<meddling> untouched() { return std::make_shared<meddling>(); }

/// Ends `work(plan)` at every request, before and behind it, and calls `check(ended, at, behind)` then; until it is not reached any more.
template <class Begin, class Work, class Check>
void end_everywhere(Begin const& begin, Work const& work, Check const& check, std::size_t least) {
    for (bool const behind : {false, true}) {
        for (std::size_t at = 1;; ++at) {
            CAPTURE(at, behind);
            auto world = begin();
            auto const plan = std::make_shared<meddling>();
            plan->at = at;
            plan->behind = behind;
            plan->dies = true;
            bool const done = work(world, plan);
            check(world, done);
            if (!plan->met) {
                CHECK(done);
                CHECK(at > least);
                break;
            }
        }
    }
}

/// Every key has a place, and a program can use the map.
void check_used(shared_world const& world, virtual_shards const& shards) {
    sharded const cloud{lookup_map::open(world.catalogue, "shardmap", shards, shared_world::brief()).value(),
        world.opener(untouched())};
    table<item> const items{cloud, "items"};
    items.create_if_absent().value();
    for (char const* place : {"a", "h", "z"}) { items.insert_or_replace({place, 1, "x"}).value(); }
    CHECK(items.scan_table().to().value().size() == 3);
}

} // namespace

TEST_CASE("creating a map: an empty opener is refused before anything is written") {
    memory_backend const catalogue;
    auto const made = lookup_map::make(catalogue, "shardmap", virtual_shards{4}, {"east", "west"}, store_opener{});
    REQUIRE_FALSE(made);
    CHECK(made.error().code == error_code::invalid_input);
    CHECK(made.error().message == "the function that opens stores by name is empty");
    call context;
    CHECK(catalogue.execute(list_tables{}, context).value().tables.empty());
    auto const hashed = hash_stores::make({"east", "west"}, store_opener{});
    REQUIRE_FALSE(hashed);
    CHECK(hashed.error().code == error_code::invalid_input);
    CHECK_THAT(
        hashed.error().message, entitable_test::ContainsSubstring("the function that opens stores by name is empty"));
}

TEST_CASE("creating a map: can be interrupted at any request and repeated") {
    auto const make = [](shared_world const& world, std::shared_ptr<meddling> const& plan, virtual_shards const& shards,
                          std::vector<std::string> const& names) {
        return lookup_map::make(
            world.catalogue_of(plan), "shardmap", shards, names, world.opener(plan), shared_world::brief());
    };
    auto const few = virtual_shards::ranges({"g", "p"});
    std::vector<std::string> const names{"one", "two"};
    SECTION("the call is repeated with the same shards") {
        end_everywhere([] { return shared_world{}; },
            [&](shared_world const& world, auto const& plan) { return make(world, plan, few, names).has_value(); },
            [&](shared_world const& world, bool) {
                auto const again = make(world, untouched(), few, names);
                CHECK((again || again.error().code == error_code::already_made));
                CHECK(make(world, untouched(), few, names).error().code == error_code::already_made);
                check_used(world, few);
            },
            8);
    }
    SECTION("the call is repeated with different shards, unless the map is complete") {
        auto const more = virtual_shards::ranges({"b", "d", "m"});
        std::vector<std::string> const others{"two", "three"};
        end_everywhere([] { return shared_world{}; },
            [&](shared_world const& world, auto const& plan) { return make(world, plan, few, names).has_value(); },
            [&](shared_world const& world, bool) {
                auto const again = make(world, untouched(), more, others);
                CHECK((again || again.error().code == error_code::already_made));
                auto const now = lookup_map::open(world.catalogue, "shardmap", few, shared_world::brief()).value();
                std::string const text = now.to_string().value();
                CHECK((text.find(again ? "4 virtual shards" : "3 virtual shards") != std::string::npos));
                CHECK((text.find("one") == std::string::npos) == again.has_value());
                check_used(world, few);
            },
            8);
    }
    SECTION("the map has more shards than rows fit in a transaction") {
        std::vector<std::string> bounds;
        for (int number = 100; number < 205; ++number) { bounds.push_back(std::to_string(number)); }
        auto const many = virtual_shards::ranges(bounds);
        end_everywhere([] { return shared_world{}; },
            [&](shared_world const& world, auto const& plan) { return make(world, plan, many, names).has_value(); },
            [&](shared_world const& world, bool) {
                auto const opened = lookup_map::open(world.catalogue, "shardmap", many, shared_world::brief());
                auto const again = make(world, untouched(), many, names);
                CHECK(opened.has_value() != again.has_value());
                check_used(world, many);
            },
            10);
    }
}

TEST_CASE("creating a map: another program creates it, uses it and merges shards before a late request of the first "
          "program arrives") {
    for (std::size_t at = 1;; ++at) {
        CAPTURE(at);
        shared_world const world;
        auto const shards = virtual_shards::ranges({"g", "p"});
        std::vector<std::string> const names{"one", "two"};
        auto const plan = std::make_shared<meddling>();
        bool other_made = false;
        plan->at = at;
        plan->hook = [&] {
            auto const opener = world.opener(untouched());
            other_made =
                lookup_map::make(world.catalogue, "shardmap", shards, names, opener, shared_world::brief()).has_value();
            sharded const cloud{
                lookup_map::open(world.catalogue, "shardmap", shards, shared_world::brief()).value(), opener};
            table<item> const items{cloud, "items"};
            items.create().value();
            items.insert({"x", 1, "A"}).value();
            plan_merge(cloud, 0, 1, "one").value().run().value();
        };
        auto const made = lookup_map::make(
            world.catalogue_of(plan), "shardmap", shards, names, world.opener(plan), shared_world::brief());
        if (!plan->met) {
            CHECK(made);
            CHECK(at > 8);
            break;
        }
        // One of both has made it; the first one also where only its opening was left.
        CHECK((made || made.error().code == error_code::already_made));
        CHECK((other_made || made));
        sharded const cloud{lookup_map::open(world.catalogue, "shardmap", shards, shared_world::brief()).value(),
            world.opener(untouched())};
        CHECK(table<item>{cloud, "items"}.get("x", 1).value().what == "A");
        CHECK(cloud.map().to_string().value().find("2 virtual shards") != std::string::npos);
    }
}

TEST_CASE("hashed stores: creation is interrupted at any request, and repeated") {
    std::vector<std::string> const names{"one", "two", "three"};
    end_everywhere([] { return shared_world{}; },
        [&](shared_world const& world, auto const& plan) {
            return hash_stores::make(names, world.opener(plan)).has_value();
        },
        [&](shared_world const& world, bool) {
            auto const again = hash_stores::make(names, world.opener(untouched()));
            CHECK((again || again.error().code == error_code::already_made));
            auto const opened = hash_stores::open(names, world.opener(untouched()));
            REQUIRE(opened);
            table<item> const items{sharded{*opened}, "items"};
            items.create().value();
            items.insert({"x", 1, "A"}).value();
            std::string fleet;
            for (std::string const& each : names) {
                auto const header =
                    table<hash_store_header>{world.store(each), "entitableshards"}.get("stores", 1).value();
                CHECK_FALSE(header.state);
                fleet = fleet.empty() ? header.fleet : fleet;
                CHECK(header.fleet == fleet);
            }
        },
        18);
}

TEST_CASE("a map and hashed stores are created over one store concurrently: at most one of them gets the store") {
    for (bool const map_first : {true, false}) {
        for (std::size_t at = 1;; ++at) {
            CAPTURE(map_first, at);
            shared_world const world;
            auto const make = [&](bool map, std::shared_ptr<meddling> const& plan) {
                return map ? lookup_map::make(world.catalogue_of(plan), "shardmap", virtual_shards{1}, {"one"},
                                 world.opener(plan), shared_world::brief())
                                 .has_value()
                           : hash_stores::make({"one"}, world.opener(plan)).has_value();
            };
            auto const plan = std::make_shared<meddling>();
            bool other = false;
            plan->at = at;
            plan->hook = [&] { other = make(!map_first, untouched()); };
            bool const first = make(map_first, plan);
            CHECK_FALSE((first && other));
            if (!plan->met) {
                CHECK(first);
                break;
            }
        }
    }
}

TEST_CASE("hashed stores: stores may be emptied at any request during their creation") {
    std::vector<std::string> const names{"one", "two", "three"};
    for (std::string const& emptied : names) {
        for (std::size_t at = 1;; ++at) {
            CAPTURE(at, emptied);
            shared_world const world;
            auto const plan = std::make_shared<meddling>();
            plan->at = at;
            plan->hook = [&] {
                call context;
                static_cast<void>(world.store(emptied).execute(delete_table{"entitableshards"}, context));
            };
            auto const made = hash_stores::make(names, world.opener(plan));
            if (!plan->met) { break; }
            if (made) { // whoever opened them then has all
                continue;
            }
            auto const again = hash_stores::make(names, world.opener(untouched()));
            auto const opened = hash_stores::open(names, world.opener(untouched()));
            CHECK(opened.has_value() == (again || again.error().code == error_code::already_made));
        }
    }
}

TEST_CASE("hashed stores: retirement is interrupted at any request, and a stale program recreates them at any time") {
    std::vector<std::string> const names{"one", "two", "three"};
    auto const begin = [&] {
        shared_world world;
        hash_stores::make(names, world.opener(untouched())).value();
        return world;
    };
    SECTION("the program has ended") {
        end_everywhere(
            begin,
            [&](shared_world const& world, auto const& plan) {
                return hash_stores::retire(names, world.opener(plan)).has_value();
            },
            [&](shared_world const& world, bool done) {
                auto const opened = hash_stores::open(names, world.opener(untouched()));
                CHECK((!done || !opened));
                hash_stores::retire(names, world.opener(untouched())).value();
                CHECK(hash_stores::open(names, world.opener(untouched())).error().code == error_code::wrong_store);
                CHECK(hash_stores::make(names, world.opener(untouched())).error().code == error_code::wrong_store);
            },
            5);
    }
    SECTION("a program creates the stores, and they are retired at any of its requests") {
        for (std::size_t at = 1;; ++at) {
            CAPTURE(at);
            shared_world const world;
            auto const plan = std::make_shared<meddling>();
            plan->at = at;
            plan->hook = [&] { hash_stores::retire(names, world.opener(untouched())).value(); };
            auto const made = hash_stores::make(names, world.opener(plan));
            if (!plan->met) {
                CHECK(made);
                break;
            }
            // Behind its last look at the headers it is opened, and refused from its next look on.
            CHECK((made || made.error().code == error_code::wrong_store));
            CHECK(hash_stores::open(names, world.opener(untouched())).error().code == error_code::wrong_store);
            CHECK(hash_stores::make(names, world.opener(untouched())).error().code == error_code::wrong_store);
        }
    }
}

TEST_CASE("adopting a map: interrupted at any request, while a shard moves to a new store") {
    auto const shards = virtual_shards{4};
    auto const begin = [&] {
        shared_world world;
        auto const map =
            map_without_identity(world.catalogue, "shardmap", shards, {"one", "two"}, shared_world::brief());
        sharded const cloud{map, world.opener(untouched())};
        table<item> const items{cloud, "items"};
        items.create().value();
        for (char const* place : {"a", "h", "z"}) { items.insert({place, 1, "x"}).value(); }
        return world;
    };
    auto const open = [&](shared_world const& world, std::shared_ptr<meddling> const& plan) {
        return sharded{lookup_map::open(world.catalogue_of(plan), "shardmap", shards, shared_world::brief()).value(),
            world.opener(plan)};
    };
    auto const check = [&](shared_world const& world) {
        sharded const cloud = open(world, untouched());
        auto const map = cloud.map().state().fresh({}).value();
        CHECK_FALSE(map->identity.empty());
        for (auto const& place : map->places) {
            CHECK(map->lists(place.row.store));
            auto const own =
                table<store_identity>{world.store(place.row.store), "entitableshards"}.get("stores", "map");
            REQUIRE(own);
            CHECK((own->map == map->identity && own->store == place.row.store));
        }
        CHECK(map->tables.front().whole);
        CHECK(table<item>{cloud, "items"}.scan_table().to().value().size() == 3);
    };
    SECTION("the adopting program has ended") {
        end_everywhere(
            begin,
            [&](shared_world const& world, auto const& plan) {
                auto const map = lookup_map::open(world.catalogue_of(plan), "shardmap", shards, shared_world::brief());
                return map && adopt(sharded{*map, world.opener(plan)});
            },
            [&](shared_world const& world, bool) {
                adopt(open(world, untouched())).value();
                check(world);
            },
            10);
    }
    SECTION("a shard moves during the adoption") {
        for (std::size_t at = 2;; ++at) {
            CAPTURE(at);
            shared_world const world = begin();
            auto const plan = std::make_shared<meddling>();
            sharded const adopting = open(world, plan);
            plan->at = plan->seen + at;
            plan->hook = [&] { plan_move(open(world, untouched()), 1, "three").value().run().value(); };
            auto const done = adopt(adopting);
            CHECK(done);
            check(world);
            if (!plan->met) {
                CHECK(at > 10);
                break;
            }
        }
    }
}
