// SPDX-License-Identifier: MIT
// Copyright (c) 2026 the entitable authors
#pragma once

/// \file
/// Moves virtual shards between stores, and splits and merges ranges, while clients read and write. No row is lost, duplicated or restored,
/// whichever request or response is late or lost and whichever process is killed: tests/model checks the orders of the requests.
///
///     auto plan = plan_move(cloud, 6, "bookdbshard1").value();
///     std::puts(plan.to_string().c_str());
///     plan.run().value();
///
///     auto const later = split_shard(cloud, 2, "2026-07").value();    // 2 keeps the keys below, `later` has the others
///     plan_move(cloud, later, "bookdbshard2").value().run().value();
///     plan_merge(cloud, 0, 1, "archive").value().run().value();       // 0 has the keys of both
///
/// The rules of the map (`placement_rule`) bind all of them: they are read when a move is planned, and again when it begins.

#include <entitable/shards/map/placement_rules.hpp>
#include <entitable/shards/map/shard_map.hpp>
#include <entitable/shards/route/sharded.hpp>

ENTITABLE_BEGIN_NAMESPACE

/// The steps of a move.
enum class move_step : std::uint8_t {
    taking_over, ///< ends another attempt and drops its tables
    registering, ///< records the mover and the target in the map
    copying,     ///< copies rows to new tables, while clients read and write
    catching_up, ///< copies rows that were changed during the move
    verifying,   ///< reads the copies and compares them with the rows read from the source
    closing,     ///< shortens the leases that the map grants
    waiting,     ///< waits for the leases of earlier copies of the map
    draining,    ///< writes are refused from this step on
    sealing,     ///< reads are refused as well; both sides are compared for the last time
    flipping,    ///< records the new store in the map
    dropping,    ///< drops the old tables
    done,        ///< the shard is served by its new store
};
/// Returns a display name, such as "copying".
[[nodiscard]] std::string_view to_string(move_step step) noexcept;

/// The progress of a move.
struct move_progress {
    move_step step{};                         ///< the current step
    std::uint64_t rows{};                     ///< rows copied so far, including repeated copies of changed rows
    std::uint64_t bytes{};                    ///< stored size of the copied rows
    std::chrono::nanoseconds waited{};        ///< time spent waiting for leases so far
    std::chrono::nanoseconds writes_paused{}; ///< time from the change to `draining` until the shard was open again
    std::chrono::nanoseconds reads_paused{};  ///< time from the change to `sealed` until the shard was open again
    /// Stores with unused tables that could not be dropped. The map remembers them, and the next move of the shard tries again.
    std::vector<std::string> left_in{};
};
/// Called at each step and after each copied page. False stops the move: run it again, or call `cancel_move`.
using move_progress_callback = std::function<bool(move_progress const&)>;

/// Options of a move.
struct move_options {
    std::string owner{};    ///< the mover's display name; by default a random name
    bool off_line{};        ///< refuses reads and writes of the shard from start to end
    bool keep_old_tables{}; ///< leaves the old tables in `retired` for the next move, or for inspection
    std::chrono::milliseconds short_lease{
        500}; ///< lease while the shard is closing: it accounts for most of the pause in writes
    /// How long another process's attempt may make no progress in the map before it is taken over. Choose a longer time than copying
    /// takes, because only steps are recorded in the map. Taking over a live attempt is harmless, but loses its copying.
    std::chrono::nanoseconds wait_budget{};
    std::size_t rounds{20};        ///< maximum comparisons while the shard is closed; then it is reopened at its source
    std::size_t failures{12};      ///< consecutive temporary failures of requests before the move ends
    std::uint32_t page_size{1000}; ///< rows per read, 1 to 1000
    clock* time{&detail::lease_clock()}; ///< used for waiting for leases; must outlive the move
};

namespace detail {

struct move_planning;

} // namespace detail

/// A planned move of one virtual shard, or a merge of two ranges. Nothing runs before `run`. Copies share only the stores.
///
/// Thread safety: one thread at a time.
class move_plan {
public:
    /// Describes the steps and their cost as readable text.
    [[nodiscard]] std::string to_string() const;
    /// Runs the move. After an error, a stop or a crash of the process, run it again from any process: that run takes over and starts
    /// over, with new table names. Until then the shard stays as the attempt left it.
    ///
    /// Online, writes to the shard return ShardMoving for a short time: the short lease, and the time that the move needs for some scans of
    /// keys and a few changes of the map. Reads return ShardMoving for part of that time. Offline, reads and writes return ShardMoving
    /// during the whole move.
    ///
    /// Unused tables are dropped if their store responds; `left_in` names the other stores.
    ///
    /// Errors: those of the stores and of the map; PlacementForbidden if a rule stored since the plan forbids the move; ShardMoving if
    /// another process took over in the meantime, or the shard is offline or read-only; Cancelled if the watcher stopped it; RowMismatch if
    /// the copy differs from the source.
    [[nodiscard]] result<move_progress> run(move_progress_callback const& watch = {});

    std::int32_t shard{};              ///< the virtual shard
    std::optional<std::int32_t> upper; ///< the range above, to be merged into the shard; empty for a move
    std::string source;                ///< the current store of the shard; "east and west" for a merge of two ranges
    std::string target;                ///< its new store
    std::uint64_t rows{};              ///< counted by the plan
    std::uint64_t bytes{};             ///< stored size of these rows
    std::size_t tables{};              ///< number of tables that move together
    std::chrono::milliseconds lease{}; ///< lease that the move waits for

private:
    friend detail::move_planning;

    move_plan(sharded cloud, std::string to, move_options options);
    [[nodiscard]] result<void> reach();
    [[nodiscard]] result<void> count(detail::shard_map_copy const& map, detail::shard_place const& place);

    sharded cloud_;
    move_options options_;
    std::string high_; ///< the end of the upper range
};

namespace detail {

/// Plans every move: the rules of the map bind every caller.
struct move_planning {
    /// Like `plan_move`, but ignores the rule `but`, which is about to be replaced.
    [[nodiscard]] static result<move_plan> move(
        sharded const& cloud, std::int32_t shard, std::string target, move_options options, std::string_view but);
    /// Like `plan_merge`.
    [[nodiscard]] static result<move_plan> merge(
        sharded const& cloud, std::int32_t lower, std::int32_t upper, std::string target, move_options options);
};

} // namespace detail

/// Plans a move. To reverse a move, plan a move back.
///
/// Errors: InvalidInput if the shard does not exist or is already there, or the store's name is invalid; PlacementForbidden if a rule of
/// the map keeps the shard from the store; those of the map and the stores. Cost: reads every row of the shard to count the rows.
[[nodiscard]] result<move_plan> plan_move(
    sharded const& cloud, std::int32_t shard, std::string target, move_options options = {});

/// Plans to merge two adjacent ranges, with the lower range first. Both ranges are copied into new tables of the lower range, in any store,
/// and the map assigns the keys of both to it. The number of the upper range is never used again. A merge runs like a move, and takes as
/// long as moving both shards.
///
/// Errors: InvalidInput if a shard does not exist, they are not adjacent, the map does not use ranges, or the store's name is invalid;
/// PlacementForbidden if a rule keeps either range from the store, or names only one of the two; those of the map and the stores. Cost:
/// reads every row of both ranges.
[[nodiscard]] result<move_plan> plan_merge(
    sharded const& cloud, std::int32_t lower, std::int32_t upper, std::string target, move_options options = {});

/// Splits a range in two at a partition key. The shard keeps the keys below that key; the other keys get a new shard, whose number is returned.
/// No row moves and no request waits: both shards use the same tables until one of them moves. That move erases its rows from the old
/// tables. Every rule that names the shard also names the upper half, by the same change; a placement by `place` becomes two placements.
///
/// Errors: InvalidInput if the shard does not exist, the key is not inside its range, or the map does not use ranges or has 900 shards;
/// ShardMoving if the shard moves, is offline or is read-only; those of the map. Cost: one read and one transaction of the map.
[[nodiscard]] result<std::int32_t> split_shard(sharded const& cloud, std::int32_t shard, std::string key);

/// Ends an unfinished attempt at any time before its last step. The shard is as before and the copy is dropped. If a store does not
/// respond, the copy stays, `left_in` names the store, and the next move of the shard tries again. For a merge of two ranges, name either
/// range.
///
/// Errors: InvalidInput if the shard does not exist; those of the map.
[[nodiscard]] result<move_progress> cancel_move(sharded const& cloud, std::int32_t shard);

ENTITABLE_END_NAMESPACE

#if !defined(ENTITABLE_SEPARATE_COMPILATION)
#include <entitable/shards/move/impl/shard_move.ipp>
#endif
