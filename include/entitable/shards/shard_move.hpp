// SPDX-License-Identifier: MIT
// Copyright (c) 2026 the entitable authors
#pragma once

/// \file
/// Moves of virtual shards from store to store, and splits and merges of ranges, while clients read and write. No row is lost, doubled or brought
/// back, whichever request or answer is late or lost and whichever process is killed: tests/model walks through the orders of the requests.
///
///     auto plan = plan_move(cloud, 6, "bookdbshard1").value();
///     std::puts(plan.explain().c_str());
///     plan.run().value();
///
///     auto const later = split_shard(cloud, 2, "2026-07").value();    // 2 keeps the keys below, `later` has those from there on
///     plan_move(cloud, later, "bookdbshard2").value().run().value();
///     plan_merge(cloud, 0, 1, "archive").value().run().value();       // 0 has the keys of both
///
/// The rules of the map (`placement_rule`) bind each of them: they are read when a move is planned, and again when it begins.

#include <entitable/shards/move_options.hpp>
#include <entitable/shards/placement_rules.hpp>
#include <entitable/shards/sharded.hpp>

ENTITABLE_BEGIN_NAMESPACE

namespace detail {

struct move_planning;

} // namespace detail

/// A planned move of one virtual shard, or of two ranges into one. Nothing runs before `run`. Copies share only the stores.
///
/// Thread safety: one thread at a time.
class move_plan {
public:
    /// What will be done and what it costs, for people.
    [[nodiscard]] std::string explain() const;
    /// Moves. After an error, a stop or the death of the process run it again, from any process: that run takes over and begins anew, with
    /// tables of other names. Until then the shard stays as the attempt left it.
    ///
    /// On line, writes of the shard answer ShardMoving during the short lease, some scans of keys and a few changes of the map, and reads
    /// during a part of that. Off-line, both do so from the beginning to the end.
    ///
    /// Tables that nobody uses any more are dropped where their store answers; `left_in` names the others.
    ///
    /// Errors: those of the stores and of the map; PlacementForbidden where a rule that was made since forbids it; ShardMoving where another
    /// process took over meanwhile, or the shard is off-line or read-only; Cancelled where the watcher stopped it; RowMismatch where the copy differs from the source.
    [[nodiscard]] result<move_progress> run(move_watcher const& watch = {});

    std::int32_t shard{};              ///< the virtual shard
    std::optional<std::int32_t> upper; ///< the range above it that is merged into it; nothing for a move
    std::string source;                ///< where it is; "east and west" where two ranges are merged
    std::string target;                ///< where it is to be
    std::uint64_t rows{};              ///< counted by the plan
    std::uint64_t bytes{};             ///< of them, as they are stored
    std::size_t tables{};              ///< that move together
    std::chrono::milliseconds lease{}; ///< that the move waits for

private:
    friend detail::move_planning;

    move_plan(sharded cloud, std::string to, move_options options);
    [[nodiscard]] result<void> reach();
    [[nodiscard]] result<void> count(detail::shard_map_copy const& map, detail::shard_place const& place);

    sharded cloud_;
    move_options options_;
    std::string high_; ///< behind the last key of what is merged
};

namespace detail {

/// The one place in which moves are planned: whoever plans one is bound by the rules of the map.
struct move_planning {
    /// As `plan_move`; the rule `but` does not bind: it is about to be replaced.
    [[nodiscard]] static result<move_plan> move(
        sharded const& cloud, std::int32_t shard, std::string target, move_options options, std::string_view but);
    /// As `plan_merge`.
    [[nodiscard]] static result<move_plan> merge(
        sharded const& cloud, std::int32_t lower, std::int32_t upper, std::string target, move_options options);
};

} // namespace detail

/// Plans a move. To reverse a move, plan one back.
///
/// Errors: InvalidInput where there is no such shard, the store's name is none, or the shard is there already; PlacementForbidden where a rule
/// of the map keeps the shard from the store; those of the map and the stores. Cost: reads every row of the shard, to count it.
[[nodiscard]] result<move_plan> plan_move(
    sharded const& cloud, std::int32_t shard, std::string target, move_options options = {});

/// Plans to merge two ranges side by side, the lower one first. Both are copied into new tables of the lower one, in any store, and the map gives
/// it the keys of both. The number of the upper one is never used again. It runs as a move does, for as long as the moves of both take.
///
/// Errors: InvalidInput where there is no such shard, they are not side by side, the map is not by ranges, or the store's name is none;
/// PlacementForbidden where a rule keeps either from the store, or names one of both only; those of the map and the stores. Cost: reads every
/// row of both.
[[nodiscard]] result<move_plan> plan_merge(
    sharded const& cloud, std::int32_t lower, std::int32_t upper, std::string target, move_options options = {});

/// Splits a range in two at a partition key. The shard keeps the keys below it; the keys from there on get a new shard, whose number is returned.
/// Nothing moves and nobody waits: both shards have the same tables until one of them moves. Such a move erases the rows that it leaves there.
/// Every rule that names the shard names the upper half as well, by the same change; what `place` has placed is two placements from there on.
///
/// Errors: InvalidInput where there is no such shard, the key is not inside its range, or the map is not by ranges or has 900 shards; ShardMoving
/// where the shard moves, is off-line or is read-only; those of the map. Cost: one read and one transaction of the map.
[[nodiscard]] result<std::int32_t> split_shard(sharded const& cloud, std::int32_t shard, std::string key);

/// Ends an attempt that a process began and left, at any time before its last step. The shard is as before and the copy is dropped; where a store
/// does not answer, the copy stays, `left_in` names the store, and the next move of the shard tries again. Of two ranges that are merged, name
/// either.
///
/// Errors: InvalidInput where there is no such shard; those of the map.
[[nodiscard]] result<move_progress> cancel_move(sharded const& cloud, std::int32_t shard);

ENTITABLE_END_NAMESPACE

#if !defined(ENTITABLE_SEPARATE_COMPILATION)
#include <entitable/shards/impl/shard_move.ipp>
#endif
