// SPDX-License-Identifier: MIT
// Copyright (c) 2026 the entitable authors
#pragma once

#include <entitable/core/try.hpp>
#include <entitable/fleet/detail/shard_visits.hpp>

#include <algorithm>
#include <map>

ENTITABLE_BEGIN_NAMESPACE
namespace detail {

ENTITABLE_DECL shard_visit visit_of(shard_map_copy const& map, shard_place const& place) {
    shard_visit made{place.row.shard, place.row.store, place.row.epoch, {}};
    for (shard_table const& each : map.tables) {
        if (!each.dropping) {
            made.tables.push_back(
                {each.name, shard_table_name(each.name, place.row.shard, (std::max)(place.row.epoch, each.epoch))});
        }
    }
    return made;
}

/// Whether a shard and its tables are where they were.
inline bool same_place(shard_visit const& before, shard_visit const& after) {
    return before.epoch == after.epoch && before.store == after.store &&
        std::equal(before.tables.begin(), before.tables.end(), after.tables.begin(), after.tables.end(),
            [](visited_table const& left, visited_table const& right) { return left.stored == right.stored; });
}

ENTITABLE_DECL result<std::vector<shard_visited>> visit_shards(fleet const& of, std::vector<std::int32_t> only,
    visit_opener const& open, function_ref<result<void>(shard_visit const&, any_transport const&)> work) {
    constexpr int most_rounds = 10;
    lookup_map_state& source = of.cloud().state().map.state();
    ENTITABLE_TRY(auto map, source.fresh({}));
    std::map<std::int32_t, shard_visited> done;
    std::vector<std::int32_t> left = std::move(only);
    if (left.empty()) {
        for (shard_place const& each : map->places) {
            left.push_back(each.row.shard);
        }
    }
    for (int round = 0; round < most_rounds && !left.empty(); ++round) {
        std::map<std::string, std::vector<shard_visit>> by_store;
        for (std::int32_t const shard : left) {
            shard_visit made = visit_of(*map, map->places.at(static_cast<std::size_t>(shard)));
            by_store[made.store].push_back(std::move(made));
            done.erase(shard);
            done.emplace(shard, shard_visited{shard, {}, 0, failure{error_code::cancelled, "not visited"}});
        }
        std::vector<std::vector<shard_visit> const*> stores;
        for (auto const& [name, shards] : by_store) {
            stores.push_back(&shards);
        }
        in_parallel(stores.size(), of.options().in_flight, [&](std::size_t at) {
            std::vector<shard_visit> const& shards = *stores[at];
            auto through = of.store(shards.front().store);
            if (through && open) {
                through = open(shards.front().store, *through);
            }
            for (shard_visit const& each : shards) {
                shard_visited& told = done.find(each.shard)->second; // each is written by one thread
                told.store = each.store;
                told.epoch = each.epoch;
                told.outcome = through ? work(each, *through) : result<void>{failure{through.error()}};
            }
        });
        ENTITABLE_TRY(map, source.fresh({}));
        left.clear();
        for (auto const& [name, shards] : by_store) {
            for (shard_visit const& each : shards) {
                if (!same_place(each, visit_of(*map, map->places.at(static_cast<std::size_t>(each.shard))))) {
                    left.push_back(each.shard);
                }
            }
        }
    }
    for (std::int32_t const shard : left) {
        done.find(shard)->second.outcome = failure{error_code::shard_moving,
            text::joined({"the virtual shard ", std::to_string(shard), " moved each time it was visited"})};
    }
    std::vector<shard_visited> all;
    for (auto& [shard, each] : done) {
        all.push_back(std::move(each));
    }
    return all;
}

} // namespace detail
ENTITABLE_END_NAMESPACE
