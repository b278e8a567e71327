// SPDX-License-Identifier: MIT
// Copyright (c) 2026 the entitable authors

// The conformance suite over shards, one of which is served.

#include "served.hpp"
#include <entitable/file.hpp>
#include <entitable/memory.hpp>

#include <shards/conformance.hpp>
#include <shards/shards.hpp>
#include <support/catch.hpp>
#include <support/maps.hpp>
#include <support/temporary_folder.hpp>

using namespace entitable;
using namespace entitable_test;

TEST_CASE("conformance: shards in memory, in a file and on a server") {
    temporary_folder const folder;
    auto const map =
        entitable_test::map_without_identity(memory_backend{}, "shardmap", virtual_shards{3}, {"one", "two", "three"});
    sharded const cloud{map, [&](std::string_view name) -> result<any_store> {
                            if (name == "two") { return any_store{memory_backend{}}; }
                            if (name == "three") { return any_store{served(memory_backend{})}; }
                            file_options relaxed;
                            relaxed.durability = durability::relaxed;
                            return any_store{file_backend{folder / (std::string{name} + ".db"), relaxed}};
                        }};
    sharding::conforms([&]() -> testing::conformance::handles { return cloud; });
}
