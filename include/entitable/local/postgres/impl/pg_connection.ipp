// SPDX-License-Identifier: MIT
// Copyright (c) 2026 the entitable authors
#pragma once

#include <entitable/core/row/format.hpp>
#include <entitable/core/text.hpp>
#include <entitable/core/try.hpp>
#include <entitable/local/postgres/detail/pg_connection.hpp>
#include <entitable/local/postgres/detail/pg_fiber.hpp>
#include <entitable/local/postgres/detail/pg_schema.hpp>
#include <entitable/local/postgres/impl/pg_library.ipp>

#include <algorithm>
#include <atomic>
#include <thread>

ENTITABLE_BEGIN_NAMESPACE
namespace detail {

// ---- values -----------------------------------------------------------------------------------------

inline void put_pg_number(char* to, std::uint32_t number) noexcept {
    pg_number const big_endian{static_cast<std::int32_t>(number)}; // the value is a view of it
    pg_value const bytes = big_endian;
    std::memcpy(to, bytes.data(), bytes.size());
}

ENTITABLE_DECL void pg_array::add(std::string_view one) {
    char size[4];
    put_pg_number(size, static_cast<std::uint32_t>(one.size()));
    bytes_.append(size, sizeof size);
    bytes_ += one;
    ++count_;
}

/// Writes the head: dimensions, a flag for nulls, the type, the size, the number of the first.
ENTITABLE_DECL std::string const& pg_array::finish() {
    put_pg_number(bytes_.data(), count_ == 0 ? 0U : 1U);
    put_pg_number(bytes_.data() + 4, 0U);
    put_pg_number(bytes_.data() + 8, type_);
    put_pg_number(bytes_.data() + 12, count_);
    put_pg_number(bytes_.data() + 16, 1U);
    if (count_ == 0) { bytes_.resize(12); }
    return bytes_;
}

ENTITABLE_DECL void pg_rows::clear::operator()(pg_result* answer) const noexcept { PQclear(answer); }
ENTITABLE_DECL int pg_rows::size() const noexcept { return PQntuples(answer_.get()); }
ENTITABLE_DECL bool pg_rows::is_null(int row, int column) const noexcept {
    return PQgetisnull(answer_.get(), row, column) != 0;
}
ENTITABLE_DECL std::string_view pg_rows::bytes(int row, int column) const noexcept {
    return {PQgetvalue(answer_.get(), row, column), static_cast<std::size_t>(PQgetlength(answer_.get(), row, column))};
}
ENTITABLE_DECL std::int64_t pg_rows::number(int row, int column) const noexcept {
    std::string_view const read = bytes(row, column);
    std::uint64_t number =
        read.size() == 4 && (static_cast<unsigned char>(read[0]) & 0x80U) != 0 ? ~std::uint64_t{0} : 0;
    for (char const each : read) { number = number << 8U | static_cast<unsigned char>(each); }
    return static_cast<std::int64_t>(number);
}
ENTITABLE_DECL std::string_view pg_rows::stamped(int row, int column, int version) const noexcept {
    std::string_view const stored = bytes(row, column);
    if (stored.size() >= row_format::header_size && !is_null(row, version)) {
        // The memory belongs to this object, and nothing else reads it.
        row_format::store(PQgetvalue(answer_.get(), row, column) + row_format::timestamp_offset, number(row, version));
    }
    return stored;
}
ENTITABLE_DECL std::string_view pg_rows::command() const noexcept { return PQcmdStatus(answer_.get()); }

// ---- errors -----------------------------------------------------------------------------------------

/// The first two characters name a class of conditions (source: PostgreSQL, "Error Codes").
ENTITABLE_DECL error_code pg_error_code(std::string_view state) noexcept {
    auto const is = [&](std::string_view start) { return state.substr(0, start.size()) == start; };
    if (is("08") || is("57P01") || is("57P02") || is("57P05")) { return error_code::transport_failed; }
    if (is("25006")) { return error_code::store_read_only; }
    if (is("26000") ||
        is("42P05")) { // a statement that this session never prepared, or prepared twice: other programs share it
        return error_code::not_supported;
    }
    if (is("40") || is("55P03") || is("57014")) { return error_code::store_busy; }
    if (is("57P03") || is("53300") || is("53200")) { return error_code::server_busy; }
    if (is("28")) { return error_code::authentication_failed; }
    if (is("42501")) { return error_code::authorization_failure; }
    if (is("42") || is("3F") || is("3D")) { return error_code::store_foreign; }
    return is("53") ? error_code::store_full : is("XX00") ? error_code::store_corrupt : error_code::store_failed;
}

ENTITABLE_DECL failure pg_failure(error_code code, char const* text, char const* said) {
    failure made{code, text};
    made.error().server_message = said != nullptr ? said : "";
    while (!made.error().server_message.empty() && made.error().server_message.back() == '\n') {
        made.error().server_message.pop_back();
    }
    return made;
}

ENTITABLE_DECL failure pg_connection::problem(pg_result const* answer, call const& context) {
    char const* const state = PQresultErrorField(answer, PG_DIAG_SQLSTATE);
    state_ = state != nullptr ? state : "";
    char const* const constraint = PQresultErrorField(answer, PG_DIAG_CONSTRAINT_NAME);
    constraint_ = constraint != nullptr ? constraint : "";
    if (state == nullptr || PQstatus(on_.get()) == CONNECTION_BAD) { return lost(); }
    if (state_ == "57014") { // ended by us, or by the statement timeout
        ENTITABLE_CHECK(check_call(context, *options_->local.time));
        return failure{error_code::store_busy, "the database did not respond within postgres_options::longest_wait"};
    }
    error_code const code = pg_error_code(state_);
    char const* const text = code == error_code::not_supported
        ? "a pooler shares the session with other programs: do not set "
          "postgres_options::prepared to true, or use session pooling"
        : code == error_code::store_read_only
        ? "the database is read-only: a standby, or a role or session that must not write"
        : "the database rejected a statement";
    return pg_failure(code, text, PQresultErrorField(answer, PG_DIAG_MESSAGE_PRIMARY));
}

ENTITABLE_DECL failure pg_connection::lost() {
    broken_ = true;
    return pg_failure(
        error_code::transport_failed, "the connection to the database was lost", PQerrorMessage(on_.get()));
}

ENTITABLE_DECL std::int32_t pg_connection::session() const noexcept { return session_; }

ENTITABLE_DECL bool pg_connection::hung_up() {
    if (lane_) { return false; } // its lane looks
    // A system call for each write is noticeable. A connection that is cut in so short a time is handled like one that is cut in the write.
    constexpr std::chrono::milliseconds soon{1};
    if (std::chrono::steady_clock::now() - last_answer_ < soon) { return broken_; }
    pollfd at{PQsocket(on_.get()), POLLIN, 0};
    broken_ = broken_ || at.fd < 0;
    // The server's last message comes before the end of the stream.
    while (!broken_ && ::poll(&at, 1, 0) > 0) { broken_ = PQconsumeInput(on_.get()) == 0; }
    return broken_;
}

ENTITABLE_DECL result<void> pg_connection::may_write() const {
    if (statements_ == &sets_->current) { return {}; }
    return failure{error_code::store_read_only,
        "the tables in the database have format 1, which this version of the library only reads: change it once with "
        "postgres_backend::migrate"};
}

// ---- waiting ----------------------------------------------------------------------------------------

ENTITABLE_DECL void pg_connection::finish::operator()(pg_conn* on) const noexcept {
    if (forks == platform::forks()) { // otherwise it would end the parent's session through the parent's socket
        PQfinish(on);
    }
}

/// Waits until there is data to read, or the wait is over.
ENTITABLE_DECL pg_connection::waited pg_connection::wait(pg_wait const& until) {
    for (;;) {
        int const left = PQflush(on_.get());
        pollfd at{PQsocket(on_.get()), static_cast<short>(left > 0 ? POLLIN | POLLOUT : POLLIN), 0};
        if (left < 0 || at.fd < 0) {
            // The server's last message may still be there.
            return at.fd >= 0 && PQconsumeInput(on_.get()) != 0 ? waited::ready : waited::lost;
        }
        int const ready = pg_poll(at, until.slice());
        if (ready > 0) {
            if (PQconsumeInput(on_.get()) == 0) { return waited::lost; }
            if (PQisBusy(on_.get()) == 0) { return waited::ready; }
        }
        if (until.over()) { return waited::gave_up; }
    }
}

/// Pending cancel requests of this process: libpq sends one and waits without a limit for the server to accept it.
inline std::atomic<int> pg_cancels{0};

/// Asks the server to stop the current statement, on another thread. A server stops by itself at the statement timeout.
inline void cancel_pg_statement(pg_conn* on) {
    constexpr int most = 4; // each call blocks if the server does not respond
    PGcancel* const one = ++pg_cancels <= most ? PQgetCancel(on) : nullptr;
    if (one == nullptr) {
        --pg_cancels;
        return;
    }
    std::thread{[one] {
        char why[256];
        static_cast<void>(PQcancel(one, why, sizeof why));
        PQfreeCancel(one);
        --pg_cancels;
    }}.detach();
}

// ---- statements -------------------------------------------------------------------------------------

ENTITABLE_DECL void pg_connection::send_now(
    pg_statement statement, std::initializer_list<pg_value> values, std::uint8_t meaning) {
    char const* at[8]{};
    int sizes[8]{};
    int formats[8]{};
    int count = 0;
    for (pg_value const value : values) {
        at[count] = value.data() != nullptr ? value.data() : "";
        sizes[count] = static_cast<int>(value.size());
        formats[count++] = 1;
    }
    // An error shows when the results are read.
    auto const number = static_cast<std::uint8_t>(statement);
    if (named_ && ((prepared_ | preparing_) >> number & 1U) == 0) {
        static_cast<void>(PQsendPrepare(
            on_.get(), statements_->name(statement).c_str(), statements_->text(statement).c_str(), 0, nullptr));
        queued_.push_back(number);
        preparing_ |= std::uint64_t{1} << number;
    }
    if (named_) {
        static_cast<void>(
            PQsendQueryPrepared(on_.get(), statements_->name(statement).c_str(), count, at, sizes, formats, 1));
    } else {
        static_cast<void>(
            PQsendQueryParams(on_.get(), statements_->text(statement).c_str(), count, nullptr, at, sizes, formats, 1));
    }
    queued_.push_back(meaning);
}

ENTITABLE_DECL void pg_connection::send(pg_statement statement, std::initializer_list<pg_value> values) {
    if (lane_) { return send_in_lane(statement, values); }
    bool const begins = statement == pg_statement::begin || statement == pg_statement::begin_read;
    bool const settings = !own_settings_ && queued_.empty() && PQtransactionStatus(on_.get()) == PQTRANS_IDLE;
    if (begins || !settings) { send_now(statement, values); }
    if (settings) {
        send_now(pg_statement::settings, {pg_number{pg_longest_statement(options_->longest_wait)}}, unasked);
    }
    if (!begins && settings) { send_now(statement, values); }
}

/// The server stops a statement before that.
ENTITABLE_DECL pg_wait pg_connection::longest(call const& context) const noexcept {
    constexpr std::chrono::nanoseconds more = std::chrono::seconds{1};
    auto const most = options_->longest_wait;
    return {context, *options_->local.time, most > no_timeout - more ? no_timeout : most + more};
}

ENTITABLE_DECL result<std::vector<pg_rows>> pg_connection::run(pg_wait until) {
    if (lane_) { return run_in_lane(until); }
    static call const nobody;
    pg_wait const whole = until;
    call const& context = until.context();
    state_.clear();
    *unreplicated_ = false;
    std::vector<pg_rows> answers;
    std::vector<std::uint8_t> const queued = std::exchange(queued_, {});
    answers.reserve(queued.size());
    std::size_t next = 0;
    result<void> outcome;
    if (PQpipelineSync(on_.get()) == 0) { return lost(); }
    bool gives_up = false;
    for (;;) {
        while (PQisBusy(on_.get()) != 0) {
            auto const ended = wait(until);
            if (ended == waited::gave_up && !gives_up) {
                // The server stops by itself at the end of a call. A cancelled statement responds immediately, or too late.
                if (context.cancellation.cancelled()) {
                    cancelled_ = true;
                    cancel_pg_statement(on_.get());
                }
                until = {nobody, *options_->local.time, pg_grace};
                gives_up = true;
            } else if (ended != waited::ready) {
                auto allowed = check_call(context, *options_->local.time);
                broken_ = true;
                return allowed ? lost() : std::move(allowed).as_failure();
            }
        }
        pg_result* const answer = PQgetResult(on_.get());
        if (answer == nullptr) {
            if (PQstatus(on_.get()) == CONNECTION_BAD) { return lost(); }
            continue; // the end of one statement's results
        }
        pg_rows rows{answer};
        switch (PQresultStatus(answer)) {
            case PGRES_PIPELINE_SYNC:
                last_answer_ = std::chrono::steady_clock::now();
                preparing_ = 0;
                if (!outcome) {
                    roll_back(whole);
                    return std::move(outcome).as_failure();
                }
                return answers;
            case PGRES_TUPLES_OK:
            case PGRES_COMMAND_OK:
                if (std::uint8_t const meaning = next < queued.size() ? queued[next++] : unasked;
                    meaning == asked_for) {
                    answers.push_back(std::move(rows));
                } else if (meaning != unasked) {
                    prepared_ |= std::uint64_t{1} << meaning;
                }
                break;
            case PGRES_PIPELINE_ABORTED: break;
            default:
                if (outcome) { outcome = problem(answer, context); }
                if (broken_) { return std::move(outcome).as_failure(); }
        }
    }
}

ENTITABLE_DECL void pg_connection::roll_back(pg_wait const& until) noexcept {
    // A rollback that fails breaks the connection, and is not rolled back itself.
    if (lane_ || rolls_back_ || spent() || !in_own_process() || PQtransactionStatus(on_.get()) == PQTRANS_IDLE) {
        return;
    }
    std::string const kept = state_;
    rolls_back_ = true;
    send(pg_statement::rollback);
    // Results within the grace period are also valid.
    broken_ = !run(until) || PQtransactionStatus(on_.get()) != PQTRANS_IDLE;
    rolls_back_ = false;
    state_ = kept;
}

} // namespace detail
ENTITABLE_END_NAMESPACE
