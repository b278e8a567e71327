// SPDX-License-Identifier: MIT
// Copyright (c) 2026 the entitable authors
#pragma once

/// \file
/// Copies the pages of one connection's file to the empty file of another connection: SQLite's online backup.

#include <entitable/local/file/detail/connection.hpp>

#include <cstdint>
#include <vector>

struct sqlite3_backup;

ENTITABLE_BEGIN_NAMESPACE
namespace detail {

/// Used by one thread at a time; the connections must outlive it.
///
/// Each page is read through the guard of its connection, and gets a new checksum from the other connection's guard. The guard of the
/// source accepts pages that were never written: with a rollback journal SQLite leaves such a page if its contents were removed in the
/// transaction that made it. `finish` checks that each skipped page is free.
class page_copy {
public:
    page_copy(connection& from, connection& to) noexcept : from_(from), to_(to) {}
    page_copy(page_copy const&) = delete;
    page_copy& operator=(page_copy const&) = delete;
    ~page_copy();

    static constexpr std::uint64_t pages_at_once = 128; ///< a megabyte, which takes some milliseconds

    [[nodiscard]] result<void> begin();
    /// Copies `pages_at_once`. Returns `stepped::row` if there are more pages. If the source is not in a transaction and another connection
    /// has changed it since the last step, the copy starts over.
    [[nodiscard]] stepped step() noexcept;
    /// Returns the number of pages copied, after a step.
    [[nodiscard]] std::uint64_t pages() const noexcept;
    [[nodiscard]] std::uint64_t copied() const noexcept;
    /// Returns the number of times the copy started over.
    [[nodiscard]] std::uint64_t restarts() const noexcept { return restarts_; }
    /// Returns the error of a failed step.
    [[nodiscard]] failure problem();
    /// Flushes the pages copied so far to the disk.
    [[nodiscard]] result<void> sync();
    /// Checks the copy after the last step; returns StoreCorrupt if a page in use was never written.
    [[nodiscard]] result<void> finish();

private:
    [[nodiscard]] result<void> read_copied(std::uint64_t page, std::vector<char>& into);

    connection& from_;
    connection& to_;
    sqlite3_backup* backup_{};
    std::uint64_t restarts_{};
    bool in_target_{}; ///< whether the last failure was in the target
    std::vector<std::uint64_t> unwritten_;
};

} // namespace detail
ENTITABLE_END_NAMESPACE

#if !defined(ENTITABLE_SEPARATE_COMPILATION)
#include <entitable/local/file/impl/page_copy.ipp>
#endif
