// SPDX-License-Identifier: MIT
// Copyright (c) 2026 the entitable authors

// The conformance suite over shards.

#include <entitable/file.hpp>
#include <entitable/testing/conformance.hpp>

#include <server/served.hpp>
#include <shards/shards.hpp>
#include <support/catch.hpp>
#include <support/temporary_folder.hpp>

using namespace entitable;
using namespace entitable_test;

namespace {

// An observer is told what was sent: the name of the table in the store.
constexpr std::string_view names_of_tables = "each attempt is counted and reported: what was reported to the observer";

void conforms(function_ref<testing::conformance::handles()> make) {
    for (std::string const& failure : testing::conformance::run(make)) {
        if (!failure.starts_with(names_of_tables)) {
            FAIL_CHECK(failure.substr(0, 2000));
        }
    }
}

} // namespace

TEST_CASE("conformance: three memory stores") {
    conforms([]() -> testing::conformance::handles { return sharding::world{}.open(virtual_shards{5}); });
}

TEST_CASE("conformance: two clients of one map, over ranges") {
    conforms([]() -> testing::conformance::handles {
        sharding::world const all;
        return {all.open(virtual_shards::ranges({"b", "p"})), all.open(virtual_shards::ranges({"b", "p"}))};
    });
}

TEST_CASE("conformance: three files; and memory, a file and a server") {
    temporary_folder const folder;
    bool const mixed = GENERATE(false, true);
    auto const map = lookup_map::make(memory_backend{}, "shardmap", virtual_shards{3}, {"one", "two", "three"}).value();
    sharded const cloud{map, [&](std::string_view name) -> result<any_transport> {
                            if (mixed && name == "two") {
                                return any_transport{memory_backend{}};
                            }
                            if (mixed && name == "three") {
                                return any_transport{served(memory_backend{})};
                            }
                            file_options relaxed;
                            relaxed.durability = durability::relaxed;
                            return any_transport{file_backend{folder / (std::string{name} + ".db"), relaxed}};
                        }};
    conforms([&]() -> testing::conformance::handles { return cloud; });
}
