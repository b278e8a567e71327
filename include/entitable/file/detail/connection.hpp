// SPDX-License-Identifier: MIT
// Copyright (c) 2026 the entitable authors
#pragma once

/// \file
/// One connection of SQLite to a file of tables, with its prepared statements; and what its codes mean.

#include <entitable/core/process.hpp>
#include <entitable/core/result.hpp>
#include <entitable/file/detail/file_place.hpp>
#include <entitable/file/detail/page_guard.hpp>
#include <entitable/file/detail/patience.hpp>
#include <entitable/file/detail/shape_memory.hpp>

#include <array>
#include <cstdint>
#include <optional>
#include <string_view>
#include <vector>

struct sqlite3;
struct sqlite3_stmt;

ENTITABLE_BEGIN_NAMESPACE
namespace detail {

/// The statements there are; their texts are constant, and every value is bound.
enum class sql : std::uint8_t {
    begin_write,
    commit,
    rollback,
    find_table,
    list_tables,
    table_name,
    add_table,
    forget_table,
    forgotten_table,
    purge_slice,
    purge_table,
    purged_table,
    get,
    scan_partition,
    scan,
    scan_until,
    put,
    insert,
    erase,
    find_shape,
    shape,
    add_shape,
    version_bound,
    set_version_bound,
    raise_version_bound,
    page_count,
    all_rows,
    count,
};

/// How a step of a statement ended.
enum class stepped : std::uint8_t { row, done, busy, failed };

/// An open connection. One thread at a time; closes itself. A child made by `fork` asks SQLite nothing through it: whatever it did
/// would be done to the locks and the log of the parent.
class connection {
public:
    /// Reads SQLite's locks and its log, or takes the file for what it is: `quiet_read` shows that nobody writes it.
    enum class access : std::uint8_t { write, read_quiet };
    /// StoreFailed, StoreForeign; StoreBusy when that takes too long.
    [[nodiscard]] static result<connection> open(
        std::string const& path, file_options const& options, patience& waits, access how = access::write);
    /// The same for a file that was recognised before: StoreCorrupt when it no longer is.
    [[nodiscard]] static result<connection> open_known(
        file_place const& place, file_options const& options, patience& waits, access how = access::write);

    connection(connection&& other) noexcept
        : guard_(std::move(other.guard_)),
          database_(std::exchange(other.database_, nullptr)),
          cached_(std::exchange(other.cached_, {})),
          tables_(std::move(other.tables_)),
          shapes_(std::move(other.shapes_)),
          replans_(other.replans_),
          forks_(other.forks_),
          code_(other.code_),
          system_code_(other.system_code_),
          broken_(other.broken_),
          write_ahead_log_(other.write_ahead_log_),
          room_until_(other.room_until_) {}
    connection& operator=(connection&& other) noexcept {
        std::swap(guard_, other.guard_);
        std::swap(database_, other.database_);
        std::swap(cached_, other.cached_);
        std::swap(tables_, other.tables_);
        std::swap(shapes_, other.shapes_);
        std::swap(replans_, other.replans_);
        std::swap(forks_, other.forks_);
        std::swap(code_, other.code_);
        std::swap(system_code_, other.system_code_);
        std::swap(broken_, other.broken_);
        std::swap(write_ahead_log_, other.write_ahead_log_);
        std::swap(room_until_, other.room_until_);
        return *this;
    }
    ~connection() { close(); }

    /// As the options want it with the journal that the file has.
    [[nodiscard]] result<void> set_durability(file_options const& options, patience& waits);

    /// Runs a statement without values and results.
    [[nodiscard]] stepped run(sql text);
    /// The same for a trusted statement text.
    [[nodiscard]] stepped run_text(char const* text);
    /// The first column of the first row of a trusted statement; 0 when there is none.
    [[nodiscard]] result<std::int64_t> number_of(char const* text);
    /// The same for text.
    [[nodiscard]] result<std::string> text_of(char const* text);

    /// In an empty file, before it is written: leaves room for the checksum of each page.
    void reserve_page_checksums() noexcept;
    /// Of the pages of the file.
    [[nodiscard]] page_guard& guard() noexcept { return guard_; }

    [[nodiscard]] bool in_transaction() const noexcept;
    /// Gives a transaction up.
    void roll_back() noexcept;

    /// The number of a table, none when there is no such table. From memory, if it was found before: the caller checks
    /// `statement::table_was_known` after its first step.
    [[nodiscard]] result<std::optional<std::int64_t>> table_id(std::string_view key, patience& waits);

    /// The shapes of rows that it has met. None is ever removed from the file.
    [[nodiscard]] shape_memory& shapes() noexcept { return shapes_; }

    /// Why the last step failed. Broken is then what can no longer be trusted.
    [[nodiscard]] failure problem(std::string_view doing);
    /// Whether a step failed in a way after which the connection is to be opened anew: an I/O error leaves SQLite, or the
    /// system below, with pages that may differ from the file's.
    [[nodiscard]] bool broken() const noexcept { return broken_; }

    [[nodiscard]] bool write_ahead_log() const noexcept { return write_ahead_log_; }
    /// Whether the last step failed because there is no room, on the disk or within a limit of the system.
    [[nodiscard]] bool out_of_room() const noexcept;
    /// Behind a commit that failed: whether what ends a commit cannot be in the log.
    [[nodiscard]] bool failed_before_end() const noexcept;
    /// In a transaction that wrote, and may have made the file longer by that many pages: makes sure that the file has room for them on the
    /// disk, so that the log can always be moved into it, and that `reserve` bytes are left for removals: in the log, or for a
    /// rollback journal. False when there is no room for that.
    [[nodiscard]] bool allocate(std::size_t growth, std::size_t reserve) noexcept;
    /// Lets the log have room for that many bytes, if it is shorter. False when there is none.
    bool allocate_log(std::size_t bytes) noexcept;
    /// With a log, before a transaction: cuts off what is no whole page at the end of the file. It is left where a process ended while it
    /// made the file longer, and SQLite would count it as a page, for which there may be no room. The caller holds the writer lock.
    void cut_part_of_page() noexcept;
    /// With a rollback journal: a number in the file that each commit changes.
    [[nodiscard]] std::uint32_t change_counter() noexcept;

    /// From now on each commit leaves here how many pages the write-ahead log has.
    void count_log_pages(std::size_t& pages) noexcept;
    /// Moves the log into the file. With `truncate` the log begins anew, StoreBusy while others read it; else it leaves what they
    /// still read. The caller holds the writer lock: see sqlite_store.
    [[nodiscard]] result<void> checkpoint(bool truncate);
    /// Lets SQLite move the log into the file and remove it when this is the last connection. The caller holds the writer
    /// lock; without this a connection leaves the log as it is.
    void end_log_at_close() noexcept;
    /// Whether this is the process that opened it, and no child.
    [[nodiscard]] bool in_own_process() const noexcept { return forks_ == platform::forks(); }

private:
    friend class page_copy;
    friend class statement;
    explicit connection(sqlite3* database) noexcept : database_(database) {}
    [[nodiscard]] sqlite3_stmt* prepared(sql text) noexcept;
    [[nodiscard]] stepped outcome_of(int code) noexcept;
    /// So many pages the file has, those of the transaction included; and those of the transactions before it. 0 when that cannot
    /// be read.
    [[nodiscard]] std::int64_t pages() noexcept;
    [[nodiscard]] std::int64_t committed_pages() noexcept;
    [[nodiscard]] result<void> configure(file_options const& options, patience& waits);
    void close() noexcept;
    /// Whether this is the process that opened it, before a step; where it is not, the step has failed.
    [[nodiscard]] bool may_step() noexcept;

    page_guard guard_{}; ///< ends after the database
    sqlite3* database_;
    std::array<sqlite3_stmt*, static_cast<std::size_t>(sql::count)> cached_{};
    struct known_table {
        std::string key;
        std::int64_t id;
    };
    std::vector<known_table> tables_{}; ///< the last ones used
    shape_memory shapes_{};
    std::array<int, static_cast<std::size_t>(sql::count)> replans_{};
    std::uint64_t forks_{platform::forks()};
    int code_{};
    int system_code_{};
    bool broken_{};
    bool write_ahead_log_{};
    std::int64_t
        room_until_{}; ///< with a rollback journal: the file may have that many bytes before it is asked for room again
};

/// The error of a file that was recognised before and no longer is.
[[nodiscard]] failure damaged_header();

/// A statement from its first value to its last row.
class statement {
public:
    statement(connection& on, sql text) noexcept : on_(on), text_(text), statement_(on.prepared(text)) {}
    statement(statement const&) = delete;
    statement& operator=(statement const&) = delete;
    ~statement() { reset(); }

    /// Values by their number, from 1. Bytes are not copied: they outlive the statement.
    statement& bind(int at, std::string_view bytes) noexcept;
    statement& bind(int at, std::int64_t number) noexcept;
    statement& bind_text(int at, std::string_view text) noexcept;
    [[nodiscard]] stepped step() noexcept;
    /// Steps until the end.
    [[nodiscard]] stepped finish() noexcept;
    void reset() noexcept;
    /// The first row, or none; waits where others are in the way.
    [[nodiscard]] result<bool> first_row(patience& waits);
    /// The next row, where the first one was there.
    [[nodiscard]] result<bool> next_row();
    /// Behind the first step of a statement with a number from `connection::table_id`: false when a table was removed meanwhile,
    /// in any process. The number may be that of the removed table then: ask for it again.
    [[nodiscard]] bool table_was_known() const noexcept { return !replanned_; }
    /// How many rows the last statement of the connection has removed.
    [[nodiscard]] std::int64_t changed_rows() const noexcept;

    /// Values of the row, by their number, from 0; valid until the next step.
    [[nodiscard]] std::string_view bytes(int at) const noexcept;
    [[nodiscard]] std::int64_t number(int at) const noexcept;
    [[nodiscard]] bool is_null(int at) const noexcept;

private:
    void look_for_replanning() noexcept;

    connection& on_;
    sql text_;
    bool replanned_{};
    sqlite3_stmt* statement_;
};

} // namespace detail
ENTITABLE_END_NAMESPACE

#if !defined(ENTITABLE_SEPARATE_COMPILATION)
#include <entitable/file/impl/connection.ipp>
#include <entitable/file/impl/connection_room.ipp>
#endif
