// SPDX-License-Identifier: MIT
// Copyright (c) 2026 the entitable authors
#pragma once

/// \file
/// `plan_rebalance`: which virtual shards move where so that all stores hold their share; a dry run first. `plan_drain`: a store is emptied.
///
///     auto plan = plan_rebalance(all, {.by = balance_by::bytes}).value();
///     std::puts(plan.explain().c_str());     // nothing has been moved so far
///     plan.run().value();

#include <entitable/fleet/fleet_check.hpp>
#include <entitable/fleet/placement_rules.hpp>
#include <entitable/shards/shard_move.hpp>

ENTITABLE_BEGIN_NAMESPACE

/// How stores are balanced.
struct rebalance_options {
    balance_by by{balance_by::shards};                       ///< what is to be even
    double threshold{1.05};                                  ///< a store holds at most so much times its share
    std::vector<std::string> drain{};                        ///< stores that are to be empty
    bool only_forced{};                                      ///< moves only what a rule or `drain` moves
    std::function<double(std::int32_t shard)> load{};        ///< for `balance_by::load`
    std::function<result<void>(std::string_view)> prepare{}; ///< called with a store before the first shard moves there
    move_options moves{};                                    ///< of each move
};

/// A move of a plan.
struct planned_move {
    std::int32_t shard{}; ///< the virtual shard
    std::string source;   ///< where it is
    std::string target;   ///< where it is to be
    double size{};        ///< by what the plan balances
};

/// How far a rebalance is.
struct rebalance_progress {
    std::size_t moved{};   ///< shards
    std::size_t skipped{}; ///< shards that were there already: moved by an earlier run; or that are merged into others
    move_progress current; ///< of the move at hand
};
/// Is told of each step of each move. False stops it: run it again.
using rebalance_watcher = std::function<bool(rebalance_progress const&)>;

/// Moves that are planned and not yet made. Copies share nothing but the stores. One thread at a time.
class rebalance_plan {
public:
    std::vector<planned_move> moves; ///< the largest first
    balance_by by{};                 ///< what `size` means
    double before{};                 ///< the largest of all stores divided by its share; 1 is even
    double after{};                  ///< the same when all is moved
    double moved{};                  ///< the size of all moves
    double total{};                  ///< the size of everything

    /// What will be moved, for people; ends with how even it is before and after.
    [[nodiscard]] std::string explain() const;
    /// Makes the moves one after the other. The rules of the map are read again before each. Run again after an error, a stop or the death
    /// of the process; a plan that is made anew then is as good.
    /// Errors: those of moves, with the number of the shard; PlacementForbidden where a rule was put since; Cancelled.
    [[nodiscard]] result<rebalance_progress> run(rebalance_watcher const& watch = {}) const;

private:
    friend result<rebalance_plan> plan_rebalance(fleet const& of, rebalance_options const& options);
    explicit rebalance_plan(fleet of) : fleet_(std::move(of)) {}

    fleet fleet_;
    rebalance_options options_;
};

/// Plans moves with the least that is moved. New stores are those of `fleet_options::stores`. Bound by the rules of the map, as is every move.
/// Reads every row where rows or bytes are balanced. Errors: those of the map and of stores; PlacementForbidden where no store may take a shard.
[[nodiscard]] result<rebalance_plan> plan_rebalance(fleet const& of, rebalance_options const& options = {});
/// Plans to empty a store: its shards go where there is most room. Nothing else moves.
[[nodiscard]] result<rebalance_plan> plan_drain(fleet const& of, std::string store, rebalance_options options = {});
/// As `plan_move` of one shard, where the rules of the map allow it: PlacementForbidden.
[[nodiscard]] result<move_plan> plan_move(
    fleet const& of, std::int32_t shard, std::string target, move_options options = {});

ENTITABLE_END_NAMESPACE

#if !defined(ENTITABLE_SEPARATE_COMPILATION)
#include <entitable/fleet/impl/rebalance.ipp>
#endif
