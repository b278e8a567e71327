// SPDX-License-Identifier: MIT
// Copyright (c) 2026 the entitable authors

// Through every layer over a store a page of one partition is one snapshot, and several pages of the store are never combined into
// one.

#include <entitable/core/decorators/metered.hpp>
#include <entitable/memory.hpp>
#include <entitable/retrying.hpp>
#include <entitable/shards.hpp>
#include <entitable/testing/crash_points.hpp>
#include <entitable/testing/faulty.hpp>
#include <entitable/testing/spy.hpp>

#include <support/catch.hpp>
#include <support/maps.hpp>
#include <support/untorn_pages.hpp>

using namespace entitable;
using namespace entitable_test;

namespace {

/// Opens every store of a map as the same store.
store_opener same(any_store const& store) {
    return [store](std::string_view) -> result<any_store> { return store; };
}

sharded over_map(any_store const& store, virtual_shards const& shards, sharded_options const& how = {}) {
    lookup_map_options own;
    return sharded{
        entitable_test::map_without_identity(memory_backend{}, "shardmap", shards, {"one"}, own), same(store), how};
}

retrying_options with_rows() {
    retrying_options made;
    made.operation_rows = true;
    return made;
}

} // namespace

TEST_CASE("untorn pages: every layer over a store of small pages") {
    struct named {
        char const* name;
        layer_over make;
    };
    hedged_reads const soon{std::chrono::seconds{5}, 1};
    sharded_options hedged;
    hedged.hedge = soon;
    named const layers[] = {
        {"the store", [](any_store const& store) { return store; }},
        {"retrying", [](any_store const& store) { return any_store{retrying{store}}; }},
        {"retrying, with operation rows",
            [](any_store const& store) { return any_store{retrying{store, with_rows()}}; }},
        {"metered", [](any_store const& store) { return any_store{metered{store}}; }},
        {"metered over retrying",
            [](any_store const& store) { return any_store{metered{any_store{retrying{store}}}}; }},
        {"spy", [](any_store const& store) { return any_store{testing::spy{store}}; }},
        {"faulty", [](any_store const& store) { return any_store{testing::faulty{store}}; }},
        {"interrupted",
            [](any_store const& store) {
                testing::interrupted::state never{store, 1'000'000};
                return any_store{testing::interrupted{std::make_shared<testing::interrupted::state>(std::move(never))}};
            }},
        {"sharded, by a function",
            [](any_store const& store) { return any_store{over_map(store, virtual_shards{3})}; }},
        {"sharded, by ranges",
            [](any_store const& store) { return any_store{over_map(store, virtual_shards::ranges({"b", "q"}))}; }},
        {"sharded, hedged",
            [=](any_store const& store) { return any_store{over_map(store, virtual_shards{3}, hedged)}; }},
        {"sharded, on a hash",
            [](any_store const& store) { return any_store{sharded{hash_stores::make({"one"}, same(store)).value()}}; }},
        {"sharded, of partial answers",
            [](any_store const& store) {
                return any_store{
                    over_map(store, virtual_shards{3}).collecting_misses(shared<detail::shard_misses>::make())};
            }},
        {"sharded over sharded",
            [](any_store const& store) {
                return any_store{over_map(any_store{over_map(store, virtual_shards{3})}, virtual_shards{2})};
            }},
        {"retrying over sharded",
            [](any_store const& store) {
                return any_store{retrying{any_store{over_map(store, virtual_shards{3})}, with_rows()}};
            }},
    };
    for (named const& each : layers) {
        CAPTURE(each.name);
        CHECK(torn_page(each.make) == "");
    }
}
