// SPDX-License-Identifier: MIT
// Copyright (c) 2026 the entitable authors
#pragma once

/// \file
/// One SQLite connection to a file of tables, with its prepared statements and the mapping of its error codes.

#include <entitable/core/process.hpp>
#include <entitable/core/result.hpp>
#include <entitable/local/file/detail/file_place.hpp>
#include <entitable/local/file/detail/page_guard.hpp>
#include <entitable/local/file/detail/shape_memory.hpp>
#include <entitable/local/file/detail/wait_budget.hpp>

#include <array>
#include <cstdint>
#include <optional>
#include <string_view>
#include <vector>

struct sqlite3;
struct sqlite3_stmt;

ENTITABLE_BEGIN_NAMESPACE
namespace detail {

/// The statements; their texts are constant, and every value is bound.
enum class sql : std::uint8_t {
    begin_read,
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
    scan_rows,
    scan,
    scan_until,
    count_partition,
    count_partition_until,
    count_rows,
    count_rows_until,
    count_between,
    count_between_until,
    count_pays,
    count_pages,
    count_pages_end,
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

/// The result of a step of a statement.
enum class stepped : std::uint8_t { row, done, busy, failed };

/// An open connection, closed by the destructor. Used by one thread at a time. A child made by `fork` never calls SQLite through it: that
/// would change the locks and the log of the parent.
class connection {
public:
    /// Uses SQLite's locks and log, or reads only the file: `quiet_read` ensures that no program writes to the file.
    enum class access : std::uint8_t { write, read_quiet };
    /// Opens a file. Errors: StoreFailed, StoreForeign; StoreBusy on timeout.
    [[nodiscard]] static result<connection> open(
        std::string const& path, file_options const& options, wait_budget& waits, access how = access::write);
    /// Opens a file that was recognised before; returns StoreCorrupt if it is no longer recognised.
    [[nodiscard]] static result<connection> open_known(
        file_place const& place, file_options const& options, wait_budget& waits, access how = access::write);

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

    /// Applies the options that fit the file's journal.
    [[nodiscard]] result<void> set_durability(file_options const& options, wait_budget& waits);

    /// Runs a statement without values or results.
    [[nodiscard]] stepped run(sql text);
    /// Runs a trusted statement text.
    [[nodiscard]] stepped run_text(char const* text);
    /// Returns the first column of the first row of a trusted statement; 0 if there is none.
    [[nodiscard]] result<std::int64_t> number_of(char const* text);
    /// Returns the first column as text.
    [[nodiscard]] result<std::string> text_of(char const* text);

    /// Leaves room for the checksum of each page. Call on an empty file, before anything is written.
    void reserve_page_checksums() noexcept;
    /// Returns the guard of the file's pages.
    [[nodiscard]] page_guard& guard() noexcept { return guard_; }

    [[nodiscard]] bool in_transaction() const noexcept;
    /// Rolls the transaction back.
    void roll_back() noexcept;

    /// Returns the number of a table; nullopt if the table does not exist. The number is cached if it was found before: the caller checks
    /// `statement::table_was_known` after its first step.
    [[nodiscard]] result<std::optional<std::int64_t>> table_id(std::string_view key, wait_budget& waits);

    /// Makes long statements, and reads of pages from the file, look from time to time whether the call has ended; null ends this. A statement
    /// that ends so is `stepped::busy`.
    void watch_call(wait_budget const* of) noexcept;

    /// Returns the number of pages in the file, including those of the transaction; 0 if it cannot be read.
    [[nodiscard]] std::int64_t pages() noexcept;
    /// Returns the known shapes of rows. No shape is ever removed from the file.
    [[nodiscard]] shape_memory& shapes() noexcept { return shapes_; }

    /// Returns the error of the last step. Marks the connection as broken if its pages can no longer be trusted.
    [[nodiscard]] failure problem(std::string_view doing);
    /// Whether a step failed so that the connection must be reopened: an I/O error leaves SQLite, or the operating system, with pages that
    /// may differ from the file's.
    [[nodiscard]] bool broken() const noexcept { return broken_; }

    [[nodiscard]] bool write_ahead_log() const noexcept { return write_ahead_log_; }
    /// Whether the last step failed for lack of space, on the disk or within a limit of the system.
    [[nodiscard]] bool out_of_room() const noexcept;
    /// After a failed commit: whether the log cannot contain the end of the commit.
    [[nodiscard]] bool failed_before_end() const noexcept;
    /// In a write transaction that may have made the file longer by this many pages: ensures that the disk has space for them in the file,
    /// so that the log can always be moved into it, and that `reserve` bytes remain for removals: in the log, or for a rollback journal.
    /// False if there is not enough space.
    [[nodiscard]] bool allocate(std::size_t growth, std::size_t reserve) noexcept;
    /// Grows the log to this many bytes, if it is shorter. Returns false if there is not enough space.
    bool allocate_log(std::size_t bytes) noexcept;
    /// With a log, before a transaction: cuts off a partial page at the end of the file. A process that died while it grew the file leaves
    /// a partial page, and SQLite would count it as a whole page, for which there may be no space. The caller holds the writer lock.
    void cut_part_of_page() noexcept;
    /// With a rollback journal: returns a number in the file that each commit changes.
    [[nodiscard]] std::uint32_t change_counter() noexcept;

    /// Makes each later commit store the number of pages in the write-ahead log here.
    void count_log_pages(std::size_t& pages) noexcept;
    /// Moves the log into the file. With `truncate` the log restarts, or StoreBusy is returned while other connections read it;
    /// otherwise pages that they still read remain. The caller holds the writer lock: see sqlite_store.
    [[nodiscard]] result<void> checkpoint(bool truncate);
    /// Lets SQLite move the log into the file and remove it if this is the last connection. The caller holds the writer lock; without this
    /// call a connection leaves the log unchanged.
    void end_log_at_close() noexcept;
    /// Whether the current process opened the connection; false in a child made by `fork`.
    [[nodiscard]] bool in_own_process() const noexcept { return forks_ == platform::forks(); }

private:
    friend class page_copy;
    friend class statement;
    explicit connection(sqlite3* database) noexcept : database_(database) {}
    [[nodiscard]] sqlite3_stmt* prepared(sql text) noexcept;
    [[nodiscard]] stepped outcome_of(int code) noexcept;
    /// Returns the number of pages in the file before the transaction; 0 if it cannot be read.
    [[nodiscard]] std::int64_t committed_pages() noexcept;
    [[nodiscard]] result<void> configure(file_options const& options, wait_budget& waits);
    void close() noexcept;
    /// Called before a step. Returns whether this process opened the connection; if it did not, marks the connection broken, and the step
    /// must fail.
    [[nodiscard]] bool may_step() noexcept;

    page_guard guard_{}; ///< destroyed after the database is closed
    sqlite3* database_;
    std::array<sqlite3_stmt*, static_cast<std::size_t>(sql::count)> cached_{};
    struct known_table {
        std::string key;
        std::int64_t id;
    };
    std::vector<known_table> tables_{}; ///< the tables used last
    shape_memory shapes_{};
    std::array<int, static_cast<std::size_t>(sql::count)> replans_{};
    std::uint64_t forks_{platform::forks()};
    int code_{};
    int system_code_{};
    bool broken_{};
    bool write_ahead_log_{};
    std::int64_t room_until_{}; ///< with a rollback journal: file size in bytes up to which space is known to exist
};

/// Returns the error of a file that was recognised before and is no longer recognised.
[[nodiscard]] failure damaged_header();

/// One execution of a statement, from its first value to its last row.
class statement {
public:
    statement(connection& on, sql text) noexcept : on_(on), text_(text), statement_(on.prepared(text)) {}
    statement(statement const&) = delete;
    statement& operator=(statement const&) = delete;
    ~statement() { reset(); }

    /// Binds values by their number, from 1. Bytes are not copied: they must outlive the statement.
    statement& bind(int at, std::string_view bytes) noexcept;
    statement& bind(int at, std::int64_t number) noexcept;
    statement& bind_text(int at, std::string_view text) noexcept;
    [[nodiscard]] stepped step() noexcept;
    /// Steps until the end.
    [[nodiscard]] stepped finish() noexcept;
    void reset() noexcept;
    /// Returns whether there is a first row; waits while other connections block the read.
    [[nodiscard]] result<bool> first_row(wait_budget& waits);
    /// Returns whether there is a next row, if there was a first row.
    [[nodiscard]] result<bool> next_row();
    /// After the first step of a statement with a number from `connection::table_id`: false if a table was removed in the meantime, in any
    /// process. The number may then belong to the removed table: look it up again.
    [[nodiscard]] bool table_was_known() const noexcept { return !replanned_; }
    /// Returns the number of rows that the connection's last statement has removed.
    [[nodiscard]] std::int64_t changed_rows() const noexcept;

    /// Returns values of the row, by their number, from 0; valid until the next step.
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
#include <entitable/local/file/impl/connection.ipp>
#include <entitable/local/file/impl/connection_room.ipp>
#endif
