// SPDX-License-Identifier: MIT
// Copyright (c) 2026 the entitable authors
#pragma once

/// \file
/// `place`: a tenant, or a range of keys, is brought to a named store and kept there.

#include <entitable/fleet/placement_rules.hpp>
#include <entitable/fleet/rebalance.hpp>

ENTITABLE_BEGIN_NAMESPACE

/// Where a tenant was placed.
struct placement {
    std::int32_t shard{}; ///< its virtual shard
    std::string rule;     ///< that keeps it there
    std::string from;     ///< where it was
    bool moved{};         ///< false where it was there already
    move_progress move{}; ///< how it was moved
};

/// Moves the virtual shard of this partition key under load to a store, and puts a rule that keeps it there, so that every plan of the fleet does;
/// an earlier placement of the shard gives way. What shares the shard goes along: `virtual_shards::with_own` gives a tenant a shard of its own.
/// After an error or a crash the same call goes on: the rule stands, what was begun is taken over.
/// Errors: PlacementForbidden where another rule keeps the shard from the store, or somebody placed it elsewhere meanwhile; ShardUnmapped for
/// a key without a shard; InvalidInput for a name that is none; those of moves. Cost: that of `plan_move` and of its run.
[[nodiscard]] result<placement> place(fleet const& of, std::string_view partition_key, std::string store,
    move_options const& options = {}, move_watcher const& watch = {});
/// Takes the rule of `place` away; the shard stays where it is until the next rebalance. ResourceNotFound where it was not placed.
[[nodiscard]] result<void> unplace(fleet const& of, std::string_view partition_key);

ENTITABLE_END_NAMESPACE

#if !defined(ENTITABLE_SEPARATE_COMPILATION)
#include <entitable/fleet/impl/place.ipp>
#endif
