// SPDX-License-Identifier: MIT
// Copyright (c) 2026 the entitable authors
#pragma once

/// \file
/// Visits every virtual shard while shards may move: a visit counts only if the map gives the same place before and after.

#include <entitable/shards/fleet/fleet.hpp>

#include <functional>

ENTITABLE_BEGIN_NAMESPACE
namespace detail {

/// A table of a virtual shard.
struct visited_table {
    std::string name;   ///< name passed to the creation
    std::string stored; ///< its name in the store
    bool own{true};     ///< whether no other shard has rows in the table, or has left rows behind in it
};
/// A virtual shard at its current place.
struct shard_visit {
    std::int32_t shard{};
    std::string store;
    std::int64_t epoch{};
    key_interval keys; ///< keys of a range, otherwise all keys: other rows in its tables do not belong to the shard
    std::vector<visited_table> tables;
};
/// The result of a visit.
struct shard_visited {
    std::int32_t shard{};
    std::string store;
    std::int64_t epoch{};
    result<void> outcome;
};
/// The results of all visits, and the final map: each shard was visited at its place in this map.
struct shard_visits {
    shard_map_ref map;
    std::vector<shard_visited> shards; ///< sorted by number
};
/// Returns the transport to read a store through, before its shards are visited; by default the store itself.
using visit_opener = std::function<result<any_store>(std::string_view store, any_store const& there)>;

/// Marks a visit as done, for runs that resume: the map, read after `work`, still shows the shard and its tables at the
/// visited place.
using visit_confirmer = std::function<result<void>(shard_visit const&)>;

/// Calls `work` for every shard that is `wanted`: stores in parallel, the shards of one store one after the other. A shard that moved, was
/// split or merged during its visit is visited again, so `work` starts over each time; ShardMoving if it moves during every visit.
///
/// A successful call of `work` is not conclusive: its shard may have moved during the read. `confirm` writes what must
/// be recorded about a shard before all shards have been visited. `after` is called at most once for each visit,
/// directly after the visit, and its error becomes the result of the visit. Cost of `confirm`: one more read of the map
/// for each visit.
[[nodiscard]] result<shard_visits> visit_shards(fleet const& of, function_ref<bool(shard_visit const&)> wanted,
    visit_opener const& open, function_ref<result<void>(shard_visit const&, any_store const&)> work,
    visit_confirmer const& confirm = {});

/// Returns the tables of a virtual shard as the map names them.
[[nodiscard]] shard_visit visit_of(shard_map_copy const& map, shard_place const& place);

} // namespace detail
ENTITABLE_END_NAMESPACE

#if !defined(ENTITABLE_SEPARATE_COMPILATION)
#include <entitable/shards/fleet/impl/shard_visits.ipp>
#endif
