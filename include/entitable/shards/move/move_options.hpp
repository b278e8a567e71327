// SPDX-License-Identifier: MIT
// Copyright (c) 2026 the entitable authors
#pragma once

/// \file
/// Options and progress of a move of a virtual shard.

#include <entitable/shards/map/shard_map.hpp>

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

ENTITABLE_END_NAMESPACE
