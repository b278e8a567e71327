// SPDX-License-Identifier: MIT
// Copyright (c) 2026 the entitable authors

// Shards, moves and fleets that were moved from, and a file backend.

#include <entitable/entitable.hpp>
#include <entitable/fleet.hpp>
#include <entitable/memory.hpp>
#include <entitable/shards.hpp>

#include <support/maps.hpp>
#include <support/moved_from.hpp>
#include <support/runners.hpp>
#include <support/temporary_folder.hpp>

#include <map>
#include <memory>

#if __has_include(<sqlite3.h>)
#include <entitable/file.hpp>
#endif

using namespace entitable;
using namespace entitable_test;

namespace {

runner const ann{"Boston", "Full", 7, "Ann", 30, 4.5};

/// Stores in memory, and shards over them.
struct world {
    memory_backend catalogue;
    std::shared_ptr<std::map<std::string, any_store>> stores = std::make_shared<std::map<std::string, any_store>>();

    [[nodiscard]] store_opener opener() const {
        return [stores = stores](std::string_view name) -> result<any_store> {
            return stores->emplace(std::string{name}, any_store{memory_backend{}}).first->second;
        };
    }
    [[nodiscard]] lookup_map map() const {
        return entitable_test::map_of(catalogue, "shardmap", virtual_shards{4}, {"alpha", "beta"}, opener());
    }
    [[nodiscard]] sharded cloud() const { return sharded{map(), opener()}; }
};

/// Every kind of request, and every function with shards.
void check_cloud(sharded const& gone) {
    call context;
    row const one = to_row(ann).value();
    CHECK_GONE(gone.execute(create_table{"runners"}, context));
    CHECK_GONE(gone.execute(delete_table{"runners"}, context));
    CHECK_GONE(gone.execute(list_tables{}, context));
    CHECK_GONE(gone.execute(get_entity{"runners", "Boston__Full", "0000000007", {}}, context));
    CHECK_GONE(gone.execute(query_entities{"runners", {}, {}, {}, 1000, {}}, context));
    CHECK_GONE(gone.execute(write_entity{"runners", mutation::insert(one)}, context));
    CHECK_GONE(gone.execute(transact{"runners", {mutation::insert(one)}}, context));
    CHECK_GONE(gone.explain("runners"));
    CHECK_GONE(gone.map().to_string());
    static_cast<void>(gone.profile());
    CHECK_GONE(plan_move(gone, 0, "beta"));
    CHECK_GONE(plan_merge(gone, 0, 1, "beta"));
    CHECK_GONE(split_shard(gone, 0, "k"));
    CHECK_GONE(cancel_move(gone, 0));
    CHECK_GONE(partial(gone, [](any_store const& all) { return table<runner>{all, "runners"}.scan_table().to(); }));
    table<runner> const over{gone, "runners"};
    CHECK_GONE(over.get("Boston", "Full", 7));
    CHECK_GONE(over.scan_table().to());
}

void check_gone_fleet(fleet const& gone) {
    CHECK_GONE(gone.stores());
    CHECK_GONE(gone.store("alpha"));
    CHECK_GONE(gone.each([](std::string_view, any_store const&) { return result<int>{1}; }));
    CHECK_GONE(check_fleet(gone));
    CHECK_GONE(remove_misplaced(gone));
    CHECK_GONE(sizes_of(gone));
    CHECK_GONE(plan_rebalance(gone));
    CHECK_GONE(plan_drain(gone, "alpha"));
    CHECK_GONE(place(gone, "Boston__Full", "beta"));
    CHECK_GONE(unplace(gone, "Boston__Full"));
    CHECK_GONE(schema_drift(gone));
    CHECK_GONE(back_up(gone, memory_backend{}, "backup"));
    CHECK_GONE(rules_of(gone.cloud().map()));
}

} // namespace

TEST_CASE("moved from: lookup_map, sharded, move_plan") {
    world const all;
    auto map = all.map();
    auto const kept_map = moved(map);
    CHECK_GONE(map.to_string());
    check_cloud(sharded{map, all.opener()});

    auto cloud = all.cloud();
    table<runner>{cloud, "runners"}.create().value();
    auto plan = plan_move(cloud, 0, "beta").value();
    auto const kept_plan = moved(plan);
    CHECK_GONE(plan.run());
    auto const kept = moved(cloud);
    check_cloud(cloud);
    CHECK(kept.map().to_string());
}

TEST_CASE("moved from: hash_stores") {
    world const all;
    auto stores = hash_stores::make({"alpha", "beta"}, all.opener()).value();
    auto const kept = moved(stores);
    CHECK_GONE(stores.retire());
    CHECK_GONE(stores.map().to_string());
    check_cloud(sharded{stores});
    CHECK(sharded{kept}.map().to_string());
}

TEST_CASE("moved from: fleet, rebalance_plan, reference_table, reference_copy") {
    world const all;
    auto cloud = all.cloud();
    table<runner>{cloud, "runners"}.create().value();
    fleet stores{cloud};
    rebalance_options drained;
    drained.drain = {"alpha"};
    auto plan = plan_rebalance(stores, drained).value();
    REQUIRE_FALSE(plan.moves.empty());
    auto const kept_plan = moved(plan);
    CHECK_GONE(plan.run());

    memory_backend const source;
    reference_table<runner> races{stores, "races", source};
    races.source().create().value();
    races.source().insert(ann).value();
    races.publish().value().whole().value();
    auto copy = races.at("alpha").value();
    auto const kept_copy = moved(copy);
    CHECK_GONE(copy.get("Boston", "Full", 7));
    CHECK_GONE(copy.scan_table().to());
    auto const kept_races = moved(races);
    CHECK_GONE(races.source().get("Boston", "Full", 7));
    CHECK_GONE(races.publish());
    CHECK_GONE(races.fill("alpha"));
    CHECK_GONE(races.repair("alpha"));
    CHECK_GONE((races.verify)());
    CHECK_GONE(races.at("alpha"));
    CHECK_GONE(races.beside("Boston__Full"));

    auto const kept = moved(stores);
    check_gone_fleet(stores);
    check_gone_fleet(fleet{[&] {
        auto gone = all.cloud();
        auto const taken = moved(gone);
        return gone;
    }()});
}

#if __has_include(<sqlite3.h>)
TEST_CASE("moved from: file_backend") {
    temporary_folder const folder;
    auto store = file_backend::open(folder / "tables").value();
    auto const kept = moved(store);
    table<runner> const all{store, "runners"};
    CHECK_GONE(all.create());
    CHECK_GONE(all.get("Boston", "Full", 7));
    CHECK_GONE((store.verify)());
    CHECK_GONE(store.checkpoint());
    CHECK_GONE(store.copy_to(folder / "copy"));
}
#endif
