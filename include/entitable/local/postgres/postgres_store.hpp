// SPDX-License-Identifier: MIT
// Copyright (c) 2026 the entitable authors
#pragma once

/// \file
/// `postgres_store`: the ordered_store in a PostgreSQL database, which many processes may use.

#include <entitable/core/atomic.hpp>
#include <entitable/core/random.hpp>
#include <entitable/core/random_seed.hpp>
#include <entitable/core/row/stored_property.hpp>
#include <entitable/local/ordered_store.hpp>
#include <entitable/local/postgres/detail/pg_pool.hpp>

#include <algorithm>
#include <memory>
#include <optional>
#include <span>
#include <vector>

ENTITABLE_BEGIN_NAMESPACE

/// Models ordered_store. A write of one row is one statement; the versions of all rows come from one source in the schema.
///
/// Thread safety: all members may be called from several threads. Many processes may use the tables. Do not use it in a child that was
/// forked after it was opened.
///
/// Durability: an update that has returned is committed according to the server's `synchronous_commit`.
///
/// Consistency: an update holds the lock of its partition and of the rows that it reads, so that updates of a partition are serialized across
/// all processes, and writes of single rows wait for it if they create, remove or change a row that it reads. Each `get` and each `scan`
/// reads one snapshot of the whole database.
///
/// Versions: greater than every earlier version of the same row in any process, also after the row or its table was removed, the clock was set
/// back, or the server was restarted or replaced by a standby that has its commits. A write that begins after another
/// write has returned gets the greater version, even for a different row.
///
/// Cost: a point read and a write of one row are one round trip and one statement (two with a deadline: its timeout); an update is two round
/// trips, however many rows it reads and writes, if `update_rows` named them.
///
/// Waits: for the lock of the partition, for a connection and for the server, until the deadline or the cancellation of the call or for
/// `postgres_options::longest_wait`, whichever ends first, and at most `detail::pg_grace` longer.
///
/// Errors: TransportFailed if the database cannot be reached or the connection breaks, ServerBusy while it starts or accepts no further
/// connection, AuthenticationFailed, AuthorizationFailure, StoreReadOnly, StoreBusy, DeadlineExceeded or Cancelled after a wait, StoreFull,
/// StoreCorrupt, StoreFailed for the rest; the server's message is in `server_message`. The outcome of an update whose commit got no
/// response is checked on another connection: its error has `effect::unknown` if that check fails or is too late, reaches another server,
/// or does not confirm the commit on a required standby. An exception thrown by a body is propagated, and nothing is changed.
class postgres_store {
public:
    using is_ordered_store = void; ///< opts in to `ordered_store`
    class transaction;
    static constexpr server_identity identity{"postgresql", {}, 0}; ///< for observers

    /// An open and checked database, from which a store is made.
    using opened_database = std::unique_ptr<detail::pg_pool>;
    /// Opens a database. Errors: InvalidInput for an invalid connection string or schema; StoreForeign and StoreNewer for tables of another
    /// kind or version; the errors of any call.
    [[nodiscard]] static result<opened_database> open(
        std::string_view connection_string, postgres_options const& options);

    /// Changes tables of format 1 into those of format 2: see `postgres_backend::migrate`.
    [[nodiscard]] static result<void> migrate(std::string_view connection_string, postgres_options const& options);

    /// Makes a view: see `postgres_backend::create_view`.
    [[nodiscard]] result<void> create_view(std::string_view view, std::string_view table,
        std::span<stored_property const> columns, call const& context = {});

    /// Uses a database opened by `open`.
    explicit postgres_store(opened_database database) noexcept : pool_(std::move(database)) {}
    postgres_store(postgres_store const&) = delete;
    postgres_store& operator=(postgres_store const&) = delete;

    /// See `ordered_store`. Its error may have `effect::unknown` if the connection breaks.
    result<bool> create_table(std::string_view key, std::string_view shown_name, call const& context = {});
    /// Frees the name immediately, and then removes the rows in slices. If the removal is interrupted, the next removal of a table
    /// continues it.
    result<bool> drop_table(std::string_view key, call const& context = {});
    /// See `ordered_store`.
    result<void> tables(std::string_view from_key, table_visitor visit, call const& context = {});
    /// See `ordered_store`.
    result<lookup> get(std::string_view table, std::string_view partition, std::string_view row, row_visitor visit,
        call const& context = {});
    /// See `ordered_store`.
    result<lookup> scan(std::string_view table, scan_range const& range, scan_visitor visit, call const& context = {});
    /// Counts the rows of a range on the server.
    result<std::optional<std::uint64_t>> count_rows(
        std::string_view table, count_range const& range, call const& context = {});
    /// See `ordered_store`.
    result<lookup> update(std::string_view table, std::string_view partition, function_ref<bool(transaction&)> body,
        call const& context = {});
    /// Updates a partition; the rows that the body will read are fetched together with the lock of the partition.
    result<lookup> update_rows(std::string_view table, std::string_view partition, rows_ahead rows,
        function_ref<bool(transaction&)> body, call const& context = {});
    /// Changes one row, in one statement. Errors: as for `update`.
    result<row_written> write_row(std::string_view table, std::string_view partition, std::string_view row,
        row_write const& change, call const& context = {});
    /// Returns the clock of its deadlines.
    [[nodiscard]] clock& time() const noexcept { return *pool_->options().local.time; }
    /// Returns the connections, for channels.
    [[nodiscard]] detail::pg_pool& connections() const noexcept { return *pool_; }

private:
    struct question;
    struct lone_write;
    struct counted_keys;
    struct row_scan;

    void set_timeout(detail::pg_connection& on, call const& context) const;
    template <class Work>
    auto reading(call const& context, Work const& work, bool in_lane = false)
        -> decltype(work(std::declval<detail::pg_connection&>()));
    void note_size(std::size_t bytes) noexcept;
    [[nodiscard]] result<lookup> scan_on(
        detail::pg_connection& on, std::string_view table, row_scan& all, scan_visitor visit, call const& context);
    [[nodiscard]] result<lookup> try_update(
        detail::pg_pool::borrowed& on, question& asked, call const& context, bool& again);
    static void read_inserts(question& asked, transaction const& rows);
    [[nodiscard]] result<lookup> settle(
        detail::pg_pool::borrowed& on, transaction const& rows, failure why, call const& context);
    void send(detail::pg_connection& on, lone_write& sent);
    [[nodiscard]] std::optional<result<row_written>> insert_with_others(
        detail::pg_pool::borrowed& on, lone_write& sent, call const& context);
    [[nodiscard]] result<row_written> not_written(
        detail::pg_connection& on, lone_write const& sent, call const& context, bool& again);
    [[nodiscard]] result<row_written> failed_write(
        detail::pg_pool::borrowed& on, lone_write const& sent, failure why, call const& context, bool& again);
    [[nodiscard]] result<row_written> trace(
        detail::pg_pool::borrowed& on, lone_write const& sent, failure why, call const& context);
    enum class write_outcome : std::uint8_t { open, applied, not_applied, unknown };
    [[nodiscard]] write_outcome ask_elsewhere(detail::pg_pool::borrowed& on, call const& context,
        function_ref<write_outcome(detail::pg_pool::borrowed&, detail::pg_wait const&)> ask);
    [[nodiscard]] static write_outcome judge(detail::pg_rows const& traced, lone_write const& sent, bool ended);
    [[nodiscard]] bool confirm(detail::pg_pool::borrowed& on, detail::pg_wait const& until);
    [[nodiscard]] std::int64_t lock_of(std::string_view table, std::string_view partition) const noexcept;
    void note(std::int64_t version, std::int64_t removals) noexcept;
    [[nodiscard]] bool is_stale(detail::pg_pool::borrowed& on, error const& why);
    [[nodiscard]] result<void> commit(detail::pg_pool::borrowed& on, call const& context);
    [[nodiscard]] static failure unreplicated();
    void purge(call const& context);

    std::unique_ptr<detail::pg_pool> pool_;
    atomic<std::size_t> row_bytes_{0}; ///< approximate size of a row; 0 before the first read
    random_source tokens_{random_seed()};
    atomic<std::int64_t> version_seen_{0};   ///< greatest version that a response named
    atomic<std::int64_t> removals_seen_{0};  ///< greatest number of removals that a response named
    atomic<std::uint32_t> rows_expected_{0}; ///< how many of the next inserts may find a row
};

/// The rows of one partition inside an update.
class postgres_store::transaction {
public:
    /// Calls `visit` with the row's bytes; false if the row does not exist. An error ends the update.
    bool get(std::string_view row, row_visitor visit);
    /// Stages new bytes.
    void put(std::string_view row, std::string bytes);
    /// Stages new bytes, if the row does not exist; returns false if it is known to exist. Otherwise the update is begun again if it does.
    bool insert(std::string_view row, std::string& bytes);
    /// Stages a removal; has no effect if the row does not exist.
    void erase(std::string_view row);
    /// Returns the version of the changes that are staged next.
    [[nodiscard]] std::int64_t drawn_version() const noexcept { return drawn_; }

    transaction(transaction const&) = delete;
    transaction& operator=(transaction const&) = delete;

private:
    friend class postgres_store;
    struct change {
        std::string row;
        std::optional<std::string> bytes; ///< none: a removal
        std::int64_t version;
        bool is_new{}; ///< the row does not exist
    };

    transaction(detail::pg_connection& on, question const& asked, detail::pg_rows const& drawn,
        detail::pg_rows const& found, call const& context);
    void stage(std::string_view row, std::optional<std::string> bytes, bool inserted);
    [[nodiscard]] bool was_requested(std::string_view key) noexcept;
    [[nodiscard]] int find(std::string_view key) noexcept;
    [[nodiscard]] bool has_new() const noexcept {
        return std::any_of(changes_.begin(), changes_.end(), [](change const& each) { return each.is_new; });
    }
    void read_now(std::string const& key, row_visitor visit, bool& exists);
    void send();

    detail::pg_connection& on_;
    question const& asked_;
    detail::pg_rows const& found_; ///< the requested rows that exist
    int next_found_{};
    std::size_t next_requested_{};
    call const& context_;
    std::int32_t table_;
    std::int64_t number_; ///< of the server's transaction
    std::int64_t drawn_;
    std::vector<std::string> read_late_; ///< keys that were not requested and were read since
    std::vector<change> changes_;
    result<void> problem_;
};

ENTITABLE_END_NAMESPACE

#if !defined(ENTITABLE_SEPARATE_COMPILATION)
#include <entitable/local/postgres/impl/postgres_commit.ipp>
#include <entitable/local/postgres/impl/postgres_scan.ipp>
#include <entitable/local/postgres/impl/postgres_store.ipp>
#include <entitable/local/postgres/impl/postgres_write.ipp>
#endif
