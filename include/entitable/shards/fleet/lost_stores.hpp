// SPDX-License-Identifier: MIT
// Copyright (c) 2026 the entitable authors
#pragma once

/// \file
/// `forget_store`: gives up a store that is permanently lost, so that nothing waits for it any longer. `repair_tables`:
/// recreates lost parts of tables, without their rows. Both functions lose data irrecoverably, so both require explicit
/// consent.
///
///     auto const lost = forget_store(all, "west", accepting_loss).value();
///     std::puts(lost.to_string().c_str());

#include <entitable/shards/fleet/fleet.hpp>
#include <entitable/shards/map/placement_rules.hpp>

ENTITABLE_BEGIN_NAMESPACE

/// The type of `accepting_loss`.
struct accepting_loss_t {
    explicit accepting_loss_t() = default;
};
/// Consents to the permanent loss of rows.
inline constexpr accepting_loss_t accepting_loss{};

/// A virtual shard whose rows are lost.
struct lost_shard {
    std::int32_t shard{}; ///< the virtual shard
    /// The first partition key of its range; empty for no start, or if a hash or a function assigns keys to shards.
    std::string low;
    std::string high;   ///< the end of its range, exclusive; empty for no end
    std::string now_in; ///< the new store of the shard, in which the shard is empty
};
/// The losses caused by a lost store.
struct lost_store {
    std::string store; ///< its name
    /// The shards that this call has placed; an earlier, interrupted call may have placed others.
    std::vector<lost_shard> shards;
    std::vector<std::string> tables; ///< tables that lost the rows of these shards
    std::size_t attempts{};          ///< number of moves into the lost store that were ended
    std::size_t retired{};           ///< old tables of other stores' shards in the lost store; they are never dropped
    std::vector<std::string> rules;  ///< rules that name the store; they are not removed

    /// Returns the losses as text, one line per shard.
    [[nodiscard]] std::string to_string() const;
};

/// Gives up a store that will not come back. Its shards are sealed; once no client relies on an older copy of the map, each gets new, empty
/// tables in another store that the rules allow. Moves into the store are ended, old tables in it are forgotten, and the map no longer
/// lists it. No request is sent to the store itself. Restore a backup into the fleet to recover its rows.
///
/// `into`: the stores that receive the shards, in turn; by default the stores of the fleet that have the fewest shards.
/// If `into` is the name of the lost store itself, the shards stay there, in new tables: use this if the store was
/// replaced by an empty store. If the lost store comes back later, its tables are unused: `schema_drift` reports them.
///
/// After an error or a crash the same call resumes. Until then clients get ShardMoving, for the duration of the lease.
///
/// Errors: InvalidInput if there is no other store; PlacementForbidden if the rules allow no other store; ShardMoving if shards keep moving
/// to the store; those of the map and of the stores that receive shards. Thread safety: safe to use from several threads, as the fleet is.
[[nodiscard]] result<lost_store> forget_store(
    fleet const& of, std::string_view name, accepting_loss_t, std::vector<std::string> const& into = {});

/// Creates the parts of tables that `schema_drift` reports as missing, without rows, and returns their number. Creating a table does not do
/// this, because a part that once existed is considered lost. The new part has the old name: a late write from before
/// the loss may still be applied to it.
///
/// Errors: WrongStore if a store has lost its identity as well: use `forget_store`; those of the map and the stores.
[[nodiscard]] result<std::size_t> repair_tables(fleet const& of, accepting_loss_t);

ENTITABLE_END_NAMESPACE

#if !defined(ENTITABLE_SEPARATE_COMPILATION)
#include <entitable/shards/fleet/impl/lost_stores.ipp>
#endif
