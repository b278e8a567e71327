// SPDX-License-Identifier: MIT
// Copyright (c) 2026 the entitable authors
#pragma once

/// \file
/// Moves of virtual shards from store to store, and splits and merges of ranges, while clients read and write. Nothing is lost, doubled or brought back, whatever is late, lost or
/// killed: that is shown by walking through all orders of the requests (tests/shards).
///
///     auto plan = plan_move(cloud, 6, "bookdbshard1").value();
///     std::puts(plan.explain().c_str());
///     plan.run().value();
///
///     auto const later = split_shard(cloud, 2, "2026-07").value();    // 2 keeps the keys below, `later` has those from there on
///     plan_move(cloud, later, "bookdbshard2").value().run().value();
///     plan_merge(cloud, 0, 1, "archive").value().run().value();       // 0 has the keys of both

#include <entitable/shards/move_options.hpp>
#include <entitable/shards/sharded.hpp>

ENTITABLE_BEGIN_NAMESPACE

/// A move of one virtual shard, or of two ranges into one, that is planned and not yet run. Copies share nothing but the stores. One thread at a time.
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
    std::optional<std::int32_t> upper; ///< the range above it that goes into it; nothing for a move
    std::string source;                ///< where it is; of two "east and west"
    std::string target;                ///< where it is to be
    std::uint64_t rows{};              ///< counted by the plan
    std::uint64_t bytes{};             ///< of them, as they are stored
    std::size_t tables{};              ///< that move together
    std::chrono::milliseconds lease{}; ///< that is waited for

private:
    friend result<move_plan> plan_move(
        sharded const& cloud, std::int32_t shard, std::string target, move_options options);
    friend result<move_plan> plan_merge(
        sharded const& cloud, std::int32_t lower, std::int32_t upper, std::string target, move_options options);

    move_plan(sharded cloud, std::string to, move_options options);
    [[nodiscard]] result<void> reach();
    [[nodiscard]] result<void> count(detail::shard_map_copy const& map, detail::shard_place const& place);

    sharded cloud_;
    move_options options_;
    std::string high_; ///< behind the last key of what is merged
};

/// Plans a move: reads every row of the shard to count it. To reverse a move, plan one back. InvalidInput where the shard or the
/// name of the store is none, or it is there already.
[[nodiscard]] result<move_plan> plan_move(
    sharded const& cloud, std::int32_t shard, std::string target, move_options options = {});

/// Plans to merge two ranges that are side by side, the lower one first: both are copied into new tables of the lower one, in any store, and the map
/// gives it the keys of both. The number of the upper one is never used again. It is run as a move, and is as long as one of both.
/// InvalidInput where there is no such shard, they are not side by side, the map is not by ranges, or the name of the store is none.
[[nodiscard]] result<move_plan> plan_merge(
    sharded const& cloud, std::int32_t lower, std::int32_t upper, std::string target, move_options options = {});

/// Splits a range in two at a partition key: the shard keeps the keys below it, the others get the shard whose number it returns. One change of the
/// map; nothing moves and nobody waits: both have the same tables until one of them is moved. Rows that such a move leaves there are erased.
/// InvalidInput where there is no such shard, the key is not inside its range, or the map is not by ranges or has 900 shards; ShardMoving where it is
/// on the move, off-line or read-only; those of the map. Cost: one read and one transaction of the map.
[[nodiscard]] result<std::int32_t> split_shard(sharded const& cloud, std::int32_t shard, std::string key);

/// Ends an attempt that somebody began and left, at any time before its last step: the shard is as before, what was copied is dropped. Of two that
/// are merged either one is named.
[[nodiscard]] result<void> cancel_move(sharded const& cloud, std::int32_t shard);

ENTITABLE_END_NAMESPACE

#if !defined(ENTITABLE_SEPARATE_COMPILATION)
#include <entitable/shards/impl/shard_move.ipp>
#endif
