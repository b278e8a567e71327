// SPDX-License-Identifier: MIT
// Copyright (c) 2026 the entitable authors
#pragma once

#include <entitable/core/text.hpp>
#include <entitable/postgres/detail/pg_connection.hpp>
#include <entitable/postgres/detail/pg_schema.hpp>
#include <entitable/transport/transport.hpp>

#if __has_include(<libpq-fe.h>)
#include <libpq-fe.h>
#else
#include <postgresql/libpq-fe.h>
#endif
#include <poll.h>

#include <cstring>

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

/// The head: dimensions, a flag for nulls, the type (bytea), how many there are, the number of the first.
ENTITABLE_DECL std::string const& pg_array::finish() {
    put_pg_number(bytes_.data(), count_ == 0 ? 0U : 1U);
    put_pg_number(bytes_.data() + 4, 0U);
    put_pg_number(bytes_.data() + 8, 17U);
    put_pg_number(bytes_.data() + 12, count_);
    put_pg_number(bytes_.data() + 16, 1U);
    if (count_ == 0) {
        bytes_.resize(12);
    }
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
    for (char const each : read) {
        number = number << 8U | static_cast<unsigned char>(each);
    }
    return static_cast<std::int64_t>(number);
}
ENTITABLE_DECL std::string_view pg_rows::command() const noexcept { return PQcmdStatus(answer_.get()); }

// ---- what went wrong --------------------------------------------------------------------------------

/// The first two characters name a class of conditions (source: PostgreSQL, "Error Codes").
ENTITABLE_DECL error_code pg_error_code(std::string_view state) noexcept {
    auto const is = [&](std::string_view start) { return state.substr(0, start.size()) == start; };
    if (is("08") || is("57P01") || is("57P02") || is("25006")) { // 25006: a standby in the place of a primary
        return error_code::transport_failed;
    }
    if (is("40") || is("55P03") || is("57014")) {
        return error_code::store_busy;
    }
    if (is("57P03") || is("53300") || is("53200")) {
        return error_code::server_busy;
    }
    if (is("28")) {
        return error_code::authentication_failed;
    }
    if (is("42501")) {
        return error_code::authorization_failure;
    }
    if (is("42") || is("3F")) {
        return error_code::store_foreign;
    }
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
    if (state == nullptr || PQstatus(on_.get()) == CONNECTION_BAD) {
        return lost();
    }
    if (state_ == "57014") { // ended by us, or by the longest wait
        if (auto allowed = check_call(context, *options_->local.time); !allowed) {
            return std::move(allowed).as_failure();
        }
        return failure{error_code::store_busy, "the database did not answer within postgres_options::longest_wait"};
    }
    return pg_failure(
        pg_error_code(state_), "the database refused a statement", PQresultErrorField(answer, PG_DIAG_MESSAGE_PRIMARY));
}

ENTITABLE_DECL failure pg_connection::lost() {
    broken_ = true;
    return pg_failure(error_code::transport_failed, "the connection to the database broke", PQerrorMessage(on_.get()));
}

// ---- waiting ----------------------------------------------------------------------------------------

ENTITABLE_DECL void pg_connection::finish::operator()(pg_conn* on) const noexcept {
    if (forks ==
        platform::forks()) { // else it would tell the server, by the parent's socket, to end the parent's session
        PQfinish(on);
    }
}

/// Until there is something to read, the call's time is over, or so much time has passed.
ENTITABLE_DECL pg_connection::waited pg_connection::wait(call const& context, std::chrono::nanoseconds most) {
    auto const end = std::chrono::steady_clock::now() + most;
    for (;;) {
        int const left = PQflush(on_.get());
        pollfd at{PQsocket(on_.get()), static_cast<short>(left > 0 ? POLLIN | POLLOUT : POLLIN), 0};
        if (left < 0 || at.fd < 0) {
            // What the server said last may be there all the same.
            return at.fd >= 0 && PQconsumeInput(on_.get()) != 0 ? waited::ready : waited::lost;
        }
        int const ready = ::poll(&at, 1, 20);
        if (ready > 0) {
            if (PQconsumeInput(on_.get()) == 0) {
                return waited::lost;
            }
            if (PQisBusy(on_.get()) == 0) {
                return waited::ready;
            }
        } else if (!check_call(context, *options_->local.time) || std::chrono::steady_clock::now() >= end) {
            return waited::gave_up;
        }
    }
}

ENTITABLE_DECL void pg_connection::cancel() noexcept {
    struct give_up {
        void operator()(PGcancel* one) const noexcept { PQfreeCancel(one); }
    };
    std::unique_ptr<PGcancel, give_up> const one{PQgetCancel(on_.get())};
    char why[256];
    static_cast<void>(one != nullptr && PQcancel(one.get(), why, sizeof why) != 0);
}

// ---- statements -------------------------------------------------------------------------------------

ENTITABLE_DECL void pg_connection::send(pg_statement statement, std::initializer_list<pg_value> values) {
    char const* at[8];
    int sizes[8];
    int formats[8];
    int count = 0;
    for (pg_value const value : values) {
        at[count] = value.data() != nullptr ? value.data() : "";
        sizes[count] = static_cast<int>(value.size());
        formats[count++] = 1;
    }
    char const name[] = {'e', static_cast<char>('A' + static_cast<int>(statement)), '\0'};
    static_assert(static_cast<int>(pg_statement::count) < 60);
    // A connection that cannot take it says so when the answers are waited for.
    static_cast<void>(PQsendQueryPrepared(on_.get(), name, count, at, sizes, formats, 1));
    ++sent_;
}

ENTITABLE_DECL result<std::vector<pg_rows>> pg_connection::run(call const& context) {
    state_.clear();
    *unreplicated_ = false;
    std::vector<pg_rows> answers;
    answers.reserve(sent_);
    sent_ = 0;
    result<void> outcome;
    if (PQpipelineSync(on_.get()) == 0) {
        return lost();
    }
    std::chrono::nanoseconds most = options_->longest_wait + std::chrono::seconds{2}; // the server gives up before
    static call const unhurried;
    call const* until = &context;
    for (;;) {
        while (PQisBusy(on_.get()) != 0) {
            auto const ended = wait(*until, most);
            if (ended == waited::gave_up && until == &context) {
                // What was cancelled is answered at once, or the server is gone.
                cancel();
                until = &unhurried;
                most = std::chrono::seconds{2};
            } else if (ended != waited::ready) {
                auto allowed = check_call(context, *options_->local.time);
                broken_ = true;
                return allowed ? lost() : std::move(allowed).as_failure();
            }
        }
        pg_result* const answer = PQgetResult(on_.get());
        if (answer == nullptr) {
            if (PQstatus(on_.get()) == CONNECTION_BAD) {
                return lost();
            }
            continue; // after the answer to each statement
        }
        pg_rows rows{answer};
        switch (PQresultStatus(answer)) {
            case PGRES_PIPELINE_SYNC:
                if (!outcome) {
                    roll_back();
                    return std::move(outcome).as_failure();
                }
                return answers;
            case PGRES_TUPLES_OK:
            case PGRES_COMMAND_OK: answers.push_back(std::move(rows)); break;
            case PGRES_PIPELINE_ABORTED: break;
            default:
                if (outcome) {
                    outcome = problem(answer, context);
                }
                if (broken_) {
                    return std::move(outcome).as_failure();
                }
        }
    }
}

ENTITABLE_DECL void pg_connection::roll_back() noexcept {
    if (broken_ || !in_own_process() || PQtransactionStatus(on_.get()) == PQTRANS_IDLE) {
        return;
    }
    std::string const kept = state_;
    call const unhurried;
    send(pg_statement::rollback);
    broken_ = !run(unhurried) || PQtransactionStatus(on_.get()) != PQTRANS_IDLE;
    state_ = kept;
}

// ---- opening ----------------------------------------------------------------------------------------

/// Statements of a text, outside of a pipeline.
ENTITABLE_DECL result<void> pg_connection::run_text(
    char const* text, call const& context, std::vector<pg_rows>* answers) {
    if (PQsendQuery(on_.get(), text) == 0) {
        return lost();
    }
    result<void> outcome;
    for (;;) {
        while (PQisBusy(on_.get()) != 0) {
            if (wait(context, options_->longest_wait) != waited::ready) {
                auto allowed = check_call(context, *options_->local.time);
                broken_ = true;
                return allowed ? lost() : std::move(allowed).as_failure();
            }
        }
        pg_rows rows{PQgetResult(on_.get())};
        pg_result* const answer = rows.get();
        if (answer == nullptr) {
            return outcome;
        }
        auto const status = PQresultStatus(answer);
        if (status != PGRES_TUPLES_OK && status != PGRES_COMMAND_OK) {
            outcome = problem(answer, context);
        } else if (answers != nullptr && status == PGRES_TUPLES_OK) {
            answers->push_back(std::move(rows));
        }
    }
}

/// A commit that waited for a standby in vain says so in a warning.
inline void note_pg_warning(void* to, pg_result const* said) {
    char const* const state = PQresultErrorField(said, PG_DIAG_SQLSTATE);
    if (state != nullptr && std::strcmp(state, "01000") == 0) {
        *static_cast<bool*>(to) = true;
    }
}

ENTITABLE_DECL result<pg_connection> pg_connection::open(
    std::string const& connection_string, postgres_options const& options, bool may_create, call const& context) {
    // Those in front hold unless the connection string, which is the value of dbname, says otherwise.
    char const* const names[] = {
        "target_session_attrs", "fallback_application_name", "dbname", "client_encoding", nullptr};
    char const* const values[] = {"read-write", "entitable", connection_string.c_str(), "UTF8", nullptr};
    pg_connection made{PQconnectStartParams(names, values, 1), options};
    pg_conn* const on = made.on_.get();
    if (on == nullptr) {
        return failure{error_code::store_failed, "there is no memory for a connection"};
    }
    auto const end = std::chrono::steady_clock::now() + options.connect_timeout;
    auto next = PGRES_POLLING_WRITING;
    auto state = PQstatus(on) == CONNECTION_BAD ? PGRES_POLLING_FAILED : next;
    while (state != PGRES_POLLING_OK && state != PGRES_POLLING_FAILED) {
        pollfd at{PQsocket(on), static_cast<short>(state == PGRES_POLLING_READING ? POLLIN : POLLOUT), 0};
        if (::poll(&at, 1, 20) != 0) {
            state = PQconnectPoll(on);
        } else if (auto allowed = check_call(context, *options.local.time); !allowed) {
            return std::move(allowed).as_failure();
        } else if (std::chrono::steady_clock::now() >= end) {
            return failure{
                error_code::transport_failed, "the database did not answer within postgres_options::connect_timeout"};
        }
    }
    if (state != PGRES_POLLING_OK) {
        std::string_view const said = PQerrorMessage(on);
        auto const says = [&](std::string_view words) { return said.find(words) != std::string_view::npos; };
        struct meaning {
            std::string_view words;
            error_code code;
        };
        // The first that is said; libpq gives no code for them.
        static constexpr meaning meanings[] = {
            {"invalid connection option", error_code::invalid_input}, {"missing \"=\"", error_code::invalid_input},
            {"invalid sslmode", error_code::invalid_input}, {"starting up", error_code::server_busy},
            {"shutting down", error_code::server_busy}, {"too many", error_code::server_busy},
            {"remaining connection slots", error_code::server_busy},
            {"permission denied", error_code::authorization_failure}, {"password", error_code::authentication_failed},
            {"authentication", error_code::authentication_failed}, {"pg_hba.conf", error_code::authentication_failed},
            {"role \"", error_code::authentication_failed},
            {"\" does not exist", error_code::store_foreign}, // the database
        };
        auto code = error_code::transport_failed;
        for (meaning const& each : meanings) {
            if (code == error_code::transport_failed && says(each.words)) {
                code = each.code;
            }
        }
        return pg_failure(code,
            code == error_code::invalid_input ? "the connection string cannot be read"
                                              : "the database cannot be reached",
            PQerrorMessage(on));
    }
    PQsetNoticeReceiver(on, note_pg_warning, made.unreplicated_.get());
    if (PQsetnonblocking(on, 1) != 0) {
        return made.lost();
    }
    if (auto ready = made.prepare(may_create, context); !ready) {
        return std::move(ready).as_failure();
    }
    return made;
}

/// Tables, settings and statements.
ENTITABLE_DECL result<void> pg_connection::prepare(bool may_create, call const& context) {
    std::vector<pg_rows> answers;
    auto ready = run_text(pg_session_text(*options_).c_str(), context);
    if (ready) {
        ready = check_pg_schema(*options_, may_create, [&](std::string const& text) -> result<std::vector<pg_rows>> {
            answers.clear();
            auto done = run_text(text.c_str(), context, &answers);
            return done ? result<std::vector<pg_rows>>{std::move(answers)} : std::move(done).as_failure();
        });
    }
    if (!ready) {
        return ready;
    }
    // What speaks the protocol and is not PostgreSQL has no such functions; then no commit is asked about.
    answers.clear();
    if (run_text("SELECT (SELECT system_identifier FROM pg_control_system()) || '.' || "
                 "left(pg_walfile_name(pg_current_wal_lsn()), 8)",
            context, &answers) &&
        !answers.empty()) {
        history_ = answers[0].bytes(0, 0);
    }
    if (broken_ || PQenterPipelineMode(on_.get()) == 0) {
        return lost();
    }
    for (int each = 0; each < static_cast<int>(pg_statement::count); ++each) {
        char const name[] = {'e', static_cast<char>('A' + each), '\0'};
        auto const text = pg_statement_text(static_cast<pg_statement>(each), options_->schema);
        static_cast<void>(PQsendPrepare(on_.get(), name, text.c_str(), 0, nullptr));
    }
    auto prepared = run(context);
    return prepared ? result<void>{} : std::move(prepared).as_failure();
}

} // namespace detail
ENTITABLE_END_NAMESPACE
