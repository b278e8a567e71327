// SPDX-License-Identifier: MIT
// Copyright (c) 2026 the entitable authors
#pragma once

// Opens a connection: tries the hosts in order, checks the session, applies settings, tables and statements.

#include <entitable/core/text.hpp>
#include <entitable/core/try.hpp>
#include <entitable/local/postgres/detail/pg_connection.hpp>
#include <entitable/local/postgres/detail/pg_fiber.hpp>
#include <entitable/local/postgres/detail/pg_schema.hpp>
#include <entitable/local/postgres/impl/pg_connection.ipp>
#include <entitable/local/postgres/impl/pg_library.ipp>

#include <sys/socket.h>
#include <unistd.h>

ENTITABLE_BEGIN_NAMESPACE
namespace detail {

/// Runs the statements of a text, outside a pipeline.
ENTITABLE_DECL result<void> pg_connection::run_text(
    std::string const& text, pg_wait const& until, std::vector<pg_rows>* answers) {
    std::string whole;
    if (!own_settings_) { // the statements of a text are one transaction
        whole = "SELECT set_config('client_min_messages', 'warning', true), set_config('statement_timeout', '";
        text::append_decimal(whole, static_cast<std::uint64_t>(pg_longest_statement(options_->longest_wait)));
        whole += "', true); ";
    }
    whole += text;
    if (PQsendQuery(on_.get(), whole.c_str()) == 0) { return lost(); }
    bool of_settings = !own_settings_;
    result<void> outcome;
    for (;;) {
        while (PQisBusy(on_.get()) != 0) {
            if (wait(until) != waited::ready) {
                auto allowed = until.allowed();
                broken_ = true;
                return allowed ? lost() : std::move(allowed).as_failure();
            }
        }
        pg_rows rows{PQgetResult(on_.get())};
        pg_result* const answer = rows.get();
        if (answer == nullptr) { return outcome; }
        auto const status = PQresultStatus(answer);
        if (status != PGRES_TUPLES_OK && status != PGRES_COMMAND_OK) {
            outcome = problem(answer, until.context());
        } else if (answers != nullptr && status == PGRES_TUPLES_OK && !std::exchange(of_settings, false)) {
            answers->push_back(std::move(rows));
        }
    }
}

/// A commit whose wait for a standby failed sends a warning. Its source distinguishes it from other warnings, for example of triggers.
inline void note_pg_warning(void* to, pg_result const* said) {
    auto const field = [&](int which) {
        char const* const text = PQresultErrorField(said, which);
        return std::string_view{text != nullptr ? text : ""};
    };
    std::string_view const source = field(PG_DIAG_SOURCE_FUNCTION);
    bool const unnamed = source.empty() && field(PG_DIAG_CONTEXT).empty() && field(PG_DIAG_SQLSTATE) == "01000";
    if (source == "SyncRepWaitForLSN" || unnamed) { *static_cast<bool*>(to) = true; }
}

/// "FATAL: 28P01: ...": the code is the same in each language. Returns an empty text if the server sent nothing.
inline std::string_view pg_state_of(std::string_view said) noexcept {
    for (std::size_t at = said.find(":  "); at != std::string_view::npos; at = said.find(":  ", at + 1)) {
        std::string_view const state = said.substr(at + 3, 5);
        bool good = state.size() == 5 && said.substr(at + 8, 2) == ": ";
        for (char const each : state) { good = good && ((each >= '0' && each <= '9') || (each >= 'A' && each <= 'Z')); }
        if (good) { return state; }
    }
    return {};
}

/// Uses our own wording, because the messages of libpq and the server repeat the connection string.
inline failure pg_refusal(std::string_view state) {
    struct meaning {
        std::string_view state;
        char const* words;
    };
    static constexpr meaning meanings[] = {{"28P01", "wrong user or password"},
        {"28000",
            "the server does not allow connections with this combination of user, database, address and encryption "
            "(pg_hba.conf)"},
        {"3D000", "the database does not exist"}, {"53300", "the server accepts no further connections"},
        {"57P03", "the server is starting, stopping or recovering"}, {"42501", "the user may not connect"}};
    std::string_view words = "the server rejected the connection";
    for (meaning const& each : meanings) { words = each.state == state ? each.words : words; }
    return failure{pg_error_code(state), text::joined({"cannot use the database: ", words, " (SQLSTATE ", state, ")"})};
}

ENTITABLE_DECL result<pg_connection> pg_connection::open_address(pg_target const& target, pg_host const& host,
    std::string const& address, bool with_options, pg_statement_sets const& statements, postgres_options const& options,
    pg_wait const& until, std::string& state_of) {
    state_of.clear();
    std::vector<char const*> names{"fallback_application_name"};
    std::vector<char const*> values{"entitable"};
    auto const set = [&](char const* name, std::string const& value) {
        if (!value.empty()) {
            names.push_back(name);
            values.push_back(value.c_str());
        }
    };
    for (pg_target::setting const& each : target.settings) { set(each.name.c_str(), each.value); }
    std::string const attributes = "any"; // the result is checked below
    std::string const encoding = "UTF8";
    std::string const session =
        with_options ? text::joined({target.options, " ", pg_session_options(options)}) : target.options;
    set("host", host.name);
    set("hostaddr", address);
    set("port", host.port);
    set("target_session_attrs", attributes);
    set("client_encoding", encoding);
    set("options", session);
    names.push_back(nullptr);
    values.push_back(nullptr);
    pg_connection made{PQconnectStartParams(names.data(), values.data(), 0), statements, options};
    pg_conn* const on = made.on_.get();
    if (on == nullptr) { return failure{error_code::store_failed, "out of memory for a connection"}; }
    made.own_settings_ = with_options;
    PQsetNoticeReceiver(on, note_pg_warning, made.unreplicated_.get()); // libpq would print them
    static_cast<void>(PQsetErrorVerbosity(on, PQERRORS_VERBOSE));       // makes libpq's messages include the SQLSTATE
    auto last = PQstatus(on);
    auto state = last == CONNECTION_BAD ? PGRES_POLLING_FAILED : PGRES_POLLING_WRITING;
    while (state != PGRES_POLLING_OK && state != PGRES_POLLING_FAILED) {
        pollfd at{PQsocket(on), static_cast<short>(state == PGRES_POLLING_READING ? POLLIN : POLLOUT), 0};
        if (pg_poll(at, until.slice()) != 0) {
            state = PQconnectPoll(on);
            last = PQstatus(on) == CONNECTION_BAD ? last : PQstatus(on);
        } else if (until.over()) {
            auto allowed = until.allowed();
            return allowed ? failure{error_code::transport_failed, "cannot reach the database: a host does not respond"}
                           : std::move(allowed).as_failure();
        }
    }
    if (state != PGRES_POLLING_OK) {
        std::string const code{pg_state_of(PQerrorMessage(on))};
        if (!code.empty()) {
            state_of = code;
            return pg_refusal(code);
        }
        int const room = ::socket(AF_INET, SOCK_STREAM, 0);
        if (room < 0 && (errno == EMFILE || errno == ENFILE)) {
            state_of = "53300"; // the same error as for the server's connection limit
            return failure{error_code::server_busy,
                "this process is out of file descriptors for another connection to the database"};
        }
        if (room >= 0) { ::close(room); }
        return failure{error_code::transport_failed,
            last == CONNECTION_SSL_STARTUP ? "cannot reach the database: TLS negotiation failed (sslmode, "
                                             "certificates, or a host that closes connections)"
                : last == CONNECTION_AWAITING_RESPONSE || last == CONNECTION_AUTH_OK
                ? "cannot reach the database: a host closed the connection before the session began"
                : "cannot reach the database: no server accepts connections at a host, or a setting cannot be met "
                  "there"};
    }
    static_cast<void>(PQsetErrorVerbosity(on, PQERRORS_DEFAULT));
    if (PQsetnonblocking(on, 1) != 0) { return made.lost(); }
    return made;
}

/// Checks that the session is of the requested kind.
ENTITABLE_DECL result<void> pg_connection::check_session(pg_session wanted, pg_wait const& until) {
    if (wanted == pg_session::any) { return {}; }
    auto const reported = [&](char const* name) -> std::string {
        char const* const value = PQparameterStatus(on_.get(), name);
        return value != nullptr ? value : "";
    };
    bool standby = reported("in_hot_standby") == "on";
    bool reads_only = standby || reported("default_transaction_read_only") == "on";
    if (reported("in_hot_standby").empty() ||
        reported("default_transaction_read_only").empty()) { // a pooler, or an old server
        std::vector<pg_rows> answers;
        if (auto asked =
                run_text("SELECT pg_catalog.pg_is_in_recovery()::text, current_setting('transaction_read_only')", until,
                    &answers);
            !asked) {
            return asked;
        }
        standby = !answers.empty() && answers[0].bytes(0, 0) == "true";
        reads_only = standby || (!answers.empty() && answers[0].bytes(0, 1) == "on");
    }
    bool const good = wanted == pg_session::read_write ? !reads_only
        : wanted == pg_session::read_only              ? reads_only
        : wanted == pg_session::primary                ? !standby
                                                       : standby;
    if (good) { return {}; }
    bool const writes = wanted == pg_session::read_write || wanted == pg_session::primary;
    return writes ? failure{error_code::store_read_only,
                        "the database is read-only: a standby, or a role whose sessions do not write "
                        "(target_session_attrs=any accepts it)"}
                  : failure{error_code::transport_failed, "no host satisfies target_session_attrs"};
}

ENTITABLE_DECL result<pg_connection> pg_connection::open_host(pg_target const& target, pg_host const& host,
    pg_session session, pg_statement_sets const& statements, postgres_options const& options, pg_wait const& until,
    std::string& state) {
    std::vector<std::string> addresses{host.address};
    bool const is_name = host.address.empty() && !host.name.empty() && host.name[0] != '/' && host.name[0] != '@';
    if (is_name) {
        ENTITABLE_TRY(auto found, pg_addresses(host.name, until));
        addresses = std::move(found);
    }
    result<pg_connection> last = failure{error_code::transport_failed, "a host has no address"};
    for (std::size_t at = 0; at < addresses.size(); ++at) {
        pg_wait const share = until.at_most(until.left() / static_cast<std::int64_t>(addresses.size() - at));
        for (bool const with_options : {true, false}) {
            auto made = open_address(target, host, addresses[at], with_options, statements, options, share, state);
            if (made) {
                ENTITABLE_CHECK(made->check_session(session, share));
                return made;
            }
            // A pooler accepts no options, and another kind of server may not know ours.
            bool const by_options = state == "08P01" || state == "42704" || state == "22023" || state == "0A000";
            last = std::move(made);
            if (!by_options) { break; }
        }
        if (last.error().code != error_code::transport_failed) { break; }
    }
    return last;
}

ENTITABLE_DECL result<pg_connection> pg_connection::open(pg_target const& target, pg_statement_sets const& statements,
    postgres_options const& options, bool may_create, pg_wait const& until, bool& no_room) {
    std::string state;
    no_room = false;
    bool const prefers = target.session == pg_session::prefer_standby;
    std::size_t const count = target.hosts.size() * (prefers ? 2 : 1);
    std::optional<result<pg_connection>> refused;
    for (std::size_t at = 0; at < count && !until.over(); ++at) {
        auto most = until.left() / static_cast<std::int64_t>(count - at);
        if (target.host_timeout.count() > 0) { most = target.host_timeout; }
        pg_session const session = !prefers ? target.session
            : at < target.hosts.size()      ? pg_session::standby
                                            : pg_session::any;
        auto made = open_host(
            target, target.hosts[at % target.hosts.size()], session, statements, options, until.at_most(most), state);
        no_room = !made && state == "53300";
        if (made) {
            ENTITABLE_CHECK(made->prepare(may_create, until));
            return made;
        }
        // An error of a server is more useful than a timeout.
        if (!refused || refused->error().code == error_code::transport_failed) { refused.emplace(std::move(made)); }
    }
    ENTITABLE_CHECK(until.allowed());
    return refused ? *std::move(refused)
                   : failure{error_code::transport_failed,
                         "the database did not respond within postgres_options::connect_timeout"};
}

/// Prepares tables and settings; a statement is prepared with its first use.
ENTITABLE_DECL result<void> pg_connection::prepare(bool may_create, pg_wait const& until) {
    std::vector<pg_rows> answers;
    auto const ask = [&](std::string const& text) -> result<std::vector<pg_rows>> {
        answers.clear();
        auto done = run_text(text, until, &answers);
        return done ? result<std::vector<pg_rows>>{std::move(answers)} : std::move(done).as_failure();
    };
    // A pooler reports its own number for the session, and may have ignored our settings.
    auto const session = ask("SELECT pg_catalog.pg_backend_pid()::text");
    bool const pooled =
        !session || session->empty() || session->front().bytes(0, 0) != std::to_string(PQbackendPID(on_.get()));
    named_ = options_->prepared.value_or(!pooled);
    own_settings_ = own_settings_ && !pooled;
    ENTITABLE_TRY(auto const format, check_pg_schema(*options_, may_create, ask));
    statements_ = format == 1 ? &sets_->earlier : &sets_->current;
    // Servers that speak the protocol but are not PostgreSQL lack these functions; then commits cannot be checked.
    if (!pooled) {
        auto const history = ask("SELECT (SELECT system_identifier FROM pg_catalog.pg_control_system()) || '.' || "
                                 "left(pg_catalog.pg_walfile_name(pg_catalog.pg_current_wal_lsn()), 8)");
        if (history && !history->empty()) { history_ = history->front().bytes(0, 0); }
    }
    session_ = PQbackendPID(on_.get());
    if (broken_ || PQenterPipelineMode(on_.get()) == 0) { return lost(); }
    return {};
}

ENTITABLE_DECL result<void> pg_connection::with_texts(
    pg_wait const& until, function_ref<result<void>(run_text_function)> work) {
    static_cast<void>(PQexitPipelineMode(on_.get()));
    std::vector<pg_rows> answers;
    auto done = work([&](std::string const& text) -> result<std::vector<pg_rows>> {
        answers.clear();
        auto ran = run_text(text, until, &answers);
        return ran ? result<std::vector<pg_rows>>{std::move(answers)} : std::move(ran).as_failure();
    });
    static_cast<void>(PQenterPipelineMode(on_.get()));
    return done;
}

ENTITABLE_DECL result<void> pg_connection::migrate(pg_wait const& until) {
    auto done = with_texts(until, [&](run_text_function run) { return migrate_pg_schema(options_->schema, run); });
    if (done) { statements_ = &sets_->current; }
    return done;
}

} // namespace detail
ENTITABLE_END_NAMESPACE
