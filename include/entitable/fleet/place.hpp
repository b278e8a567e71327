// SPDX-License-Identifier: MIT
// Copyright (c) 2026 the entitable authors
#pragma once

/// \file
/// `place`: brings a tenant, or a range of keys, to a named store and keeps it there.

#include <entitable/fleet/rebalance.hpp>

ENTITABLE_BEGIN_NAMESPACE

/// Where a tenant was placed.
struct placement {
    std::int32_t shard{}; ///< its virtual shard
    std::string rule;     ///< that keeps it there
    std::string from;     ///< where it was
    bool moved{};         ///< whether it was moved: not where it was there already
    move_progress move{}; ///< how it was moved
};

/// Moves the virtual shard of this partition key under load to a store, and puts a rule that keeps it there, so that every plan of the fleet does;
/// an earlier placement of the shard gives way. Everything in the shard moves: `virtual_shards::with_own` gives a tenant a shard of its own.
/// After an error or a crash the same call resumes: the rule is kept, a move that was begun is taken over.
/// Errors: PlacementForbidden where another rule keeps the shard from the store, or another caller placed it elsewhere meanwhile; ShardUnmapped for
/// a key without a shard; InvalidInput for a name that is none; those of moves. Cost: that of `plan_move` and of its run.
[[nodiscard]] result<placement> place(fleet const& of, std::string_view partition_key, std::string store,
    move_options const& options = {}, move_watcher const& watch = {});
/// Removes the rule of `place`; the shard stays where it is until the next rebalance. ResourceNotFound where it was not placed.
[[nodiscard]] result<void> unplace(fleet const& of, std::string_view partition_key);

ENTITABLE_END_NAMESPACE

#if !defined(ENTITABLE_SEPARATE_COMPILATION)
#include <entitable/fleet/impl/place.ipp>
#endif
