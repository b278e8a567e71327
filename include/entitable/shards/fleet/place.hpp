// SPDX-License-Identifier: MIT
// Copyright (c) 2026 the entitable authors
#pragma once

/// \file
/// `place`: brings a tenant, or a range of keys, to a named store and keeps it there.

#include <entitable/shards/fleet/rebalance.hpp>

ENTITABLE_BEGIN_NAMESPACE

/// The placement of a tenant.
struct placement {
    std::int32_t shard{}; ///< its virtual shard
    std::string rule;     ///< the rule that keeps the tenant in its store
    std::string from;     ///< its store before
    bool moved{};         ///< whether the shard was moved; false if it was already in the store
    move_progress move{}; ///< the progress of the move
};

/// Moves the virtual shard of this partition key to a store while clients use it, and stores a rule that keeps it there in every later
/// plan. Replaces an earlier placement of the shard. Everything in the shard moves: `virtual_shards::with_own` gives a tenant its
/// own shard. After an error or a crash the same call resumes: the rule stays, and an unfinished move is taken over.
///
/// Errors: PlacementForbidden if another rule keeps the shard from the store, or another caller placed the shard
/// elsewhere in the meantime; ShardUnmapped for a key without a shard; InvalidInput for an invalid name; those of
/// moves. Cost: that of `plan_move` and of its run.
[[nodiscard]] result<placement> place(fleet const& of, std::string_view partition_key, std::string store,
    move_options const& options = {}, move_progress_callback const& watch = {});
/// Removes the rule of `place`; the shard stays in its store until the next rebalance. ResourceNotFound if it was not placed.
[[nodiscard]] result<void> unplace(fleet const& of, std::string_view partition_key);

ENTITABLE_END_NAMESPACE

#if !defined(ENTITABLE_SEPARATE_COMPILATION)
#include <entitable/shards/fleet/impl/place.ipp>
#endif
