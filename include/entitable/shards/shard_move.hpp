// SPDX-License-Identifier: MIT
// Copyright (c) 2026 the entitable authors
#pragma once

/// \file
/// Moves of virtual shards from store to store, while clients read and write. Nothing is lost, doubled or brought back, whatever is late, lost or
/// killed: that is shown by walking through all orders of the requests (tests/shards).
///
///     auto plan = plan_move(cloud, 6, "bookdbshard1").value();
///     std::puts(plan.explain().c_str());
///     plan.run().value();

#include <entitable/shards/move_options.hpp>
#include <entitable/shards/sharded.hpp>

ENTITABLE_BEGIN_NAMESPACE

/// A move of one virtual shard that is planned and not yet run. Copies share nothing but the stores. One thread at a time.
class move_plan {
public:
    /// What will be done and what it costs, for people.
    [[nodiscard]] std::string explain() const;
    /// Moves. Run again after an error, a stop or the death of the process, also by another process: it takes over, and begins anew with
    /// tables of other names. Writes of the shard answer ShardMoving for the short lease, some scans of keys and a few changes of the map,
    /// reads for a part of that; off-line both do from the beginning to the end. What an attempt has left stays so until it is taken over.
    /// Errors: those of the stores and of the map; ShardMoving where another process took over meanwhile, or the shard is off-line or
    /// read-only; Cancelled where the watcher stopped it; RowMismatch where what was copied is not what is there.
    [[nodiscard]] result<move_progress> run(move_watcher const& watch = {});

    std::int32_t shard{};              ///< the virtual shard
    std::string source;                ///< where it is
    std::string target;                ///< where it is to be
    std::uint64_t rows{};              ///< counted by the plan
    std::uint64_t bytes{};             ///< of them, as they are stored
    std::size_t tables{};              ///< that move together
    std::chrono::milliseconds lease{}; ///< that is waited for

private:
    friend result<move_plan> plan_move(
        sharded const& cloud, std::int32_t shard, std::string target, move_options options);

    explicit move_plan(sharded cloud) : cloud_(std::move(cloud)) {}

    sharded cloud_;
    move_options options_;
};

/// Plans a move: reads every row of the shard to count it. To reverse a move, plan one back. InvalidInput where the shard or the
/// name of the store is none, or it is there already.
[[nodiscard]] result<move_plan> plan_move(
    sharded const& cloud, std::int32_t shard, std::string target, move_options options = {});

/// Ends an attempt that somebody began and left, at any time before its last step: the shard is as before, what was copied is dropped.
[[nodiscard]] result<void> cancel_move(sharded const& cloud, std::int32_t shard);

ENTITABLE_END_NAMESPACE

#if !defined(ENTITABLE_SEPARATE_COMPILATION)
#include <entitable/shards/impl/shard_move.ipp>
#endif
