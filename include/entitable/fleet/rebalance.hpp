// SPDX-License-Identifier: MIT
// Copyright (c) 2026 the entitable authors
#pragma once

/// \file
/// `plan_rebalance` plans the moves of virtual shards after which every store holds its share; `plan_drain` those that empty a store. A plan moves
/// nothing until it runs.
///
///     auto plan = plan_rebalance(all, {.by = balance_by::bytes}).value();
///     std::puts(plan.explain().c_str());     // nothing has been moved so far
///     plan.run().value();

#include <entitable/fleet/fleet_check.hpp>
#include <entitable/shards/shard_move.hpp>

ENTITABLE_BEGIN_NAMESPACE

/// How stores are balanced.
struct rebalance_options {
    balance_by by{balance_by::shards};                       ///< what is made even
    double threshold{1.05};                                  ///< a store holds at most this many times its share
    std::vector<std::string> drain{};                        ///< stores to empty
    bool only_forced{};                                      ///< makes only the moves that a rule or `drain` asks for
    std::function<double(std::int32_t shard)> load{};        ///< for `balance_by::load`
    std::function<result<void>(std::string_view)> prepare{}; ///< called with a store before the first shard moves there
    move_options moves{};                                    ///< of each move
};

/// A move of a plan.
struct planned_move {
    std::int32_t shard{}; ///< the virtual shard
    std::string source;   ///< where it is
    std::string target;   ///< where it is to be
    double size{};        ///< in the unit of `balance_by`
};

/// How far a rebalance has come.
struct rebalance_progress {
    std::size_t moved{};   ///< shards
    std::size_t skipped{}; ///< shards that an earlier run moved, or that were merged into others
    move_progress current; ///< of the move at hand
};
/// Receives each step of each move. Returning false stops the run; run it again to go on.
using rebalance_watcher = std::function<bool(rebalance_progress const&)>;

/// Planned moves. Nothing moves before `run`. Copies share only the stores.
///
/// Thread safety: one thread at a time.
class rebalance_plan {
public:
    std::vector<planned_move> moves; ///< the largest first
    balance_by by{};                 ///< what `size` means
    double before{};                 ///< the largest of all stores divided by its share; 1 is even
    double after{};                  ///< the same when all is moved
    double moved{};                  ///< the size of all moves
    double total{};                  ///< the size of everything

    /// What will move, for people; the last line says how even the stores are before and after.
    [[nodiscard]] std::string explain() const;
    /// Makes the moves one after the other, and reads the rules of the map again before each. After an error, a stop or the death of the
    /// process run it again, or a plan made anew.
    ///
    /// Errors: those of moves, with the number of the shard; PlacementForbidden where a rule that was made since forbids a move; Cancelled.
    [[nodiscard]] result<rebalance_progress> run(rebalance_watcher const& watch = {}) const;

private:
    friend result<rebalance_plan> plan_rebalance(fleet const& of, rebalance_options const& options);
    explicit rebalance_plan(fleet of) : fleet_(std::move(of)) {}

    fleet fleet_;
    rebalance_options options_;
};

/// Plans to even out the stores by moving as little as possible. Stores of `fleet_options::stores` that have no shard yet take part. The rules of
/// the map bind the plan, as they bind every move.
///
/// Errors: those of the map and of stores; PlacementForbidden where no store may take a shard. Cost: reads every row where rows or bytes are balanced.
[[nodiscard]] result<rebalance_plan> plan_rebalance(fleet const& of, rebalance_options const& options = {});
/// Plans to empty a store: its shards go to the stores that are least full, by `balance_by` and the weights of the rules. Nothing else moves.
[[nodiscard]] result<rebalance_plan> plan_drain(fleet const& of, std::string store, rebalance_options options = {});

ENTITABLE_END_NAMESPACE

#if !defined(ENTITABLE_SEPARATE_COMPILATION)
#include <entitable/fleet/impl/rebalance.ipp>
#endif
