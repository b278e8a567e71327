// SPDX-License-Identifier: MIT
// Copyright (c) 2026 the entitable authors

// The conformance suite over shards.

#include <entitable/file.hpp>
#include <entitable/memory.hpp>

#include <shards/conformance.hpp>
#include <shards/shards.hpp>
#include <support/catch.hpp>
#include <support/maps.hpp>
#include <support/temporary_folder.hpp>

using namespace entitable;
using namespace entitable_test;

TEST_CASE("conformance: hashed stores") {
    sharding::conforms(
        []() -> testing::conformance::handles {
            return sharded{hash_stores::make({"alpha", "beta", "gamma"}, sharding::world{}.opener()).value()};
        },
        "table names follow the rule: 63 characters"); // at most 46
}

TEST_CASE("conformance: three memory stores") {
    sharding::conforms([]() -> testing::conformance::handles { return sharding::world{}.open(virtual_shards{5}); });
}

TEST_CASE("conformance: memory stores with small pages") {
    bool const ranges = GENERATE(false, true);
    sharding::conforms([&]() -> testing::conformance::handles {
        local_options small;
        small.page_examined = 3;
        auto const stores = std::make_shared<std::map<std::string, memory_backend>>();
        return entitable_test::cloud_of(memory_backend{}, "shardmap",
            ranges ? virtual_shards::ranges({"b", "p"}) : virtual_shards{3}, {"one", "two"},
            [=](std::string_view name) -> result<any_store> {
                return any_store{stores->try_emplace(std::string{name}, small).first->second};
            });
    });
}

TEST_CASE("conformance: two clients of one shard map with ranges") {
    sharding::conforms([]() -> testing::conformance::handles {
        sharding::world const all;
        return {all.open(virtual_shards::ranges({"b", "p"})), all.open(virtual_shards::ranges({"b", "p"}))};
    });
}

TEST_CASE("conformance: three files") {
    temporary_folder const folder;
    file_options relaxed;
    relaxed.durability = durability::relaxed;
    sharded const cloud = entitable_test::cloud_of(memory_backend{}, "shardmap", virtual_shards{3},
        {"one", "two", "three"}, [&](std::string_view name) -> result<any_store> {
            return any_store{file_backend{folder / (std::string{name} + ".db"), relaxed}};
        });
    sharding::conforms([&]() -> testing::conformance::handles { return cloud; });
}
