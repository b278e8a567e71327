// SPDX-License-Identifier: MIT
// Copyright (c) 2026 the entitable authors
#pragma once

/// \file
/// `plan_rebalance` plans the moves of virtual shards after which every store holds its share; `plan_drain` plans the moves that empty a
/// store. Nothing moves until a plan runs. `place` brings a tenant, or a range of keys, to a named store and keeps it there. `split_key`: the
/// best key to split a range at.
///
///     auto plan = plan_rebalance(all, {.by = balance_by::bytes}).value();
///     std::puts(plan.to_string().c_str());     // nothing has been moved so far
///     plan.run().value();
///
///     auto const upper = split_shard(cloud, 2, split_key(all, 2).value()).value();
///     plan_move(cloud, upper, "north").value().run().value();

#include <entitable/shards/fleet/fleet.hpp>
#include <entitable/shards/fleet/fleet_check.hpp>
#include <entitable/shards/map/store_attributes.hpp>
#include <entitable/shards/move/shard_move.hpp>

ENTITABLE_BEGIN_NAMESPACE

/// Options of a rebalance.
struct rebalance_options {
    balance_by by{balance_by::shards}; ///< the unit to balance
    double threshold{1.05};            ///< a store holds at most this many times its share
    std::vector<std::string> drain{};  ///< stores to empty
    bool only_forced{};                ///< makes only the moves required by a rule or by `drain`
    bool across_regions{true}; ///< whether a shard may move to another region if no balance is found within its own
    std::function<double(std::int32_t shard)> load{};        ///< for `balance_by::load`
    std::function<result<void>(std::string_view)> prepare{}; ///< called with a store before the first shard moves to it
    move_options moves{};                                    ///< options for each move
};

/// A move of a plan.
struct planned_move {
    std::int32_t shard{};  ///< the virtual shard
    std::string source;    ///< its current store
    std::string target;    ///< its new store
    double size{};         ///< size in the unit of `balance_by`
    bool across_regions{}; ///< whether both stores have a region, and these differ
};

/// The progress of a rebalance.
struct rebalance_progress {
    std::size_t moved{};   ///< number of shards moved
    std::size_t skipped{}; ///< shards that an earlier run moved, or that were merged into others
    std::size_t
        postponed{}; ///< moves left out because one of their stores is in a maintenance window now: run again later
    move_progress current; ///< progress of the current move
};
/// Receives each step of each move. Returning false stops the run; run it again to continue.
using rebalance_progress_callback = std::function<bool(rebalance_progress const&)>;

/// Planned moves. Nothing moves before `run`. Copies share only the stores.
///
/// Thread safety: one thread at a time.
class rebalance_plan {
public:
    std::vector<planned_move> moves;     ///< the largest move first
    balance_by by{};                     ///< the unit of `size`
    double before{};                     ///< the largest ratio of a store's load to its share; 1 is even
    double after{};                      ///< the ratio after all moves
    double moved{};                      ///< the size of all moves
    double total{};                      ///< total size of all shards
    std::vector<std::string> maintained; ///< stores that were in a maintenance window: the plan leaves them as they are

    /// Describes the moves as readable text; the last line has the ratios before and after.
    [[nodiscard]] std::string to_string() const;
    /// Runs the moves one after the other, and reads the rules and the attributes of the map again before each. After an error, a stop or the death of the
    /// process run it again, or make a new plan.
    ///
    /// Errors: those of moves, with the number of the shard; PlacementForbidden if a rule stored since then forbids a move; Cancelled.
    [[nodiscard]] result<rebalance_progress> run(rebalance_progress_callback const& watch = {}) const;

private:
    friend result<rebalance_plan> plan_rebalance(fleet const& of, rebalance_options const& options);
    [[nodiscard]] result<bool> postpones(planned_move const& each) const;
    explicit rebalance_plan(fleet of) : fleet_(std::move(of)) {}

    fleet fleet_;
    rebalance_options options_;
};

/// Plans moves that balance the stores and move as little as possible. Stores of `fleet_options::stores` without shards
/// take part. The rules of the map apply to the plan, as they do to every move.
///
/// Attributes of the stores (`store_attributes`) apply to plans, not to single moves. A store within a maintenance window neither gets nor
/// loses a shard, and the ratios are those of the other stores. Shards stay within the region of their store if a balance is found so; otherwise as
/// few as possible change their region, without a loss of balance.
///
/// Errors: those of the map and of stores; PlacementForbidden if the rules, or the region without `across_regions`, do not allow a shard in any
/// store. Cost:
/// reads every row if rows or bytes are balanced.
[[nodiscard]] result<rebalance_plan> plan_rebalance(fleet const& of, rebalance_options const& options = {});
/// Plans to empty a store: its shards go to the least full stores, by `balance_by` and the weights of the rules. No other shard moves.
[[nodiscard]] result<rebalance_plan> plan_drain(fleet const& of, std::string store, rebalance_options options = {});

/// Returns the partition key at which a split makes the two halves most even, by bytes of all tables. InvalidInput if the shard does not
/// exist, or has rows in fewer than two partitions; those of the map and of its store. Cost: reads every row; remembers
/// every partition key.
[[nodiscard]] result<std::string> split_key(fleet const& of, std::int32_t shard);

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
#include <entitable/shards/fleet/impl/rebalance.ipp>
#endif
