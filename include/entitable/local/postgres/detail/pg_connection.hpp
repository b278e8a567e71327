// SPDX-License-Identifier: MIT
// Copyright (c) 2026 the entitable authors
#pragma once

/// \file
/// One connection to PostgreSQL: prepared statements that are sent together and answered together.

#include <entitable/core/function_ref.hpp>
#include <entitable/core/process.hpp>
#include <entitable/core/result.hpp>
#include <entitable/local/postgres/detail/pg_target.hpp>
#include <entitable/local/postgres/postgres_options.hpp>

#include <array>
#include <chrono>
#include <cstdint>
#include <initializer_list>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

// Types of libpq, whose header only the bodies include.
struct pg_conn;
struct pg_result;

ENTITABLE_BEGIN_NAMESPACE
namespace detail {

class pg_lane;
struct pg_lane_call;
struct pg_call_group;

/// The statements of the store; their texts are in pg_statements.ipp.
enum class pg_statement : std::uint8_t {
    settings,
    begin,
    begin_read,
    commit,
    rollback,
    set_timeout,
    insert,
    insert_on_time,
    upsert,
    upsert_on_time,
    replace,
    replace_on_time,
    remove,
    look,
    lock_partition,
    read_rows,
    read_row,
    draw,
    get,
    put,
    put_many,
    put_new,
    erase,
    erase_many,
    outcome,
    end_session,
    has_session,
    trace,
    confirm,
    find_table,
    scan_partition,
    scan_partition_until,
    scan_from,
    scan_until,
    count_partition,
    count_rows,
    count_range,
    count_table,
    count_plan,
    list_tables,
    add_table,
    hold_table,
    lock_table,
    forget_table,
    remove_table,
    forgotten,
    purge_rows,
    purged,
    insert_many,
    get_many,
    count,
};

/// The statements with the schema's name inserted, and the names that they are prepared under.
class pg_statements {
public:
    /// `format`: of the tables in the database; in format 1 only the statements that read are valid.
    explicit pg_statements(std::string const& schema, std::int64_t format = 2);
    [[nodiscard]] std::string const& text(pg_statement which) const noexcept {
        return texts_[static_cast<std::size_t>(which)];
    }
    [[nodiscard]] std::string const& name(pg_statement which) const noexcept {
        return names_[static_cast<std::size_t>(which)];
    }

private:
    std::array<std::string, static_cast<std::size_t>(pg_statement::count)> texts_;
    std::array<std::string, static_cast<std::size_t>(pg_statement::count)> names_;
};

/// The statements for each format of the tables.
struct pg_statement_sets {
    explicit pg_statement_sets(std::string const& schema) : current(schema), earlier(schema, 1) {}
    pg_statements current;
    pg_statements earlier;
};

/// Bytes for a parameter of a statement. The parameters must live until the statements are sent.
using pg_value = std::string_view;
/// A number for a parameter, most significant byte first.
class pg_number {
public:
    explicit pg_number(std::int32_t number) noexcept : size_(4) { fill(static_cast<std::uint32_t>(number)); }
    explicit pg_number(std::int64_t number) noexcept : size_(8) { fill(static_cast<std::uint64_t>(number)); }
    operator pg_value() const noexcept { return {bytes_, size_}; }

private:
    void fill(std::uint64_t number) noexcept {
        for (std::size_t at = size_; at-- > 0; number >>= 8U) { bytes_[at] = static_cast<char>(number & 0xFFU); }
    }
    char bytes_[8];
    std::size_t size_;
};
/// An array for a parameter, of bytea unless the number of another type is given.
class pg_array {
public:
    static constexpr std::uint32_t of_numbers = 20; ///< int8
    explicit pg_array(std::uint32_t type = 17) noexcept : type_(type) {}
    void add(std::string_view one);
    [[nodiscard]] std::string const& finish();

private:
    std::string bytes_{std::string(20, '\0')};
    std::uint32_t type_;
    std::uint32_t count_{};
};

/// The rows of a response. Views live as long as the response.
class pg_rows {
public:
    pg_rows() = default;
    explicit pg_rows(pg_result* answer) noexcept : answer_(answer) {}
    [[nodiscard]] pg_result* get() const noexcept { return answer_.get(); }
    [[nodiscard]] int size() const noexcept;
    [[nodiscard]] bool is_null(int row, int column) const noexcept;
    [[nodiscard]] std::string_view bytes(int row, int column) const noexcept;
    [[nodiscard]] std::int64_t number(int row, int column) const noexcept;
    [[nodiscard]] bool flag(int row, int column) const noexcept { return bytes(row, column) == std::string_view{"\1"}; }
    /// Returns a stored row, whose Timestamp is the version in another column. In format 1 that column is null, and the row complete.
    [[nodiscard]] std::string_view stamped(int row, int column, int version) const noexcept;
    /// Returns the server's tag for the executed command.
    [[nodiscard]] std::string_view command() const noexcept;

private:
    struct clear {
        void operator()(pg_result* answer) const noexcept;
    };
    std::unique_ptr<pg_result, clear> answer_;
};

/// A connection, or a place in a lane, which sends statements of several calls over one connection. Thread safety: one thread at a time.
class pg_connection {
public:
    /// A place in a lane over `real`.
    pg_connection(std::unique_ptr<pg_lane_call> call, pg_connection const& real);
    pg_connection(pg_connection&&) noexcept;
    pg_connection& operator=(pg_connection&&) = delete;
    ~pg_connection();

    /// Opens a connection to the first host that meets the connection string; creates the library's tables if they are missing and
    /// `may_create` is set, and compares their version. The arguments must outlive it. Sets `no_room` if it failed because the server or
    /// this process has reached a connection limit.
    [[nodiscard]] static result<pg_connection> open(pg_target const& target, pg_statement_sets const& statements,
        postgres_options const& options, bool may_create, pg_wait const& until, bool& no_room);

    /// Queues a statement; it is sent together with the statements after it, at the latest by `run`.
    void send(pg_statement statement, std::initializer_list<pg_value> values = {});
    /// Returns the results of all queued statements, in order. If a statement fails, returns its error; later statements were not run.
    /// After a failure the connection is in no transaction, or broken. Ends with the call, or `pg_grace` after it; the server is asked to
    /// stop.
    [[nodiscard]] result<std::vector<pg_rows>> run(call const& context) { return run(longest(context)); }
    [[nodiscard]] result<std::vector<pg_rows>> run(pg_wait until);
    /// Rolls back an open transaction, before the call ends or within `pg_grace`; the connection is broken if that fails.
    void roll_back(call const& context) noexcept { roll_back(longest(context)); }
    void roll_back(pg_wait const& until) noexcept;

    /// A child made by `fork` shares the socket with its parent, and must not use it.
    [[nodiscard]] bool in_own_process() const noexcept { return on_.get_deleter().forks == platform::forks(); }
    /// The server did not respond; the statements sent may have been executed.
    [[nodiscard]] bool broken() const noexcept { return broken_; }
    /// Not reusable: broken, or a cancel request is in flight, which could hit a later statement.
    [[nodiscard]] bool spent() const noexcept { return broken_ || cancelled_; }
    /// Returns the server's SQLSTATE for the last failure, five characters; empty if there is none.
    [[nodiscard]] std::string_view state() const noexcept { return state_; }
    /// Whether the last failure is a key that exists in the table of entities.
    [[nodiscard]] bool key_exists() const noexcept { return state_ == "23505" && constraint_ == "entities_pkey"; }
    /// The server warned that a commit is not on the standby.
    [[nodiscard]] bool unreplicated() const noexcept;
    /// Whether this is a place in a lane.
    [[nodiscard]] bool in_lane() const noexcept { return lane_ != nullptr; }
    /// The call ended before the response of its lane: what it sent may still be executed.
    [[nodiscard]] bool abandoned() const noexcept { return abandoned_; }
    /// Inserts a row together with inserts of other calls in the lane. Returns false if nothing was done, and the call has to insert alone.
    [[nodiscard]] bool insert_in_group(pg_value table, pg_value partition, pg_value row, pg_value bytes,
        std::int64_t partition_lock, std::int64_t row_lock, call const& context, result<std::int64_t>& version);
    /// Reads a row together with reads of other calls in the lane. Returns the rows, and the number of the row; nothing if the call has to read
    /// alone.
    struct grouped_row {
        std::shared_ptr<pg_call_group> in;
        int at{};
        [[nodiscard]] pg_rows const& rows() const noexcept;
    };
    [[nodiscard]] std::optional<result<grouped_row>> get_in_group(
        pg_value table, pg_value partition, pg_value row, call const& context);
    /// The server skipped what the call sent, because the statement of another call failed: send it again.
    [[nodiscard]] bool skipped() const noexcept;
    /// Whether both connections share the same history of the same server; false if that is unknown, and behind a pooler, which may use a
    /// different server each time.
    [[nodiscard]] bool same_history(std::string const& other) const noexcept {
        return !history_.empty() && history_ == other;
    }
    [[nodiscard]] std::string const& history() const noexcept { return history_; }
    /// Returns the number of the server's process; meaningless behind a pooler.
    [[nodiscard]] std::int32_t session() const noexcept;
    /// Whether the server closed the connection while it was idle; it is broken then, and nothing was sent. Looks only if the connection
    /// was idle for more than a moment.
    [[nodiscard]] bool hung_up();
    /// Returns the time of the clock that gives Timestamps, in ticks.
    [[nodiscard]] std::int64_t now() const noexcept { return options_->local.time->now().ticks; }
    /// Refuses to write to tables of format 1.
    [[nodiscard]] result<void> may_write() const;
    /// Changes tables of format 1 into those of format 2, on a connection that was just opened.
    [[nodiscard]] result<void> migrate(pg_wait const& until);
    /// Passes `work` a function that executes an SQL text and returns the results that have rows; between calls, not in a lane.
    using run_text_function = function_ref<result<std::vector<pg_rows>>(std::string const&)>;
    [[nodiscard]] result<void> with_texts(pg_wait const& until, function_ref<result<void>(run_text_function)> work);

private:
    struct finish {
        finish() noexcept : forks(platform::forks()) {}
        std::uint64_t forks;
        void operator()(pg_conn* on) const noexcept;
    };
    friend class pg_lane;
    pg_connection(pg_conn* on, pg_statement_sets const& statements, postgres_options const& options);
    enum class waited : std::uint8_t { ready, gave_up, lost };
    [[nodiscard]] waited wait(pg_wait const& until);
    [[nodiscard]] pg_wait longest(call const& context) const noexcept;
    void send_now(pg_statement statement, std::initializer_list<pg_value> values, std::uint8_t meaning = asked_for);
    [[nodiscard]] static result<pg_connection> open_host(pg_target const& target, pg_host const& host,
        pg_session session, pg_statement_sets const& statements, postgres_options const& options, pg_wait const& until,
        std::string& state);
    [[nodiscard]] static result<pg_connection> open_address(pg_target const& target, pg_host const& host,
        std::string const& address, bool with_options, pg_statement_sets const& statements,
        postgres_options const& options, pg_wait const& until, std::string& state_of);
    [[nodiscard]] result<void> check_session(pg_session wanted, pg_wait const& until);
    [[nodiscard]] result<void> run_text(
        std::string const& text, pg_wait const& until, std::vector<pg_rows>* answers = nullptr);
    [[nodiscard]] result<void> prepare(bool may_create, pg_wait const& until);
    [[nodiscard]] failure problem(pg_result const* answer, call const& context);
    [[nodiscard]] failure lost();
    [[nodiscard]] failure left_group(bool lost, call const& context);
    void send_in_lane(pg_statement statement, std::initializer_list<pg_value> values);
    [[nodiscard]] result<std::vector<pg_rows>> run_in_lane(pg_wait const& until);

    std::unique_ptr<pg_conn, finish> on_;
    pg_statement_sets const* sets_;
    pg_statements const* statements_;
    postgres_options const* options_;
    /// What a queued message is: a statement, a statement whose result is ignored, or the preparation of a statement.
    static constexpr std::uint8_t asked_for = 0xFF;
    static constexpr std::uint8_t unasked = 0xFE;
    std::unique_ptr<pg_lane_call> lane_; ///< null for a connection
    std::vector<std::uint8_t> queued_;   ///< one of the values above, or the number of the statement that is prepared
    std::uint64_t prepared_{};           ///< a bit for each statement that this session has prepared
    std::uint64_t preparing_{};          ///< a bit for each statement whose preparation was sent
    bool named_{};                       ///< statements are prepared, each before its first use
    bool own_settings_{true}; ///< the session started with our settings; otherwise each transaction sends them
    std::chrono::steady_clock::time_point last_answer_{};
    bool broken_{};
    bool abandoned_{};
    bool rolls_back_{}; ///< a rollback is under way
    bool cancelled_{};
    std::int32_t session_{}; ///< number of the server's process
    std::string state_;
    std::string constraint_; ///< name of the violated constraint, if any
    std::string history_;
    std::unique_ptr<bool> unreplicated_; ///< null in a lane
};

} // namespace detail
ENTITABLE_END_NAMESPACE

#if !defined(ENTITABLE_SEPARATE_COMPILATION)
#include <entitable/local/postgres/impl/pg_connection.ipp>
#include <entitable/local/postgres/impl/pg_open.ipp>
#include <entitable/local/postgres/impl/pg_schema.ipp>
#include <entitable/local/postgres/impl/pg_statements.ipp>
#endif
