// SPDX-License-Identifier: MIT
// Copyright (c) 2026 the entitable authors
#pragma once

/// \file
/// What a change log contains, and the position of a reader in the log.

#if !defined(ENTITABLE_IMPORTED)
#include <entitable/core/chrono.hpp>
#include <entitable/core/date_time.hpp>
#include <entitable/core/guid.hpp>

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

ENTITABLE_BEGIN_NAMESPACE

/// How far a reader has read the change log of a partition. May be stored as a text; the same on every store. A new position is before
/// everything: the first read asks for a full read of the partition. A position does not name its partition: in another partition of the
/// table it is not refused, and changes are missed.
struct log_position {
    guid log{}; ///< the log that the numbers belong to; another one if the log was started again
    std::vector<std::int64_t>
        numbers; ///< number of the last change that was read, for each lane; empty for a new position

    /// Returns the position as a text: "1!" and the log, then "!" and a number for each lane; empty for a new position.
    [[nodiscard]] std::string to_string() const;
    /// Reads a position from a text; nullopt if the text is not a position.
    [[nodiscard]] static std::optional<log_position> parse(std::string_view text);

    friend bool operator==(log_position const&, log_position const&) = default;
};

/// A row that a transaction has changed.
struct logged_row {
    std::string row_key; ///< its RowKey: `find(reference<order>{partition_key, row_key})` reads the entity
    bool removed{};      ///< whether the transaction removed it

    friend bool operator==(logged_row const&, logged_row const&) = default;
};

/// A transaction, as the change log contains it.
struct logged_change {
    std::int64_t number{};        ///< its number in the lane, from 1; each number is given once
    std::uint32_t lane{};         ///< the lane, from 0
    guid id{};                    ///< random id of the transaction
    date_time time{};             ///< time of the store
    std::vector<logged_row> rows; ///< the rows of the lane that it has changed, in the order of the request
};

/// The answer to `changes_of`.
struct logged_changes {
    /// Whether the log does not have all changes since the position: it was trimmed or started again, or the position is new. Then
    /// `changes` is empty: read the partition, and continue at `position`, which is from before that read.
    bool needs_full_read{};
    bool more{}; ///< whether the log has more changes than were asked for
    std::vector<logged_change>
        changes;           ///< the changes after the position, in the order of their numbers, lane after lane
    log_position position; ///< the position after these changes
};

/// Options of `changes_of`.
struct changes_options {
    std::uint32_t max_changes{1000}; ///< the most changes of each lane to return, 1 to 1000
};

/// Options of `trim_changes`.
struct trim_options {
    /// Changes that are younger are left, by the clock of the table. A writer whose response was lost looks for its change: if the change is
    /// gone, the effect of the write stays unknown. At least the longest time after which a writer still looks.
    std::chrono::nanoseconds keep{std::chrono::minutes{10}};
};

ENTITABLE_END_NAMESPACE

#if !defined(ENTITABLE_SEPARATE_COMPILATION)
#include <entitable/client/companions/log/impl/logged_changes.ipp>
#endif

#endif
