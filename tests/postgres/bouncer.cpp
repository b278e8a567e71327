// SPDX-License-Identifier: MIT
// Copyright (c) 2026 the entitable authors

// Behind PgBouncer, which gives the sessions of the server to one program after another: rows never reach the tables of another program,
// settings do not stay with another program, and each program is served or refused.

#include <entitable/entitable.hpp>
#include <entitable/postgres.hpp>

#include <support/bouncer.hpp>
#include <support/catch.hpp>
#include <support/long.hpp>
#include <support/tally.hpp>

#include <atomic>
#include <mutex>
#include <set>
#include <thread>

using namespace entitable;
using namespace entitable_test;

namespace {

/// The output of `psql`.
std::string printed(std::string const& server, std::string const& text) {
    std::string const command = "psql -X -A -t -q '" + server + "' -c \"" + text + "\" 2>&1";
    std::FILE* const pipe = ::popen(command.c_str(), "r");
    std::string all;
    char buffer[256];
    while (pipe != nullptr && std::fgets(buffer, sizeof buffer, pipe) != nullptr) { all += buffer; }
    ::pclose(pipe);
    return all.substr(0, all.find_last_not_of('\n') + 1);
}

/// Two programs with tables of their own write through one bouncer. Returns the problem, or "".
std::string two_programs(bouncer const& pool, std::optional<bool> prepared) {
    struct program {
        postgres_options options = own_schema();
        std::size_t acknowledged{};
        std::string refused;
    };
    program programs[2];
    std::vector<std::thread> running;
    for (program& each : programs) {
        each.options.prepared = prepared;
        each.options.connections = 2;
        running.emplace_back([&] {
            auto const store = postgres_backend::connect(pool.connection_string(), each.options);
            if (!store) {
                each.refused = store.error().to_string();
                return;
            }
            table<mark> const marks{*store, "marks"};
            if (auto const made = marks.create_if_absent(); !made) {
                each.refused = made.error().to_string();
                return;
            }
            std::vector<std::thread> writers;
            std::mutex mutex;
            for (int thread = 0; thread < 2; ++thread) {
                writers.emplace_back([&, name = each.options.schema + "_" + std::to_string(thread)] {
                    for (std::int32_t row = 0; row < static_cast<std::int32_t>(rounds(60, 1000)); ++row) {
                        auto const done = marks.insert({name, 0, row, name});
                        auto const read = done ? marks.get(name, 0, row) : result<mark>{mark{name, 0, row, name}};
                        std::lock_guard const lock{mutex};
                        each.acknowledged += done ? 1U : 0U;
                        if (!done && each.refused.empty()) { each.refused = done.error().to_string(); }
                        if ((!read || read->text != name) && each.refused.empty()) {
                            each.refused = read ? "read another row" : read.error().to_string();
                        }
                    }
                });
            }
            for (std::thread& writer : writers) { writer.join(); }
        });
    }
    for (std::thread& each : running) { each.join(); }
    for (program const& each : programs) {
        auto own = each.options;
        own.prepared.reset();
        auto const direct = postgres_backend::connect(postgres_server(), own).value();
        std::size_t rows = 0;
        static_cast<void>(table<mark>{direct, "marks"}.scan_table().for_each([&](mark const& one) {
            rows += one.writer.starts_with(each.options.schema + "_") ? 1U : 1000000U; // no rows of others
        }));
        if (rows != each.acknowledged) {
            return std::to_string(each.acknowledged) + " writes acknowledged, " + std::to_string(rows) +
                " rows of its own";
        }
        if (!each.refused.empty()) { return "refused: " + each.refused; }
    }
    return {};
}

} // namespace

TEST_CASE("postgres: two programs behind a bouncer write to their own tables, in each pool mode") {
    if (!has_bouncer()) { return; }
    for (std::string const mode : {"session", "transaction"}) {
        for (std::string const settings : {"", "ignore_startup_parameters = options"}) {
            INFO(mode << " " << settings);
            bouncer const pool{mode, settings + (mode == "session" ? "\ndefault_pool_size = 20" : "")};
            CHECK(two_programs(pool, std::nullopt) == "");
            // Settings of the library do not reach the next program.
            for (int asked = 0; asked < 3; ++asked) {
                CHECK(printed(pool.connection_string(), "SHOW enable_seqscan") == "on");
                CHECK(printed(pool.connection_string(), "SHOW statement_timeout") == "0");
                CHECK(printed(pool.connection_string(), "SHOW jit") == printed(postgres_server(), "SHOW jit"));
            }
        }
    }
}

TEST_CASE("postgres: named prepared statements on shared sessions are refused or work correctly") {
    if (!has_bouncer()) { return; }
    {
        bouncer const pool{"session", "default_pool_size = 20"};
        CHECK(two_programs(pool, true) == "");
    }
    bouncer const pool{"transaction"};
    std::string const said = two_programs(pool, true);
    INFO(said);
    // No row is ever in the other program's tables. A program that gets another program's session learns why it cannot
    // continue.
    CHECK((said.empty() ||
        (said.starts_with("refused: NotSupported") && said.find("postgres_options::prepared") != std::string::npos)));
}

TEST_CASE("postgres: the name of a prepared statement depends on its text and on the schema in it") {
    using detail::pg_statement;
    detail::pg_statements const one{"one"};
    detail::pg_statements const two{"two"};
    std::set<std::string> names;
    std::set<std::string> texts;
    for (int each = 0; each < static_cast<int>(pg_statement::count); ++each) {
        auto const which = static_cast<pg_statement>(each);
        CHECK((one.name(which) == two.name(which)) == (one.text(which) == two.text(which)));
        CHECK(one.name(which) == detail::pg_statements{"one"}.name(which));
        CHECK(one.name(which).size() < 63); // the length at which PostgreSQL truncates a name
        names.insert(one.name(which));
        texts.insert(one.text(which));
    }
    CHECK(names.size() == texts.size());
    CHECK(one.name(pg_statement::put) != two.name(pg_statement::put));
    CHECK(one.name(pg_statement::begin) == two.name(pg_statement::begin)); // the statement names no table
}

TEST_CASE("postgres: a deadline holds behind a bouncer, and a write without an answer has an unknown effect") {
    if (!has_bouncer()) { return; }
    bouncer pool{"transaction"};
    auto const options = own_schema();
    auto const store = postgres_backend::connect(pool.connection_string(), options).value();
    auto const direct = postgres_backend::connect(postgres_server(), options).value();
    CHECK(store.store().create_table("t", "t").value());
    auto const put = [](postgres_store::transaction& rows) {
        rows.put("r", "bytes");
        return true;
    };
    auto const held = direct.store().update("t", "p", [&](postgres_store::transaction& rows) {
        call late;
        late.deadline = direct.store().time().steady() + std::chrono::milliseconds{150};
        auto const begun = std::chrono::steady_clock::now();
        auto const refused = store.store().update("t", "p", put, late);
        auto const took = std::chrono::steady_clock::now() - begun;
        CHECK((!refused && refused.error().code == error_code::deadline_exceeded &&
            refused.error().effect == effect::none));
        CHECK(took < std::chrono::seconds{2});
        return put(rows);
    });
    CHECK(held.value() == lookup::found);
    CHECK(store.store().update("t", "p", put).value() == lookup::found);
}

TEST_CASE("postgres: a bouncer in statement mode, which does not support transactions, is refused at once") {
    if (!has_bouncer()) { return; }
    bouncer const pool{"statement"};
    auto const options = own_schema();
    auto const store = postgres_backend::connect(pool.connection_string(), options);
    if (store) {
        auto const written = table<mark>{*store, "marks"}.create();
        REQUIRE(!written);
        CHECK(written.error().effect == effect::none);
    }
}

TEST_CASE("postgres: restarting a bouncer under load loses no acknowledged write") {
    if (!has_bouncer()) { return; }
    bouncer pool{"transaction"};
    auto const options = own_schema();
    auto const store = postgres_backend::connect(pool.connection_string(), options).value();
    table<mark> const marks{store, "marks"};
    marks.create().value();
    std::atomic<bool> stop{false};
    std::mutex mutex;
    tally noted;
    std::atomic<std::size_t> acknowledged{0};
    std::vector<std::thread> running;
    for (int thread = 0; thread < 4; ++thread) {
        running.emplace_back([&, name = "w" + std::to_string(thread)] {
            for (std::int32_t batch = 0; !stop; ++batch) {
                auto const outcome = write_batch(marks, name, batch);
                acknowledged += outcome ? 1U : 0U;
                if (!outcome) { std::this_thread::sleep_for(std::chrono::milliseconds{5}); }
                std::lock_guard const lock{mutex};
                noted.note(name, batch, outcome);
            }
        });
    }
    for (std::size_t round = 0; round < rounds(3, 30); ++round) {
        std::size_t const before = acknowledged;
        for (int waited = 0; waited < 3000 && acknowledged < before + 20; ++waited) {
            std::this_thread::sleep_for(std::chrono::milliseconds{10});
        }
        REQUIRE(acknowledged >= before + 20);
        pool.stop();
        pool.start();
    }
    stop = true;
    for (std::thread& each : running) { each.join(); }
    auto const direct = postgres_backend::connect(postgres_server(), options).value();
    CHECK(noted.check(table<mark>{direct, "marks"}) == "");
    std::printf("PgBouncer restarted: %zu batches acknowledged, %zu unknown\n", noted.kept(), noted.unknown());
}
