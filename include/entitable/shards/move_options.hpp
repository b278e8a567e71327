// SPDX-License-Identifier: MIT
// Copyright (c) 2026 the entitable authors
#pragma once

/// \file
/// Options and progress of a move of a virtual shard.

#include <entitable/shards/shard_map.hpp>

ENTITABLE_BEGIN_NAMESPACE

/// The steps of a move.
enum class move_step : std::uint8_t {
    taking_over, ///< what another attempt has left is ended and dropped
    registering, ///< the map says who moves the shard where to
    copying,     ///< rows, to new tables, while clients read and write
    catching_up, ///< what was written meanwhile is copied as well
    verifying,   ///< the copies are read and compared with what was read at the source
    closing,     ///< the map gives short leases
    waiting,     ///< for the leases of copies of the map from before
    draining,    ///< nobody writes any more
    sealing,     ///< nobody reads or writes any more; both sides are compared for the last time
    flipping,    ///< the map says the new store
    dropping,    ///< the old tables
    done,        ///< the shard is served by its new store
};
/// For people: "copying".
[[nodiscard]] std::string_view to_string(move_step step) noexcept;

/// The progress of a move.
struct move_progress {
    move_step step{};                         ///< what is done now
    std::uint64_t rows{};                     ///< copied so far, again where they were changed meanwhile
    std::uint64_t bytes{};                    ///< of them, as they are stored
    std::chrono::nanoseconds waited{};        ///< for leases, so far
    std::chrono::nanoseconds writes_paused{}; ///< from the change to `draining` until the shard was open again
    std::chrono::nanoseconds reads_paused{};  ///< from the change to `sealed` until then
    /// Stores that still have tables which nobody uses: they could not be dropped. The map remembers them, and the next move of the shard tries again.
    std::vector<std::string> left_in{};
};
/// Called at each step and after each page that was copied. False stops the move: run it again, or `cancel_move`.
using move_watcher = std::function<bool(move_progress const&)>;

/// Options of a move.
struct move_options {
    std::string owner{};                        ///< who moves, for people; by default a random name
    bool off_line{};                            ///< nobody reads or writes the shard from the beginning to the end
    bool keep_old_tables{};                     ///< leave them in `retired` for the next move, or for eyes
    std::chrono::milliseconds short_lease{500}; ///< while the shard is closing: most of the pause of writes
    /// How long the attempt of another process stands still in the map before it is taken over. Longer than its copying
    /// takes, since the map is told of steps only. Taking over one that lives is harmless, but its copying is lost.
    std::chrono::nanoseconds patience{};
    std::size_t rounds{20};   ///< of comparing while nobody reads or writes; then the shard is opened at its source
    std::size_t failures{12}; ///< of requests one after another that may pass by themselves; then the move ends
    std::uint32_t page_size{1000};       ///< of rows that are read at once, 1 to 1000
    clock* time{&detail::lease_clock()}; ///< by which it waits for leases; outlives the move
};

ENTITABLE_END_NAMESPACE
