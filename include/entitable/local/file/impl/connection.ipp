// SPDX-License-Identifier: MIT
// Copyright (c) 2026 the entitable authors
#pragma once

#include <entitable/core/detail/characters.hpp>
#include <entitable/core/text.hpp>
#include <entitable/core/try.hpp>
#include <entitable/local/file/detail/connection.hpp>

#include <sqlite3.h>

#if !defined(_WIN32)
#include <pthread.h>
#endif

#include <cerrno>
#include <iterator>
#include <memory>

ENTITABLE_BEGIN_NAMESPACE
namespace detail {

// The partitions end with a NULL; their limit ends them before it. The counts: all rows of the file, those of other tables, those that are left out.
#define ENTITABLE_COUNT_PAGES                                                                         \
    "WITH RECURSIVE part(k) AS (SELECT (SELECT partition_key FROM entitable_row WHERE table_id = ?1 " \
    "ORDER BY partition_key LIMIT 1) UNION ALL "                                                      \
    "SELECT (SELECT partition_key FROM entitable_row WHERE table_id = ?1 AND partition_key > part.k " \
    "ORDER BY partition_key LIMIT 1) FROM part WHERE part.k IS NOT NULL LIMIT ?4) "                   \
    "SELECT CASE WHEN count(*) > count(k) THEN (SELECT count(*) FROM entitable_row) END, "            \
    "(SELECT count(*) FROM (SELECT 1 FROM entitable_row WHERE table_id < ?1 LIMIT ?2)) + "            \
    "(SELECT count(*) FROM (SELECT 1 FROM entitable_row WHERE table_id > ?1 LIMIT ?2)), "             \
    "sum((SELECT count(*) FROM entitable_row WHERE table_id = ?1 AND partition_key = k AND "

ENTITABLE_DECL char const* text_for(sql text) noexcept {
    switch (text) {
        case sql::begin_read: return "BEGIN";
        case sql::begin_write: return "BEGIN IMMEDIATE";
        case sql::commit: return "COMMIT";
        case sql::rollback: return "ROLLBACK";
        case sql::find_table: return "SELECT id FROM entitable_table WHERE key = ?1";
        case sql::list_tables: return "SELECT key, name FROM entitable_table WHERE key >= ?1 ORDER BY key";
        case sql::table_name: return "SELECT name FROM entitable_table WHERE id = ?1";
        case sql::add_table: return "INSERT INTO entitable_table (key, name) VALUES (?1, ?2)";
        case sql::forget_table: return "UPDATE entitable_table SET key = NULL WHERE key = ?1";
        case sql::forgotten_table: return "SELECT id FROM entitable_table WHERE key IS NULL LIMIT 1";
        case sql::purge_slice:
            return "DELETE FROM entitable_row WHERE table_id = ?1 AND (partition_key, row_key) < ("
                   "SELECT partition_key, row_key FROM entitable_row WHERE table_id = ?1 "
                   "ORDER BY partition_key, row_key LIMIT 1 OFFSET ?2)";
        case sql::purge_table: return "DELETE FROM entitable_row WHERE table_id = ?1";
        case sql::purged_table: return "DELETE FROM entitable_table WHERE id = ?1 AND key IS NULL";
        case sql::get:
            return "SELECT value FROM entitable_row "
                   "WHERE table_id = ?1 AND partition_key = ?2 AND row_key = ?3";
        case sql::scan_partition:
            return "SELECT row_key, value FROM entitable_row "
                   "WHERE table_id = ?1 AND partition_key = ?2 AND row_key >= ?3 ORDER BY row_key";
        case sql::scan_rows:
            return "SELECT row_key, value FROM entitable_row "
                   "WHERE table_id = ?1 AND partition_key = ?2 AND row_key >= ?3 AND row_key <= ?4 ORDER BY row_key";
        // A comparison with a row key would be repeated at each row.
        case sql::scan:
            return "SELECT row_key, value, partition_key FROM entitable_row "
                   "WHERE table_id = ?1 AND partition_key >= ?2 ORDER BY partition_key, row_key";
        case sql::scan_until:
            return "SELECT row_key, value, partition_key FROM entitable_row "
                   "WHERE table_id = ?1 AND partition_key >= ?2 AND partition_key <= ?3 "
                   "ORDER BY partition_key, row_key";
        // System rows lie between two ranges of a partition. Among several partitions each row is compared with both ends.
        case sql::count_partition:
            return "SELECT (SELECT count(*) FROM entitable_row WHERE table_id = ?1 AND partition_key = ?2 AND row_key "
                   ">= ?3 "
                   "AND row_key < ?4) + (SELECT count(*) FROM entitable_row WHERE table_id = ?1 AND partition_key = ?2 "
                   "AND row_key >= ?5)";
        case sql::count_partition_until:
            return "SELECT (SELECT count(*) FROM entitable_row WHERE table_id = ?1 AND partition_key = ?2 AND row_key "
                   ">= ?3 "
                   "AND row_key < ?4) + (SELECT count(*) FROM entitable_row WHERE table_id = ?1 AND partition_key = ?2 "
                   "AND row_key >= ?5 AND row_key < ?6)";
        case sql::count_rows:
            return "SELECT count(*) FROM entitable_row WHERE table_id = ?1 AND partition_key >= ?2 "
                   "AND (row_key < ?3 OR row_key >= ?4)";
        case sql::count_rows_until:
            return "SELECT count(*) FROM entitable_row WHERE table_id = ?1 AND partition_key >= ?2 "
                   "AND (row_key < ?3 OR row_key >= ?4) AND partition_key < ?5";
        case sql::count_between:
            return "SELECT count(*) FROM entitable_row WHERE table_id = ?1 AND partition_key >= ?2 "
                   "AND row_key >= ?3 AND row_key < ?4";
        case sql::count_between_until:
            return "SELECT count(*) FROM entitable_row WHERE table_id = ?1 AND partition_key >= ?2 "
                   "AND row_key >= ?3 AND row_key < ?4 AND partition_key < ?5";
        // Rows of other tables, up to a limit; no value if the table has few rows.
        case sql::count_pays:
            return "SELECT CASE WHEN EXISTS (SELECT 1 FROM entitable_row WHERE table_id = ?1 LIMIT 1 OFFSET ?2) THEN "
                   "(SELECT count(*) FROM (SELECT 1 FROM entitable_row WHERE table_id < ?1 LIMIT ?3)) + "
                   "(SELECT count(*) FROM (SELECT 1 FROM entitable_row WHERE table_id > ?1 LIMIT ?3)) END";
        // Without WHERE, SQLite adds up the numbers of rows that its pages contain.
        case sql::count_pages: return ENTITABLE_COUNT_PAGES "row_key >= ?3 AND row_key < ?5)) FROM part";
        case sql::count_pages_end: return ENTITABLE_COUNT_PAGES "row_key >= ?3)) FROM part";
        case sql::put:
            return "REPLACE INTO entitable_row (table_id, partition_key, row_key, value) VALUES (?1, ?2, ?3, ?4)";
        case sql::insert:
            return "INSERT OR IGNORE INTO entitable_row (table_id, partition_key, row_key, value) VALUES (?1, ?2, ?3, "
                   "?4)";
        case sql::erase: return "DELETE FROM entitable_row WHERE table_id = ?1 AND partition_key = ?2 AND row_key = ?3";
        case sql::find_shape: return "SELECT id FROM entitable_shape WHERE shape = ?1";
        case sql::shape: return "SELECT shape FROM entitable_shape WHERE id = ?1";
        case sql::add_shape: // enforces the limit
            return "INSERT INTO entitable_shape (shape) SELECT ?1 "
                   "WHERE (SELECT coalesce(max(id), 0) FROM entitable_shape) < 4096";
        case sql::version_bound: return "SELECT value FROM entitable_state WHERE name = 'version_bound'";
        case sql::set_version_bound: return "UPDATE entitable_state SET value = ?1 WHERE name = 'version_bound'";
        case sql::raise_version_bound:
            return "UPDATE entitable_state SET value = value + 1 WHERE name = 'version_bound'";
        case sql::page_count: return "PRAGMA page_count";
        case sql::all_rows:
            return "SELECT table_id, partition_key, row_key, value FROM entitable_row "
                   "ORDER BY table_id, partition_key, row_key";
        case sql::count: break;
    }
    return "";
}
#undef ENTITABLE_COUNT_PAGES

// ---- opening ----------------------------------------------------------------------------------------

/// Makes SQLite usable in a child made by `fork`: the child owns the mutexes that SQLite has for all files, so it can open files. Without
/// this, a mutex may be locked by a thread that does not exist in the child. SQLite still assumes that the parent's files are open.
ENTITABLE_DECL void hold_sqlite_over_forks() {
#if !defined(_WIN32)
    // Locks in SQLite's own order: a temporary name is made under VFS1 and asks for random numbers, whose first use looks up the VFS under MASTER.
    static constexpr int all[] = {SQLITE_MUTEX_STATIC_OPEN, SQLITE_MUTEX_STATIC_VFS1, SQLITE_MUTEX_STATIC_VFS2,
        SQLITE_MUTEX_STATIC_VFS3, SQLITE_MUTEX_STATIC_PRNG, SQLITE_MUTEX_STATIC_MASTER, SQLITE_MUTEX_STATIC_LRU,
        SQLITE_MUTEX_STATIC_PMEM, SQLITE_MUTEX_STATIC_MEM};
    static auto const enter = [] {
        for (int const each : all) { sqlite3_mutex_enter(sqlite3_mutex_alloc(each)); }
    };
    static auto const leave = [] {
        for (std::size_t left = std::size(all); left > 0; --left) {
            sqlite3_mutex_leave(sqlite3_mutex_alloc(all[left - 1]));
        }
    };
    static bool const held = sqlite3_initialize() == SQLITE_OK && ::pthread_atfork(enter, leave, leave) == 0;
    static_cast<void>(held);
#endif
}

/// Prevents SQLite from looking for a log, taking a lock or creating a file. Only valid while no program writes.
ENTITABLE_DECL std::string immutable_uri(std::string_view path) {
    constexpr std::string_view digits = "0123456789ABCDEF";
    std::string uri = "file:";
    for (char const each : path) {
        auto const byte = static_cast<unsigned char>(each);
        bool const plain =
            is_letter(each) || is_decimal(each) || each == '/' || each == '-' || each == '_' || each == '.';
        if (plain) {
            uri += each;
        } else {
            uri += '%';
            uri += digits[byte >> 4U];
            uri += digits[byte & 0xFU];
        }
    }
    return uri + "?immutable=1";
}

ENTITABLE_DECL result<connection> connection::open(
    std::string const& path, file_options const& options, wait_budget& waits, access how) {
    hold_sqlite_over_forks();
    sqlite3* database = nullptr;
    bool const quiet = how == access::read_quiet;
    std::string const name = quiet ? immutable_uri(path) : path;
    int flags = (quiet ? SQLITE_OPEN_READONLY | SQLITE_OPEN_URI : SQLITE_OPEN_READWRITE) | SQLITE_OPEN_NOMUTEX |
        SQLITE_OPEN_PRIVATECACHE;
#if defined(SQLITE_OPEN_NOFOLLOW)
    flags |= SQLITE_OPEN_NOFOLLOW; // refuses a link created after the path was resolved
#endif
    int const code =
        sqlite3_open_v2(name.c_str(), &database, flags, options.vfs.empty() ? nullptr : options.vfs.c_str());
    connection opened{database};
    if (code != SQLITE_OK) {
        opened.code_ = database != nullptr ? sqlite3_extended_errcode(database) : code;
        failure failed = opened.problem("cannot open the file");
        failed.error().detail = text::joined({"the file \"", text::printable(text::shortened(path, 200)), "\""});
        return failed;
    }
    opened.guard_ = page_guard{database};
    if (int const looked = opened.guard_.look(); looked != SQLITE_OK) {
        static_cast<void>(opened.outcome_of(looked));
        return opened.problem("cannot open the file");
    }
    ENTITABLE_CHECK(opened.configure(options, waits));
    return opened;
}

ENTITABLE_DECL result<connection> connection::open_known(
    file_place const& place, file_options const& options, wait_budget& waits, access how) {
    auto opened = open(place.path(), options, waits, how);
    bool const ours = opened ? opened->guard_.on() : opened.error().code != error_code::store_foreign;
    return ours ? std::move(opened) : damaged_header();
}

ENTITABLE_DECL failure damaged_header() {
    return failure{error_code::store_corrupt, "the file is damaged: its header is not a header of this format"};
}

/// Applies the settings of every connection. None of them depends on the content of the file.
ENTITABLE_DECL result<void> connection::configure(file_options const& options, wait_budget& waits) {
    sqlite3_extended_result_codes(database_, 1);
    struct setting {
        int name;
        int value;
    };
    // A file can come from anywhere: nothing in it is executed, and its pages are checked as they are read.
    for (setting const each : {setting{SQLITE_DBCONFIG_DEFENSIVE, 1}, setting{SQLITE_DBCONFIG_TRUSTED_SCHEMA, 0},
             setting{SQLITE_DBCONFIG_ENABLE_TRIGGER, 0}, setting{SQLITE_DBCONFIG_ENABLE_VIEW, 0},
             setting{SQLITE_DBCONFIG_ENABLE_LOAD_EXTENSION, 0}, setting{SQLITE_DBCONFIG_DQS_DML, 0},
             setting{SQLITE_DBCONFIG_DQS_DDL, 0}, setting{SQLITE_DBCONFIG_NO_CKPT_ON_CLOSE, 1}}) {
        sqlite3_db_config(database_, each.name, each.value, static_cast<int*>(nullptr));
    }
    sqlite3_limit(database_, SQLITE_LIMIT_ATTACHED, 0);
    sqlite3_wal_autocheckpoint(database_, 0);
    // A removal that also had to overwrite each page that it frees would run out of space on a full disk.
    std::string settings =
        "PRAGMA cell_size_check = ON; PRAGMA mmap_size = 0; PRAGMA temp_store = MEMORY;"
        "PRAGMA secure_delete = FAST; PRAGMA fullfsync = ON; PRAGMA checkpoint_fullfsync = ON; PRAGMA cache_size = -";
    text::append_decimal(settings, options.cache_bytes / 1024 + 1);
    settings += "; PRAGMA journal_size_limit = ";
    text::append_decimal(settings, options.checkpoint_bytes * 2);
    for (;;) {
        switch (run_text(settings.c_str())) {
            case stepped::busy:
                if (!waits.wait()) { return waits.given_up(); }
                break;
            case stepped::failed: return problem("cannot open the file");
            default: return set_durability(options, waits);
        }
    }
}

ENTITABLE_DECL result<void> connection::set_durability(file_options const& options, wait_budget& waits) {
    for (;;) {
        auto const journal = text_of("PRAGMA journal_mode");
        if (journal) {
            // EXTRA is like FULL, and also flushes the removal of a rollback journal. With a journal, a weaker setting could damage the
            // file.
            write_ahead_log_ = *journal == "wal";
            bool const relaxed = options.durability == durability::relaxed && write_ahead_log_;
            return run_text(relaxed ? "PRAGMA synchronous = NORMAL" : "PRAGMA synchronous = EXTRA") == stepped::done
                ? result<void>{}
                : problem("cannot open the file");
        }
        if (journal.error().code != error_code::store_busy) { return failure{journal.error()}; }
        if (!waits.wait()) { return waits.given_up(); }
    }
}

ENTITABLE_DECL void connection::reserve_page_checksums() noexcept {
    int bytes = static_cast<int>(file_format::page_checksum_bytes);
    sqlite3_file_control(database_, nullptr, SQLITE_FCNTL_RESERVE_BYTES, &bytes);
}

ENTITABLE_DECL void connection::close() noexcept {
    if (!in_own_process()) { return; }
    for (sqlite3_stmt*& each : cached_) { sqlite3_finalize(std::exchange(each, nullptr)); }
    sqlite3_close_v2(std::exchange(database_, nullptr));
}

ENTITABLE_DECL void connection::end_log_at_close() noexcept {
    sqlite3_db_config(database_, SQLITE_DBCONFIG_NO_CKPT_ON_CLOSE, 0, static_cast<int*>(nullptr));
}

ENTITABLE_DECL void connection::count_log_pages(std::size_t& pages) noexcept {
    auto const note = [](void* count, sqlite3*, char const*, int now) {
        *static_cast<std::size_t*>(count) = static_cast<std::size_t>(now);
        return SQLITE_OK;
    };
    sqlite3_wal_hook(database_, note, &pages);
}

ENTITABLE_DECL void connection::watch_call(wait_budget const* of) noexcept {
    constexpr int steps = 20'000; // of SQLite's machine: less than a millisecond
    auto const over = [](void* call) { return static_cast<wait_budget const*>(call)->call_over() ? 1 : 0; };
    sqlite3_progress_handler(
        database_, of == nullptr ? 0 : steps, of == nullptr ? nullptr : +over, const_cast<wait_budget*>(of));
    guard_.watch_call(of);
}

ENTITABLE_DECL bool connection::may_step() noexcept {
    bool const own = in_own_process();
    if (!own) {
        code_ = SQLITE_MISUSE;
        broken_ = true;
    }
    return own;
}

// ---- error codes ------------------------------------------------------------------------------------

/// Returns the system's error number of the last error in a file of the database: SQLite stores one for each.
ENTITABLE_DECL int last_system_code(sqlite3* database) noexcept {
    int code = 0;
    for (int const which : {SQLITE_FCNTL_JOURNAL_POINTER, SQLITE_FCNTL_FILE_POINTER}) {
        sqlite3_file* file = nullptr;
        if (code == 0 && sqlite3_file_control(database, nullptr, which, &file) == SQLITE_OK && file != nullptr &&
            file->pMethods != nullptr && file->pMethods->xFileControl != nullptr) { // a journal in memory has no file
            file->pMethods->xFileControl(file, SQLITE_FCNTL_LAST_ERRNO, &code);
        }
    }
    return code;
}

ENTITABLE_DECL stepped connection::outcome_of(int code) noexcept {
    switch (code & 0xFF) {
        case SQLITE_OK:
        case SQLITE_DONE: return stepped::done;
        case SQLITE_ROW: return stepped::row;
        case SQLITE_BUSY:
        case SQLITE_LOCKED:
        case SQLITE_PROTOCOL:
        case SQLITE_INTERRUPT: code_ = code; return stepped::busy; // interrupted by `watch_call`
        default: break;
    }
    code_ = code;
    system_code_ = (code & 0xFF) == SQLITE_IOERR ? last_system_code(database_) : 0;
    broken_ = true;
    return stepped::failed;
}

ENTITABLE_DECL failure connection::problem(std::string_view doing) {
    if (!in_own_process()) { return opened_before_fork(); }
    struct meaning {
        error_code code;
        std::string_view text;
    };
    meaning const found = [&]() -> meaning {
        switch (code_ & 0xFF) {
            case SQLITE_BUSY:
            case SQLITE_LOCKED:
            case SQLITE_PROTOCOL: return {error_code::store_busy, "other connections hold the file"};
            case SQLITE_FULL: return {error_code::store_full, "out of disk space for the file"};
            case SQLITE_CORRUPT: return {error_code::store_corrupt, "the file is damaged"};
            case SQLITE_NOTADB: return {error_code::store_foreign, "the file is not a database"};
            case SQLITE_READONLY: return {error_code::store_read_only, "cannot write the file"};
            case SQLITE_NOMEM: return {error_code::store_failed, "out of memory"};
            case SQLITE_IOERR:
                if (code_ == SQLITE_IOERR_DATA) {
                    return {error_code::store_corrupt, "a page of the file is damaged: its checksum differs"};
                }
                if (out_of_room()) {
                    return {error_code::store_full, "out of disk space for the file, or its size limit is reached"};
                }
                return {error_code::store_failed, "I/O error"};
            default: return {error_code::store_failed, "SQLite error"};
        }
    }();
    failure failed{found.code, text::joined({doing, ": ", found.text})};
    failed.error().server_message = text::joined(
        {"SQLite ", std::to_string(code_), ", system ", std::to_string(system_code_), ": ", sqlite3_errstr(code_)});
    if (code_ == SQLITE_IOERR_DATA) {
        failed.error().detail = text::joined({"page ", std::to_string(guard_.refused())});
    }
    return failed;
}

// ---- running ----------------------------------------------------------------------------------------

ENTITABLE_DECL sqlite3_stmt* connection::prepared(sql text) noexcept {
    sqlite3_stmt*& cached = cached_[static_cast<std::size_t>(text)];
    if (cached == nullptr && may_step()) {
        int const code = sqlite3_prepare_v3(database_, text_for(text), -1, SQLITE_PREPARE_PERSISTENT, &cached, nullptr);
        if (code != SQLITE_OK) { static_cast<void>(outcome_of(code)); }
    }
    return cached;
}

ENTITABLE_DECL stepped connection::run(sql text) { return statement{*this, text}.finish(); }

ENTITABLE_DECL stepped connection::run_text(char const* text) {
    return may_step() ? outcome_of(sqlite3_exec(database_, text, nullptr, nullptr, nullptr)) : stepped::failed;
}

ENTITABLE_DECL result<std::string> connection::text_of(char const* text) {
    if (!may_step()) { return opened_before_fork(); }
    sqlite3_stmt* made = nullptr;
    std::string found;
    int code = sqlite3_prepare_v2(database_, text, -1, &made, nullptr);
    // A leaked statement, if there is no memory for its text, would keep the connection open forever.
    std::unique_ptr<sqlite3_stmt, int (*)(sqlite3_stmt*)> statement{made, sqlite3_finalize};
    if (code == SQLITE_OK) {
        code = sqlite3_step(made);
        if (code == SQLITE_ROW) {
            auto const* const bytes = static_cast<char const*>(sqlite3_column_blob(made, 0));
            found.assign(bytes == nullptr ? "" : bytes, static_cast<std::size_t>(sqlite3_column_bytes(made, 0)));
        }
    }
    statement.reset();
    switch (outcome_of(code)) {
        case stepped::busy:
        case stepped::failed: return problem("cannot read the file");
        default: return found;
    }
}

ENTITABLE_DECL result<std::int64_t> connection::number_of(char const* text) {
    ENTITABLE_TRY(auto found, text_of(text));
    std::int64_t number = 0;
    for (char const digit : found) { number = digit >= '0' && digit <= '9' ? number * 10 + (digit - '0') : number; }
    return !found.empty() && found.front() == '-' ? -number : number;
}

ENTITABLE_DECL result<std::optional<std::int64_t>> connection::table_id(std::string_view key, wait_budget& waits) {
    for (known_table const& each : tables_) {
        if (each.key == key) { return std::optional{each.id}; }
    }
    statement find{*this, sql::find_table};
    ENTITABLE_TRY(auto const found, find.bind(1, key).first_row(waits));
    if (!found) { return std::optional<std::int64_t>{}; }
    constexpr std::size_t most_tables = 16;
    if (tables_.size() == most_tables) { tables_.erase(tables_.begin()); }
    tables_.push_back({std::string{key}, find.number(0)});
    return std::optional{tables_.back().id};
}

ENTITABLE_DECL bool connection::in_transaction() const noexcept { return sqlite3_get_autocommit(database_) == 0; }

ENTITABLE_DECL void connection::roll_back() noexcept {
    shapes_.forget();
    if (in_transaction() && run(sql::rollback) != stepped::done) { broken_ = true; }
}

ENTITABLE_DECL result<void> connection::checkpoint(bool truncate) {
    if (!may_step()) { return opened_before_fork(); }
    int const mode = truncate ? SQLITE_CHECKPOINT_TRUNCATE : SQLITE_CHECKPOINT_PASSIVE;
    int const code = sqlite3_wal_checkpoint_v2(database_, nullptr, mode, nullptr, nullptr);
    return outcome_of(code) == stepped::done ? result<void>{} : problem("cannot move the log into the file");
}

ENTITABLE_DECL statement& statement::bind(int at, std::string_view bytes) noexcept {
    // A null pointer would bind NULL instead of the empty value.
    if (statement_ != nullptr) {
        sqlite3_bind_blob64(statement_, at, bytes.data() == nullptr ? "" : bytes.data(), bytes.size(), SQLITE_STATIC);
    }
    return *this;
}

ENTITABLE_DECL statement& statement::bind(int at, std::int64_t number) noexcept {
    if (statement_ != nullptr) { sqlite3_bind_int64(statement_, at, number); }
    return *this;
}

ENTITABLE_DECL statement& statement::bind_text(int at, std::string_view text) noexcept {
    if (statement_ != nullptr) {
        sqlite3_bind_text(statement_, at, text.data(), static_cast<int>(text.size()), SQLITE_STATIC);
    }
    return *this;
}

/// Each statement of a connection detects a change of the schema once; the first statement to detect it resets all of them.
ENTITABLE_DECL void statement::look_for_replanning() noexcept {
    if (statement_ == nullptr) { return; }
    int const now = sqlite3_stmt_status(statement_, SQLITE_STMTSTATUS_REPREPARE, 0);
    replanned_ = now != std::exchange(on_.replans_[static_cast<std::size_t>(text_)], now);
    if (replanned_) { on_.tables_.clear(); }
}

ENTITABLE_DECL result<bool> statement::first_row(wait_budget& waits) {
    for (;;) {
        stepped const now = step();
        look_for_replanning();
        switch (now) {
            case stepped::row: return true;
            case stepped::done: return false;
            case stepped::failed: return on_.problem("cannot read the file");
            case stepped::busy:
                reset();
                if (!waits.wait()) { return waits.given_up(); }
                break;
        }
    }
}

ENTITABLE_DECL result<bool> statement::next_row() {
    switch (step()) {
        case stepped::row: return true;
        case stepped::done: return false;
        default: return on_.problem("cannot read the file");
    }
}

ENTITABLE_DECL std::int64_t statement::changed_rows() const noexcept { return sqlite3_changes(on_.database_); }

ENTITABLE_DECL stepped statement::step() noexcept {
    if (statement_ == nullptr || !on_.may_step()) { return stepped::failed; }
    int const code = sqlite3_step(statement_);
    return code == SQLITE_ROW ? stepped::row : on_.outcome_of(code);
}

ENTITABLE_DECL stepped statement::finish() noexcept {
    for (;;) {
        stepped const now = step();
        if (now != stepped::row) { return now; }
    }
}

ENTITABLE_DECL void statement::reset() noexcept {
    if (on_.in_own_process()) { sqlite3_reset(statement_); }
}

/// Reads through the value: fetching a column is slower than fetching its bytes. No other thread uses the connection at the same time.
ENTITABLE_DECL std::string_view statement::bytes(int at) const noexcept {
    sqlite3_value* const value = sqlite3_column_value(statement_, at);
    void const* const found = sqlite3_value_blob(value);
    auto const size = static_cast<std::size_t>(sqlite3_value_bytes(value));
    return found == nullptr ? std::string_view{} : std::string_view{static_cast<char const*>(found), size};
}

ENTITABLE_DECL std::int64_t statement::number(int at) const noexcept { return sqlite3_column_int64(statement_, at); }

ENTITABLE_DECL bool statement::is_null(int at) const noexcept {
    return sqlite3_column_type(statement_, at) == SQLITE_NULL;
}

} // namespace detail
ENTITABLE_END_NAMESPACE
