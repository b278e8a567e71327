// SPDX-License-Identifier: MIT
// Copyright (c) 2026 the entitable authors
#pragma once

/// \file
/// Work on every virtual shard while shards may move: what was done at a place counts only if the map says the same place before and after.

#include <entitable/fleet/fleet.hpp>

#include <functional>

ENTITABLE_BEGIN_NAMESPACE
namespace detail {

/// A table of a virtual shard.
struct visited_table {
    std::string name;   ///< as it was created
    std::string stored; ///< its name in the store
};
/// A virtual shard where it is now.
struct shard_visit {
    std::int32_t shard{};
    std::string store;
    std::int64_t epoch{};
    std::vector<visited_table> tables;
};
/// What became of it.
struct shard_visited {
    std::int32_t shard{};
    std::string store;
    std::int64_t epoch{};
    result<void> outcome;
};
/// Gives what a store is read through, before its shards are visited; by default the store itself.
using visit_opener = std::function<result<any_transport>(std::string_view store, any_transport const& there)>;

/// Calls `work` for every shard that is in `only` (all where that is empty): the stores at once, the shards of one store one after the other.
/// A shard that moved meanwhile is visited again, so `work` begins anew each time; one that moves each time is ShardMoving. By shard number.
[[nodiscard]] result<std::vector<shard_visited>> visit_shards(fleet const& of, std::vector<std::int32_t> only,
    visit_opener const& open, function_ref<result<void>(shard_visit const&, any_transport const&)> work);

/// The tables of a virtual shard as the map names them.
[[nodiscard]] shard_visit visit_of(shard_map_copy const& map, shard_place const& place);

} // namespace detail
ENTITABLE_END_NAMESPACE

#if !defined(ENTITABLE_SEPARATE_COMPILATION)
#include <entitable/fleet/impl/shard_visits.ipp>
#endif
