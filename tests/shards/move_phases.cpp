// SPDX-License-Identifier: MIT
// Copyright (c) 2026 the entitable authors

// explain() of a move counts the pages that its run reads: both come from the same list of passes.

#include <entitable/entitable.hpp>
#include <entitable/memory.hpp>
#include <entitable/shards.hpp>
#include <entitable/testing/manual_clock.hpp>
#include <entitable/testing/spy.hpp>

#include <support/catch.hpp>
#include <support/maps.hpp>

#include <algorithm>
#include <optional>

using namespace entitable;
using namespace entitable_test;

namespace {

struct item {
    std::string group;
    std::int32_t number{};
};
ENTITABLE(item, partition_key(group), row_key(width(number, 4)), properties())

/// The pages of rows that a plan and its run read in the two stores, while nobody writes.
struct read_pages {
    std::string plan; ///< explain()
    std::size_t all{};
    std::size_t keys_only{};
};

read_pages read_by_move(bool off_line) {
    testing::manual_clock time;
    memory_backend const catalogue;
    testing::spy<memory_backend> const from{memory_backend{}};
    testing::spy<memory_backend> const to{memory_backend{}};
    auto const map =
        map_without_identity(catalogue, "shardmap", virtual_shards{1}, {"from"}, {std::chrono::seconds{60}, &time});
    sharded const cloud{map,
        [&](std::string_view name) -> result<any_store> { return name == "from" ? any_store{from} : any_store{to}; }};
    table<item> const items{cloud, "items"};
    items.create().value();
    for (int number = 0; number < 5; ++number) { items.insert({"g", number}).value(); }
    from.forget();
    move_options options;
    options.time = &time;
    options.off_line = off_line;
    auto plan = plan_move(cloud, 0, "to", options).value();
    read_pages made{plan.to_string(), 0, 0};
    CHECK(plan.run().value().step == move_step::done);
    for (auto const& store : {from, to}) {
        for (query_entities const& each : store.all<query_entities>()) {
            ++made.all;
            made.keys_only += each.select.empty() ? 0 : 1;
        }
    }
    return made;
}

} // namespace

TEST_CASE("shards: explain() of a move counts the pages that its run reads") {
    auto const on_line = read_by_move(false);
    CHECK(on_line.all == 8);
    CHECK(on_line.keys_only == 5);
    CHECK(on_line.plan.find("reads: about 8 pages, 5 of them keys only;") != std::string::npos);
    CHECK(on_line.plan.find("the time to read 3 pages of keys; reads pause while 2 of these pages are read") !=
        std::string::npos);

    auto const off_line = read_by_move(true);
    CHECK(off_line.all == 4);
    CHECK(off_line.keys_only == 1);
    CHECK(off_line.plan.find("reads: about 4 pages, 1 of them keys only;") != std::string::npos);
}
