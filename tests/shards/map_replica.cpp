// SPDX-License-Identifier: MIT
// Copyright (c) 2026 the entitable authors

// A site that only reads: its map is in a replica of the catalogue, which is older than the fleet.

#include "shards.hpp"
#include "support/catch.hpp"
#include <entitable/bulk/copy/copy.hpp>

#include <string>

using namespace entitable;

namespace {

struct item {
    std::string group;
    std::int32_t number{};
};
ENTITABLE(item, partition_key(group), row_key(width(number, 4)), properties())

/// Refuses writes, and counts them.
struct read_only {
    using is_transport = void;
    any_store below;
    std::shared_ptr<int> refused;

    [[nodiscard]] entitable::profile profile() const { return below.profile(); }
    template <table_request Request>
    [[nodiscard]] result<response_of<Request>> execute(Request const& request, call& context) const {
        if constexpr (Request::writes) {
            ++*refused;
            return failure{error_code::not_supported, "this site only reads"};
        } else {
            context.location = read_location::secondary;
            return below.execute(request, context);
        }
    }
};

} // namespace

TEST_CASE("a site without the right to write reads a sharded table through a replica of its map") {
    sharding::world all;
    testing::manual_clock time;
    lookup_map_options const options{std::chrono::seconds{60}, &time};
    sharded const cloud = all.open(virtual_shards{6}, options);
    table<item> const items{cloud, "items"};
    items.create().value();
    for (int number = 0; number < 60; ++number) { items.insert({"g" + std::to_string(number), number}).value(); }

    memory_backend replica;
    auto const synchronize_replica = [&] {
        call context;
        static_cast<void>(replica.execute(delete_table{"shardmap"}, context));
        replica.execute(create_table{"shardmap"}, context).value();
        copy_rows(all.catalogue, "shardmap", replica, "shardmap").value();
    };
    synchronize_replica();
    auto const refused = std::make_shared<int>(0);
    store_opener const open_store = [&, base = all.opener()](std::string_view name) -> result<any_store> {
        return any_store{read_only{base(name).value(), refused}};
    };
    auto const map =
        lookup_map::open(read_only{any_store{replica}, refused}, "shardmap", virtual_shards{6}, options).value();
    sharded const site{map, open_store};
    table<item> const seen{site, "items"};
    CHECK(seen.scan_table().count().value() == 60);
    CHECK(seen.get("g7", 7).value().number == 7);
    CHECK(*refused == 0); // reading needs no write
    CHECK(seen.insert({"g7", 8}).error().code == error_code::not_supported);
    CHECK(*refused > 0);

    // A shard moves. The replica is older: the site gets errors for this shard, and never a result without its rows.
    auto const moved = virtual_shards{6}.shard_of("g7").value();
    *refused = 0;
    move_options how;
    how.time = &time;
    plan_move(cloud, moved, "delta", how).value().run().value();
    time.advance(std::chrono::seconds{61});
    CHECK_FALSE(seen.scan_table().count());
    CHECK_FALSE(seen.get("g7", 7));
    CHECK_FALSE(seen.find("g7", 7));
    std::size_t others = 0;
    for (int number = 0; number < 60; ++number) {
        std::string const group = "g" + std::to_string(number);
        bool const there = virtual_shards{6}.shard_of(group).value() != moved;
        CHECK(bool(seen.get(group, number)) == there);
        others += there ? 1U : 0U;
    }
    CHECK(others < 60);
    // Once the replica has caught up, the site reads everything again.
    synchronize_replica();
    time.advance(std::chrono::seconds{61});
    CHECK(seen.scan_table().count().value() == 60);
    CHECK(seen.get("g7", 7).value().number == 7);
    CHECK(*refused == 0);
}
