// SPDX-License-Identifier: MIT
// Copyright (c) 2026 the entitable authors
#pragma once

/// \file
/// `sync_report`: what a synchronisation did, and what it did not.

#include <entitable/core/error.hpp>
#include <entitable/work/sync/sync_policy.hpp>

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

ENTITABLE_BEGIN_NAMESPACE

/// A conflict, and how it was decided.
struct settled_conflict {
    sync_conflict sides; ///< the row on both sides, and its base
    sync_choice choice;  ///< the content that was chosen
};

/// A row that was not synchronised. The next synchronisation tries it again.
struct held_row {
    std::string partition_key; ///< PartitionKey of the row
    std::string row_key;       ///< RowKey of the row
    entitable::error error;    ///< the reason: a limit of a store, an error of a policy
};

/// A partition whose synchronisation ended early. The next one continues it.
struct failed_partition {
    std::string partition_key; ///< its key
    entitable::error error;    ///< the reason; with effect unknown, the last changes may have been sent
};

/// The progress of a synchronisation.
struct sync_progress {
    std::uint64_t partitions{}; ///< partitions that have ended, including those that failed
    std::uint64_t total{};      ///< all partitions of the call
    std::uint64_t pulled{};     ///< rows that were changed or removed in the local table
    std::uint64_t pushed{};     ///< rows that were changed or removed in the cloud
    std::uint64_t conflicts{};  ///< conflicts that were decided
    std::uint64_t held{};       ///< rows that were held back, in partitions that have ended
    std::uint64_t failed{};     ///< partitions that ended early
    std::string partition_key;  ///< the partition that was synchronised last
};

/// Called with the progress, on the thread of the synchronisation. May throw, which ends the call as a crash would: the next call continues,
/// and the report is lost.
using sync_progress_callback = std::function<void(sync_progress const&)>;

/// The result of a synchronisation. Every content that lost to another is in `conflicts`.
struct sync_report {
    std::uint64_t partitions{};              ///< partitions that were compared
    std::uint64_t pulled{};                  ///< rows that were changed or removed in the local table
    std::uint64_t pushed{};                  ///< rows that were changed or removed in the cloud
    std::vector<settled_conflict> conflicts; ///< rows that both sides had changed
    std::vector<held_row> held;              ///< rows that were not synchronised
    std::vector<failed_partition> failed;    ///< partitions that were not synchronised to the end
    /// Partitions whose local rows are older than what was sent from them: the file was restored from a backup, or copied.
    std::vector<std::string> restored;
    std::vector<std::string> split; ///< partitions with more changed rows than a transaction holds: others see parts
    std::vector<std::string> torn;  ///< partitions that kept changing while several pages of them were read

    /// Whether every row of every partition was synchronised.
    [[nodiscard]] bool good() const noexcept { return failed.empty() && held.empty(); }
};

ENTITABLE_END_NAMESPACE
