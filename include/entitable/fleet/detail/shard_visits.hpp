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
    bool own{true};     ///< no other shard has rows in it, nor has one left any
};
/// A virtual shard where it is now.
struct shard_visit {
    std::int32_t shard{};
    std::string store;
    std::int64_t epoch{};
    key_interval keys; ///< of a range; else all: what else is in its tables is not the shard's
    std::vector<visited_table> tables;
};
/// What became of it.
struct shard_visited {
    std::int32_t shard{};
    std::string store;
    std::int64_t epoch{};
    result<void> outcome;
};
/// All that were visited, and the map at the end: each was visited where that has it.
struct shard_visits {
    shard_map_ref map;
    std::vector<shard_visited> shards; ///< by number
};
/// Gives what a store is read through, before its shards are visited; by default the store itself.
using visit_opener = std::function<result<any_transport>(std::string_view store, any_transport const& there)>;

/// Marks a visit as done, for runs that resume: the map, read behind `work`, still has the shard and its tables where they were visited.
using visit_confirmer = std::function<result<void>(shard_visit const&)>;

/// Calls `work` for every shard that is `wanted`: the stores at once, the shards of one store one after the other. A shard that moved, was split
/// or merged meanwhile is visited again, so `work` starts over each time; one that moves each time is ShardMoving.
///
/// A call of `work` that succeeds proves nothing yet: its shard may have left while it was read. What has to be known of a shard before all have
/// been visited is written by `confirm`, called at most once for each visit, at once behind it. Its error is the outcome of the visit. Cost of
/// `confirm`: one more read of the map for each visit.
[[nodiscard]] result<shard_visits> visit_shards(fleet const& of, function_ref<bool(shard_visit const&)> wanted,
    visit_opener const& open, function_ref<result<void>(shard_visit const&, any_transport const&)> work,
    visit_confirmer const& confirm = {});

/// The tables of a virtual shard as the map names them.
[[nodiscard]] shard_visit visit_of(shard_map_copy const& map, shard_place const& place);

} // namespace detail
ENTITABLE_END_NAMESPACE

#if !defined(ENTITABLE_SEPARATE_COMPILATION)
#include <entitable/fleet/impl/shard_visits.ipp>
#endif
