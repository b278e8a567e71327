// SPDX-License-Identifier: MIT
// Copyright (c) 2026 the entitable authors
#pragma once

/// \file
/// `sqlite_store`: the ordered_store in one file, which several processes may have open.

#include <entitable/core/function_ref.hpp>
#include <entitable/core/request/call.hpp>
#include <entitable/local/file/detail/reader_pool.hpp>
#include <entitable/local/file/detail/row_run.hpp>
#include <entitable/local/file/detail/writer.hpp>
#include <entitable/local/file/file_report.hpp>
#include <entitable/local/ordered_store.hpp>

#include <cstdint>
#include <optional>
#include <vector>

ENTITABLE_BEGIN_NAMESPACE

/// Models ordered_store, and remembers the latest version.
///
/// Thread safety: all members may be called from several threads. Several processes may have the file open.
///
/// Durability: an update that has returned is on the disk (`durability::full`). Updates of several threads share a commit.
///
/// Consistency: each `get` and each `scan` reads one snapshot of the whole file.
///
/// Cost: a point read is one search of a tree; a durable update is one flush of the disk, which updates of other threads share.
///
/// Waits: for other stores that hold the file, until the deadline or the cancellation of the call or for `busy_timeout`, whichever ends
/// first; for other calls of this store until the deadline or the cancellation.
///
/// Errors: StoreBusy, DeadlineExceeded or Cancelled after such a wait, with nothing changed; StoreFull, StoreCorrupt; StoreFailed for
/// everything else. If a commit fails, the file is reopened at once to determine its outcome; an update's error has `effect::unknown` only
/// if reopening fails too. An exception thrown by a body is propagated, and nothing is changed.
///
/// Full disk: a write that grows the file returns StoreFull with `effect::none` if less than `file_options::reserve_bytes` would remain.
/// Removals, `drop_table` and `checkpoint` still work, and the space they free can be used again immediately; removals of many large rows
/// in one transaction may return StoreFull too. While the write-ahead log is being read, its space cannot be freed.
///
/// Fork: do not use the store in a child made by `fork`, which gets StoreFailed, and do not destroy it there while files are open.
///
/// Damage: each page of the file and each row has a checksum. A call that reads a damaged page or row returns StoreCorrupt, so no row is
/// missing from a result because of damage to the file. Not detected: a page that reverted as a whole to an earlier state, which `verify`
/// finds in most cases, and damage to the log while it is open.
///
/// Permissions: a file that is not writable, or is in a folder that is not writable, is opened read-only under two conditions: no log or
/// journal has changes that are not in the file, and a `-lock` file can be read or does not exist. Otherwise StoreReadOnly names the
/// folder. Writes then return StoreReadOnly; each read blocks writers of other processes while it lasts, or returns StoreBusy.
///
/// No other program may write to the file, not even the sqlite3 shell: it would not take the lock that keeps commits and checkpoints apart,
/// and its pages would have no checksums. Reading is safe with a connection that cannot write (`sqlite3 -readonly`): any other
/// connection moves the log of a crashed process into the file when it closes, and those pages have no checksums either.
class sqlite_store {
public:
    using is_ordered_store = void; ///< opts in to `ordered_store`
    class transaction;
    static constexpr server_identity identity{"sqlite", {}, 0}; ///< used by observers

    /// An open and checked file, from which a store is made.
    struct opened_file {
        detail::file_place place; ///< its path
        detail::file_lock lock;   ///< the lock between processes, held shared
        detail::connection first; ///< open and checked
        bool unpurged{};          ///< there are rows of removed tables
        bool read_only{};         ///< the file or its folder cannot be written
    };
    /// Opens a file. Errors: InvalidInput for a path that is empty, has a NUL, or ends in `-lock`, `-wal`, `-shm`, `-journal` or
    /// `-copying`; StoreForeign, StoreNewer, StoreCorrupt, StoreBusy, StoreFull, StoreReadOnly, StoreFailed.
    [[nodiscard]] static result<opened_file> open(std::string_view path, file_options const& options);

    /// Uses a file opened by `open`.
    sqlite_store(opened_file file, file_options options);
    sqlite_store(sqlite_store const&) = delete;
    sqlite_store& operator=(sqlite_store const&) = delete;

    /// See `ordered_store`.
    result<bool> create_table(std::string_view key, std::string_view shown_name, call const& context = {});
    /// Frees the name immediately, and then removes the rows in slices, between which other stores can write. If the removal is
    /// interrupted, for example by the deadline of the call, it continues when the next table is dropped, when the file is next opened (for
    /// at most 0.2 s), and when a write finds no space.
    result<bool> drop_table(std::string_view key, call const& context = {});
    /// See `ordered_store`.
    result<void> tables(std::string_view from_key, table_visitor visit, call const& context = {});
    /// See `ordered_store`.
    result<lookup> get(std::string_view table, std::string_view partition, std::string_view row, row_visitor visit,
        call const& context = {});
    /// See `ordered_store`.
    result<lookup> scan(std::string_view table, scan_range const& range, scan_visitor visit, call const& context = {});
    /// See `ordered_store`.
    result<lookup> scan_runs(
        std::string_view table, scan_range const& range, run_visitor visit, call const& context = {});
    /// See `ordered_store`. SQLite counts: it reads the pages with the keys and checks their checksums, and reads neither values nor checksums
    /// of rows. A whole table with few partitions that has the file almost to itself is counted by the numbers of rows in its pages. Ranges that
    /// begin at a row key in each of several partitions, and have no end, are not counted.
    result<std::optional<std::uint64_t>> count_rows(
        std::string_view table, count_range const& range, call const& context = {});
    /// See `ordered_store`.
    result<lookup> update(std::string_view table, std::string_view partition, function_ref<bool(transaction&)> body,
        call const& context = {});

    /// Checks the whole file: the structure, and each row with its checksum. A deadline or a cancellation ends it between two rows,
    /// not while SQLite checks the structure.
    [[nodiscard]] result<file_report>(verify)(call const& context = {});
    /// Moves the write-ahead log into the file, so that the file alone contains everything that was committed.
    [[nodiscard]] result<void> checkpoint(call const& context = {}) { return writer_->checkpoint(context); }
    /// Writes a copy of the whole file, as of one point in time, to an unused path: see `file_backend::copy_to`.
    [[nodiscard]] result<file_copy_progress> copy_to(
        std::string_view path, file_copy_progress_callback watch, file_copy_options const& options = {});
    /// Returns the clock of its deadlines.
    [[nodiscard]] clock& time() const noexcept { return *options_.local.time; }

private:
    [[nodiscard]] static result<opened_file> open_to_write(
        detail::file_place const& place, file_options const& options);
    bool purge(call const& context);

    file_options const options_;
    detail::own_object<detail::writer> writer_; ///< its connection is closed last, so that SQLite tidies up
    detail::own_object<detail::reader_pool> readers_;
};

/// The rows of one partition inside an update.
class sqlite_store::transaction {
public:
    /// Calls `visit` with the row's bytes; false if the row does not exist. An error ends the update.
    bool get(std::string_view row, row_visitor visit);
    /// Writes new bytes if the row does not exist; otherwise returns false and changes only `bytes`. Unlike `put` it writes immediately:
    /// rolling back the update undoes it.
    bool insert(std::string_view row, std::string& bytes);
    /// Stages new bytes.
    void put(std::string_view row, std::string bytes);
    /// Stages a removal; has no effect if the row does not exist.
    void erase(std::string_view row);
    /// Returns the highest version ever stored in the file.
    [[nodiscard]] std::int64_t& last_version() noexcept { return last_version_; }

    transaction(transaction const&) = delete;
    transaction& operator=(transaction const&) = delete;

private:
    friend class sqlite_store;
    struct change {
        std::string row;
        std::optional<std::string> bytes; ///< no value for a removal
    };

    transaction(detail::connection& on, std::int64_t table, std::string_view partition, std::int64_t last_version)
        : on_(on),
          table_(table),
          partition_(partition),
          partition_hash_(detail::partition_checksum(table, partition)),
          last_version_(last_version) {}
    [[nodiscard]] result<void> apply();
    [[nodiscard]] bool take_back();
    [[nodiscard]] bool write(detail::statement& with, std::string_view row, std::string* bytes);

    detail::connection& on_;
    std::int64_t table_;
    std::string_view partition_;
    std::uint64_t partition_hash_;
    std::int64_t last_version_;
    std::vector<std::string> inserted_; ///< rows inserted so far
    std::vector<change> changes_;
    std::size_t growth_{}; ///< pages that the staged bytes may take
    result<void> problem_;
};

ENTITABLE_END_NAMESPACE

#if !defined(ENTITABLE_SEPARATE_COMPILATION)
#include <entitable/local/file/impl/file_copy.ipp>
#include <entitable/local/file/impl/sqlite_store.ipp>
#include <entitable/local/file/impl/verify.ipp>
#endif
