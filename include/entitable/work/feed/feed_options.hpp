// SPDX-License-Identifier: MIT
// Copyright (c) 2026 the entitable authors
#pragma once

/// \file
/// Options of a feed, and the state of its groups.

#include <entitable/client/companions/log/logged_changes.hpp>
#include <entitable/client/contention.hpp>
#include <entitable/core/backoff.hpp>
#include <entitable/core/clock.hpp>
#include <entitable/core/request/call.hpp>

ENTITABLE_BEGIN_NAMESPACE

/// Delays between the looks of a feed that finds nothing: 1 s, then up to 10 s.
inline constexpr backoff feed_polling{.base = std::chrono::seconds{1},
    .least = {},
    .most = std::chrono::seconds{10},
    .jitter = 0.1,
    .jitter_at_cap = true};

/// Options of a feed.
struct feed_options {
    /// How long a worker holds a lane without a sign of life, 2 s to 7 days. A worker that ends leaves its lanes to others after this time.
    std::chrono::milliseconds lease{std::chrono::seconds{30}};
    std::size_t max_lanes{
        64}; ///< the most lanes that this worker holds, from 1: leaves the other lanes to other workers
    std::uint32_t max_partitions{49}; ///< the most partitions of a batch, 1 to 49
    std::uint32_t max_changes{1000};  ///< the most changes of a partition (and lane of its log) in a batch, 1 to 1000
    /// Whether the group takes partitions as a whole: when it joins, and where the log was trimmed. If not, the group begins with the changes
    /// after `create`, and a trimmed log is the error LogTrimmed.
    bool full_reads{true};
    /// How long an announced change may be missing, by the clock of this program, before its number is voided. The writer has ended, or
    /// begins again with another number.
    std::chrono::nanoseconds void_after{std::chrono::seconds{30}};
    /// The changes of a partition are trimmed when as many have been processed by all groups since the last time; 0 never trims.
    std::uint32_t trim_after{32};
    /// See `trim_options::keep`.
    std::chrono::nanoseconds keep{std::chrono::minutes{10}};
    backoff polling{feed_polling};      ///< delays between the looks of a `next` that waits
    std::uint32_t max_attempts{20};     ///< attempts to claim a lane, including the first; from 1
    backoff delays{contention_backoff}; ///< delays between these attempts
    call_options calls{};               ///< options of each request; an operation id is refused
    clock* time{&system_clock()};       ///< clock for delays. Leases end by the clock of the store
    std::uint64_t seed{};               ///< seed of ids and delays; 0 for a fresh seed
};

/// How far a group has processed the changes of a table.
struct group_status {
    std::string name; ///< name of the group
    bool joined{};    ///< whether `create` has announced all partitions to it
    /// All changes that were acknowledged before this time, by the clock of the store, are processed.
    date_time processed_until;
    std::uint64_t partitions_behind{}; ///< partitions with announced changes that it has not processed
};

/// How far the groups of a feed have processed the changes.
struct feed_status {
    date_time time;                   ///< time of the store at the beginning of the call
    std::vector<group_status> groups; ///< in order of their names
    std::uint64_t announcements{};    ///< number of announcements
};

/// Changes of a partition.
struct partition_changes {
    std::string partition_key; ///< PartitionKey of the changed rows
    /// Whether the partition must be read as a whole: the group has joined, or the log does not reach back to its position. Then `changes`
    /// is empty, and `position` is from before that read. A copy replaces all that it has of the partition: nothing names the rows that were
    /// removed in the meantime.
    bool needs_full_read{};
    std::vector<logged_change> changes; ///< in the order of their numbers, lane of the log after lane
    log_position position;              ///< the position after the changes
};

ENTITABLE_END_NAMESPACE
