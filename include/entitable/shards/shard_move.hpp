// SPDX-License-Identifier: MIT
// Copyright (c) 2026 the entitable authors
#pragma once

/// \file
/// Moves of virtual shards from store to store, off-line: nobody reads or writes the shard while it moves.

#include <entitable/shards/sharded.hpp>

ENTITABLE_BEGIN_NAMESPACE

/// Where a move is.
enum class move_step : std::uint8_t {
    taking_over, ///< what another attempt has left is dropped
    sealing,     ///< the map says that nobody reads or writes
    waiting,     ///< for the leases of copies of the map from before
    copying,     ///< rows, to new tables
    verifying,   ///< both sides are read and compared
    flipping,    ///< the map says the new store
    dropping,    ///< the old tables
    done,        ///< the shard is served by its new store
};
/// For people: "copying".
[[nodiscard]] std::string_view to_string(move_step step) noexcept;

/// How far a move is.
struct move_progress {
    move_step step{};      ///< what is done now
    std::uint64_t rows{};  ///< copied so far
    std::uint64_t bytes{}; ///< of them, as they are stored
};
/// Is told of each step and of each page that was copied. False stops the move: run it again, or `cancel`.
using move_watcher = std::function<bool(move_progress const&)>;

/// How moves are made.
struct move_options {
    std::string owner{};                 ///< who moves, for people; by default a random name
    bool keep_old_tables{};              ///< leave them in `retired` for the next move, or for eyes
    clock* time{&detail::lease_clock()}; ///< by which it waits for leases; outlives the move
};

/// A move of one virtual shard that is planned and not yet run. Copies share nothing but the stores. One thread at a time.
class move_plan {
public:
    /// What will be done and what it costs, for people.
    [[nodiscard]] std::string explain() const;
    /// Moves. Run again after an error, a stop or the death of the process, also by another process: it takes over, and begins anew with
    /// tables of other names. The shard answers ShardMoving from the sealing to the end, and again as before when the attempt is taken over.
    /// Errors: those of the stores and of the map; ShardMoving where another process took over meanwhile; Cancelled where the watcher stopped
    /// it; RowMismatch where what was copied is not what is there.
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
