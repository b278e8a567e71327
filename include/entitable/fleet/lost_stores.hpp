// SPDX-License-Identifier: MIT
// Copyright (c) 2026 the entitable authors
#pragma once

/// \file
/// `forget_store`: a store that is gone for good is given up, and nothing waits for it any more. `repair_tables`: parts of tables that were lost are
/// made again, empty. Both lose what cannot be had back, so both have to be told that.
///
///     auto const lost = forget_store(all, "west", accepting_loss).value();
///     std::puts(lost.to_string().c_str());

#include <entitable/fleet/fleet.hpp>
#include <entitable/shards/placement_rules.hpp>

ENTITABLE_BEGIN_NAMESPACE

/// Says that rows may be lost for good: `accepting_loss`.
struct accepting_loss_t {
    explicit accepting_loss_t() = default;
};
/// Says that rows may be lost for good.
inline constexpr accepting_loss_t accepting_loss{};

/// A virtual shard whose rows are lost.
struct lost_shard {
    std::int32_t shard{}; ///< the virtual shard
    std::string low;      ///< the first partition key of its range; empty where a function decides
    std::string high;     ///< behind the last one; empty for no end
    std::string now_in;   ///< the store where it is, empty, from now on
};
/// What was lost with a store.
struct lost_store {
    std::string store; ///< its name
    /// Those that were there and that this call has placed; one that ended before may have placed others.
    std::vector<lost_shard> shards;
    std::vector<std::string> tables; ///< each has lost the rows of these shards
    std::size_t attempts{};          ///< moves into it that were ended
    std::size_t retired{};           ///< old tables in it that are not dropped any more, of shards that are elsewhere
    std::vector<std::string> rules;  ///< that name the store: they stand

    /// As text, a line for each shard.
    [[nodiscard]] std::string to_string() const;
};

/// Gives up a store that will not come back. Its shards are sealed; once no client relies on an older copy of the map, each gets new, empty tables in
/// another store that the rules allow. Moves into the store are ended, old tables in it are forgotten, and the map does not list it any more. Nothing
/// is asked of the store itself. Restore a backup into the fleet to have its rows again.
///
/// `into`: the stores that get the shards, in turn; by default those of the fleet that have the fewest. With the name of the lost store itself the
/// shards stay there, in new tables: the store was replaced by an empty one. A store that comes back later holds tables that nobody uses:
/// `schema_drift` reports them.
///
/// After an error or a crash the same call resumes. Clients get ShardMoving meanwhile, for as long as the lease.
///
/// Errors: InvalidInput where no other store is there; PlacementForbidden where the rules allow none; ShardMoving where shards move to the store all
/// the time; those of the map and of the stores that get shards. Thread safety: safe to use from several threads, as the fleet is.
[[nodiscard]] result<lost_store> forget_store(
    fleet const& of, std::string_view name, accepting_loss_t, std::vector<std::string> const& into = {});

/// Makes the parts of tables that `schema_drift` reports as missing, without rows, and returns their number. Creating a table does not: a part that
/// was there once is lost. The part has the name that it had: a write from before that comes late may still be applied there.
///
/// Errors: WrongStore where a store has lost its identity as well: `forget_store` is for that; those of the map and the stores.
[[nodiscard]] result<std::size_t> repair_tables(fleet const& of, accepting_loss_t);

ENTITABLE_END_NAMESPACE

#if !defined(ENTITABLE_SEPARATE_COMPILATION)
#include <entitable/fleet/impl/lost_stores.ipp>
#endif
