// SPDX-License-Identifier: MIT
// Copyright (c) 2026 the entitable authors
#pragma once

/// \file
/// The announcements of a change log: rows of a table of their own, version 1. A lane of the feed is a partition of that table.

#if !defined(ENTITABLE_IMPORTED)
#include <entitable/client/companions/log/detail/log_rows.hpp>

#include <chrono>

ENTITABLE_BEGIN_NAMESPACE
namespace detail {

/// How many numbers a program announces at once that writes a partition often.
inline constexpr std::int64_t block_of_announcements = 32;
/// How long ago its last write of the partition may be.
inline constexpr std::chrono::nanoseconds block_lifetime{std::chrono::seconds{5}};

/// Returns the name of the table of the announcements of a table.
[[nodiscard]] std::string feed_table_name(std::string_view table);
/// Returns the lane of a partition.
[[nodiscard]] std::size_t feed_lane_of(std::string_view partition_key, std::size_t lanes) noexcept;
/// Returns the partition key of a lane.
[[nodiscard]] std::string feed_lane_key(std::size_t lane);
/// Returns the text of a partition key in a row key: escaped, or its digest if it is long.
[[nodiscard]] std::string feed_partition_text(std::string_view partition_key);
/// Returns what the row keys of announcements, or of other rows of a lane, begin with: `a`, `g`, `l`, `p`.
[[nodiscard]] std::string feed_prefix(char kind);

/// Returns the announcement of a number.
[[nodiscard]] row announcement_row(
    std::string_view partition_key, std::size_t feed_lanes, std::uint32_t log_lane, std::int64_t number);

/// An announcement as it was read.
struct announcement {
    std::string row_key;
    std::string partition_key;
    std::uint32_t log_lane{};
    std::int64_t number{};
    date_time time{}; ///< of the store
};
/// Reads an announcement. Errors: RowMismatch.
[[nodiscard]] result<announcement> read_announcement(row_view stored);

} // namespace detail
ENTITABLE_END_NAMESPACE

#if !defined(ENTITABLE_SEPARATE_COMPILATION)
#include <entitable/client/companions/log/impl/feed_rows.ipp>
#endif

#endif
