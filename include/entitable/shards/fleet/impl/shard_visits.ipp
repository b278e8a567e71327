// SPDX-License-Identifier: MIT
// Copyright (c) 2026 the entitable authors
#pragma once

#include <entitable/core/try.hpp>
#include <entitable/shards/fleet/detail/shard_visits.hpp>

#include <algorithm>
#include <map>
#include <utility>

ENTITABLE_BEGIN_NAMESPACE
namespace detail {

/// Whether no other shard has rows in this table of a shard, or has left rows behind in it.
inline bool is_own_table(shard_map_copy const& map, shard_place const& of, shard_table const& table) {
    for (shard_place const& each : map.places) {
        if (&each != &of && each.has(table, of.row.store, of.tables_of(), of.row.epoch)) { return false; }
        for (shard_retired const& old : each.retired) {
            if (table.epoch < old.until && of.has(table, old.store, old.shard, old.epoch)) { return false; }
        }
    }
    return true;
}

ENTITABLE_DECL shard_visit visit_of(shard_map_copy const& map, shard_place const& place) {
    shard_visit made{place.row.shard, place.row.store, place.row.epoch, place.keys(), {}};
    for (shard_table const& each : map.tables) {
        if (!each.dropping) {
            made.tables.push_back(
                {each.name, place.table_name(each), !map.by_ranges || is_own_table(map, place, each)});
        }
    }
    return made;
}

/// Whether a shard and its tables are in the same place, with the same keys.
inline bool same_place(shard_visit const& before, shard_visit const& after) {
    return before.epoch == after.epoch && before.store == after.store && before.keys == after.keys &&
        std::equal(before.tables.begin(), before.tables.end(), after.tables.begin(), after.tables.end(),
            [](visited_table const& left, visited_table const& right) {
                return left.stored == right.stored && left.own == right.own;
            });
}

/// A shard that is being visited.
struct open_visit {
    shard_visit at;
    shard_visited told;
    bool confirmed{};

    /// Whether a map read after the visit still shows the shard as it was visited. Confirms a successful visit, once.
    [[nodiscard]] bool stands(shard_map_copy const& map, visit_confirmer const& confirm) {
        shard_place const* const place = map.find_shard(at.shard);
        if (place == nullptr || !same_place(at, visit_of(map, *place))) { return false; }
        if (confirm && told.outcome && !std::exchange(confirmed, true)) { told.outcome = confirm(at); }
        return true;
    }
};

ENTITABLE_DECL result<shard_visits> visit_shards(fleet const& of, function_ref<bool(shard_visit const&)> wanted,
    visit_opener const& open, function_ref<result<void>(shard_visit const&, any_store const&)> work,
    visit_confirmer const& confirm) {
    constexpr int most_rounds = 10;
    lookup_map_state& source = of.cloud().state().map.state();
    ENTITABLE_TRY(auto map, source.fresh({}));
    std::map<std::int32_t, open_visit> done;
    for (int round = 0;; ++round) {
        std::map<std::string, std::vector<open_visit*>> by_store;
        std::erase_if(done, [&](auto const& each) { return map->find_shard(each.first) == nullptr; });
        for (shard_place const& place : map->places) {
            std::int32_t const shard = place.row.shard;
            shard_visit at = visit_of(*map, place);
            auto const known = done.find(shard);
            if (known == done.end() ? !wanted(at) : known->second.stands(*map, confirm)) { continue; }
            open_visit& next =
                done.insert_or_assign(shard, open_visit{std::move(at), {shard, place.row.store, place.row.epoch, {}}})
                    .first->second;
            next.told.outcome = failure{error_code::shard_moving,
                text::joined({"the virtual shard ", std::to_string(shard), " moved during every visit"})};
            by_store[place.row.store].push_back(&next);
        }
        if (by_store.empty() || round == most_rounds) { break; }
        std::vector<std::vector<open_visit*> const*> stores;
        for (auto const& [name, shards] : by_store) { stores.push_back(&shards); }
        in_parallel(stores.size(), of.options().in_flight, [&](std::size_t index) {
            std::vector<open_visit*> const& shards = *stores[index];
            auto through = of.store(shards.front()->at.store);
            if (through && open) { through = open(shards.front()->at.store, *through); }
            for (open_visit* const each : shards) { // each is written by one thread
                each->told.outcome = through ? work(each->at, *through) : result<void>{failure{through.error()}};
                if (confirm && each->told.outcome) {
                    // Runs right after the visit, so that a program that dies loses only one visit. If the map or the
                    // shard is unavailable, the next round decides.
                    if (auto const behind = source.fresh({})) { static_cast<void>(each->stands(**behind, confirm)); }
                }
            }
        });
        ENTITABLE_TRY(map, source.fresh({}));
    }
    shard_visits all{std::move(map), {}};
    for (auto& [shard, each] : done) { all.shards.push_back(std::move(each.told)); }
    return all;
}

} // namespace detail
ENTITABLE_END_NAMESPACE
