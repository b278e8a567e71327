// SPDX-License-Identifier: MIT
// Copyright (c) 2026 the entitable authors

// Callers wait for scarce resources: connections that a role may have, descriptors of the process, sessions that ended while they were
// idle.

#include <entitable/entitable.hpp>
#include <entitable/postgres.hpp>

#include <support/catch.hpp>
#include <support/child_process.hpp>
#include <support/long.hpp>
#include <support/postgres_server.hpp>
#include <support/tally.hpp>
#include <sys/resource.h>

#include <atomic>
#include <thread>

using namespace entitable;
using namespace entitable_test;
using namespace std::chrono_literals;

namespace {

void run_sql(std::string const& text) {
    std::string const command = "psql -X -q -v ON_ERROR_STOP=1 \"$ENTITABLE_POSTGRES\" -c \"" + text + "\" >/dev/null";
    REQUIRE(std::system(command.c_str()) == 0);
}

struct reads {
    std::size_t least{};
    std::size_t all{};
    std::string failed;
};

/// Threads that read one row for a while.
reads read_by(std::size_t threads, table<mark> const& marks, std::chrono::milliseconds time) {
    std::vector<std::size_t> counts(threads);
    std::mutex mutex;
    reads made;
    std::vector<std::thread> running;
    auto const end = std::chrono::steady_clock::now() + time;
    for (std::size_t& count : counts) {
        running.emplace_back([&] {
            while (std::chrono::steady_clock::now() < end) {
                if (auto const read = marks.find("w", 1, 1); read) {
                    ++count;
                } else {
                    std::lock_guard const lock{mutex};
                    made.failed = read.error().to_string();
                }
            }
        });
    }
    for (std::thread& each : running) { each.join(); }
    made.least = *std::min_element(counts.begin(), counts.end());
    for (std::size_t const count : counts) { made.all += count; }
    return made;
}

} // namespace

TEST_CASE("postgres: callers wait if the server accepts no more connections") {
    if (postgres_server() == nullptr) { return; }
    auto const options = own_schema();
    auto const owner = postgres_backend::connect(postgres_server(), options).value();
    table<mark>{owner, "marks"}.create().value();
    run_sql("CREATE ROLE " + options.schema + " LOGIN CONNECTION LIMIT 4; GRANT USAGE ON SCHEMA " + options.schema +
        " TO " + options.schema + "; GRANT SELECT ON ALL TABLES IN SCHEMA " + options.schema + " TO " + options.schema);
    std::string server = postgres_server();
    server.replace(server.find("user=entitable"), 14, "user=" + options.schema);
    {
        auto const store = postgres_backend::connect(server, options).value();
        auto const made = read_by(16, table<mark>{store, "marks"}, 1s);
        INFO(made.failed);
        CHECK(made.failed.empty());
        CHECK(made.least > 0); // first come, first served
        std::printf(
            "PostgreSQL, 4 connections for 16 threads: %zu reads, %zu at least by each\n", made.all, made.least);

        // If others have them all, a call waits until its deadline.
        auto const others = postgres_backend::connect(postgres_server(), options).value();
        call_options calls;
        calls.timeout = 300ms;
        auto const second = postgres_backend::connect(server, options);
        CHECK((second || second.error().code == error_code::server_busy));
    }
    run_sql("DROP OWNED BY " + options.schema + "; DROP ROLE " + options.schema);
}

TEST_CASE("postgres: callers wait if the process has no descriptor for another connection") {
    if (postgres_server() == nullptr) { return; }
    auto options = own_schema();
    options.connections = 64;
    child_process child{[&] {
        auto const store = postgres_backend::connect(postgres_server(), options).value();
        table<mark> const marks{store, "marks"};
        marks.create().value();
        int const next = ::dup(0);
        rlimit few{static_cast<rlim_t>(next) + 6, static_cast<rlim_t>(next) + 6};
        ::close(next);
        if (::setrlimit(RLIMIT_NOFILE, &few) != 0) { return false; }
        auto const made = read_by(24, marks, 1s);
        if (!made.failed.empty()) { std::fprintf(stderr, "%s\n", made.failed.c_str()); }
        return made.failed.empty() && made.least > 0;
    }};
    CHECK(child.succeeds(60s));
}

TEST_CASE("postgres: each verb is repeated after its idle connection was cut") {
    if (postgres_server() == nullptr) { return; }
    auto const options = own_schema();
    auto const store = postgres_backend::connect(postgres_server(), options).value();
    table<mark> const marks{store, "marks"};
    auto const cut = [] {
        run_sql("SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE application_name = 'entitable'");
        std::this_thread::sleep_for(20ms);
    };
    auto const check = [&](char const* name, result<void> const& done) {
        INFO(name << ": " << (done ? "" : done.error().to_string()));
        CHECK(done);
    };
    cut();
    check("create", marks.create());
    cut();
    check("insert", marks.insert({"w", 1, 1, ""}));
    cut();
    check("get", marks.get("w", 1, 1));
    cut();
    check("count", marks.scan_table().count());
    cut();
    check("tables", store.store().tables("", [](std::string_view, std::string_view) { return true; }));
    cut();
    check("drop", marks.drop());
    cut();
    check("create again", marks.create());
}
