// SPDX-License-Identifier: MIT
// Copyright (c) 2026 the entitable authors
#pragma once

/// \file
/// The pages of one connection's file, written into the empty file of another connection: SQLite's online backup.

#include <entitable/file/detail/connection.hpp>

#include <cstdint>
#include <vector>

struct sqlite3_backup;

ENTITABLE_BEGIN_NAMESPACE
namespace detail {

/// One thread at a time; the connections outlive it.
///
/// Each page is read through the guard of its connection, and gets its checksum anew from the guard of the other one. The guard of the
/// source passes a page that was never written: with a rollback journal SQLite leaves one so whose contents went in the transaction
/// that made it. `finish` looks whether each of them is free.
class page_copy {
public:
    page_copy(connection& from, connection& to) noexcept : from_(from), to_(to) {}
    page_copy(page_copy const&) = delete;
    page_copy& operator=(page_copy const&) = delete;
    ~page_copy();

    static constexpr std::uint64_t pages_at_once = 128; ///< a megabyte: some milliseconds

    [[nodiscard]] result<void> begin();
    /// Copies `pages_at_once`. Row: there are more. Where the source is in no transaction and was changed by another connection since
    /// the last step, it begins anew.
    [[nodiscard]] stepped step() noexcept;
    /// After a step.
    [[nodiscard]] std::uint64_t pages() const noexcept;
    [[nodiscard]] std::uint64_t copied() const noexcept;
    /// How often it began again.
    [[nodiscard]] std::uint64_t restarts() const noexcept { return restarts_; }
    /// Why a step failed.
    [[nodiscard]] failure problem();
    /// Puts what was copied so far onto the disk.
    [[nodiscard]] result<void> sync();
    /// After the last step: StoreCorrupt when a page that is in use was never written.
    [[nodiscard]] result<void> finish();

private:
    [[nodiscard]] result<void> read_copied(std::uint64_t page, std::vector<char>& into);

    connection& from_;
    connection& to_;
    sqlite3_backup* backup_{};
    std::uint64_t restarts_{};
    bool in_target_{}; ///< what failed last
    std::vector<std::uint64_t> unwritten_;
};

} // namespace detail
ENTITABLE_END_NAMESPACE

#if !defined(ENTITABLE_SEPARATE_COMPILATION)
#include <entitable/file/impl/page_copy.ipp>
#endif
