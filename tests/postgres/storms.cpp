// SPDX-License-Identifier: MIT
// Copyright (c) 2026 the entitable authors

// Eight processes write while sessions, the server or the bouncer are terminated. Each records its answers, which are then compared with
// the stored rows: no acknowledged write is lost, no refused write is stored, nothing counts twice, and the sum of money is unchanged.

#include <entitable/entitable.hpp>
#include <entitable/postgres.hpp>

#include <support/bouncer.hpp>
#include <support/catch.hpp>
#include <support/child_process.hpp>
#include <support/long.hpp>
#include <support/postgres_server.hpp>

#include <atomic>
#include <functional>
#include <thread>
#include <vector>

using namespace entitable;
using namespace entitable_test;
using namespace std::chrono_literals;

namespace {

struct entry {
    std::string place;
    std::int32_t number{};
    std::int64_t value{};
};
ENTITABLE(entry, partition_key(place), row_key(number), properties(value))

constexpr std::size_t processes = 8;
constexpr std::int32_t most_inserts = 20000;
constexpr std::int64_t money = 1000;

/// The answers of a process, visible to its parent.
struct journal {
    std::atomic<std::int32_t> inserts{0};            ///< begun
    std::atomic<std::uint8_t> fates[most_inserts]{}; ///< 1: acknowledged, 2: refused, 3: unknown
    std::atomic<std::int64_t> counted{0};            ///< acknowledged
    std::atomic<std::int64_t> perhaps{0};            ///< unknown
    std::atomic<std::size_t> wrong_sums{0};          ///< sums of money, read in the meantime
    std::atomic<std::size_t> acknowledged{0};        ///< writes of all kinds
};
struct shared_state {
    std::atomic<bool> stop{false};
    journal of[processes];
};

/// The work of one process.
void work(std::string const& server, postgres_options const& options, std::size_t process, shared_state& state) {
    journal& own = state.of[process];
    std::string const place = "p" + std::to_string(process);
    std::optional<postgres_backend> store;
    call_options calls;
    calls.timeout = 5s;
    for (std::int32_t turn = 0; !state.stop && turn < most_inserts; ++turn) {
        if (!store) {
            auto opened = postgres_backend::connect(server, options);
            if (!opened) {
                std::this_thread::sleep_for(20ms);
                continue;
            }
            store = *std::move(opened);
        }
        table<entry> const all{*store, "entries", calls};
        auto const unknown = [](auto const& done) { return done.error().effect == effect::unknown; };

        own.inserts = turn + 1;
        auto const inserted = all.insert({place, turn, turn});
        own.fates[turn] = inserted ? 1 : unknown(inserted) ? 3 : 2;

        auto const counted = all.update("counter", 0, [](entry& one) { ++one.value; }); // the counter of all processes
        own.counted += counted ? 1 : 0;
        own.perhaps += !counted && unknown(counted) ? 1 : 0;

        auto const moved = all.transact("bank", [&](transaction<entry>& rows) -> result<void> {
            std::int32_t const from = turn % 4;
            ENTITABLE_CHECK(rows.update(from, [](entry& one) { --one.value; }));
            std::int32_t const to = (from + 1 + static_cast<std::int32_t>(process) % 3) % 4;
            ENTITABLE_CHECK(rows.update(to, [](entry& one) { ++one.value; }));
            return {};
        });
        own.acknowledged += (inserted ? 1U : 0U) + (counted ? 1U : 0U) + (moved ? 1U : 0U);

        auto const read = all.where(fields<entry>::place == "bank").to();
        if (read) {
            std::int64_t sum = 0;
            for (entry const& one : *read) { sum += one.value; }
            own.wrong_sums += sum == 4 * money ? 0U : 1U;
        }
    }
}

/// Runs the processes, repeats `strike`, and finally compares the stored rows. `server`: the connection string of the processes.
void storm(char const* name, std::string const& server, std::size_t strikes, std::function<void()> const& strike) {
    auto const options = own_schema();
    auto const direct = postgres_backend::connect(postgres_server(), options).value();
    table<entry> const all{direct, "entries"};
    all.create().value();
    all.insert({"counter", 0, 0}).value();
    for (std::int32_t row = 0; row < 4; ++row) { all.insert({"bank", row, money}).value(); }
    shared_memory<shared_state> state;
    std::vector<child_process> children;
    for (std::size_t process = 0; process < processes; ++process) {
        children.emplace_back([&] {
            work(server, options, process, *state);
            return true;
        });
    }
    auto const acknowledged = [&] {
        std::size_t sum = 0;
        for (journal const& each : state->of) { sum += each.acknowledged; }
        return sum;
    };
    auto const runs = [&](std::size_t writes) {
        std::size_t const before = acknowledged();
        for (int waited = 0; waited < 6000; ++waited) {
            if (acknowledged() >= before + writes) { return true; }
            std::this_thread::sleep_for(10ms);
        }
        return false;
    };
    for (std::size_t each = 0; each < strikes; ++each) {
        REQUIRE(runs(60));
        strike();
    }
    REQUIRE(runs(60));
    state->stop = true;
    for (child_process& each : children) { CHECK(each.succeeds(60s)); }

    std::size_t lost = 0;
    std::size_t though_refused = 0;
    std::size_t unknown = 0;
    std::int64_t counted = 0;
    std::int64_t perhaps = 0;
    std::size_t wrong_sums = 0;
    for (std::size_t process = 0; process < processes; ++process) {
        journal const& own = state->of[process];
        std::vector<bool> there(most_inserts);
        REQUIRE(all.where(fields<entry>::place == "p" + std::to_string(process)).for_each([&](entry const& one) {
            there[static_cast<std::size_t>(one.number)] = true;
        }));
        for (std::int32_t number = 0; number < own.inserts; ++number) {
            std::uint8_t const fate = own.fates[number];
            bool const found = there[static_cast<std::size_t>(number)];
            lost += fate == 1 && !found ? 1U : 0U;
            though_refused += fate == 2 && found ? 1U : 0U;
            unknown += fate == 3 ? 1U : 0U;
        }
        counted += own.counted;
        perhaps += own.perhaps;
        wrong_sums += own.wrong_sums;
    }
    std::int64_t const counter = all.get("counter", 0).value().value;
    std::int64_t sum = 0;
    REQUIRE(all.where(fields<entry>::place == "bank").for_each([&](entry const& one) { sum += one.value; }));
    std::printf("PostgreSQL, %zu processes, %zu times %s: %zu writes acknowledged; of inserts %zu lost, %zu there "
                "though refused, %zu unknown; "
                "counter %lld of %lld to %lld; %zu wrong sums\n",
        processes, strikes, name, acknowledged(), lost, though_refused, unknown, static_cast<long long>(counter),
        static_cast<long long>(counted), static_cast<long long>(counted + perhaps), wrong_sums);
    CHECK(lost == 0);
    CHECK(though_refused == 0);
    CHECK((counter >= counted && counter <= counted + perhaps));
    CHECK(wrong_sums == 0);
    CHECK(sum == 4 * money);
}

/// Past the library, while commits may not wait for a standby.
void run_sql(std::string const& text) {
    std::string const command = "psql -X -q \"$ENTITABLE_POSTGRES\" -c \"" + text + "\" >/dev/null 2>&1";
    static_cast<void>(std::system(command.c_str()));
}

} // namespace

TEST_CASE("postgres storms: sessions are terminated") {
    if (postgres_server() == nullptr) { return; }
    storm("sessions ended", postgres_server(), rounds(5, 60),
        [] { run_sql("SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE application_name = 'entitable'"); });
}

TEST_CASE("postgres: storms: a busy server process is killed, and the server recovers") {
    if (postgres_server() == nullptr || std::getenv("ENTITABLE_TEST_LONG") == nullptr) { return; }
    storm("a process killed", postgres_server(), 10, [] {
        static_cast<void>(std::system(
            "kill -9 $(psql -X -A -t -q \"$ENTITABLE_POSTGRES\" -c \"SELECT pid FROM pg_stat_activity WHERE "
            "application_name = 'entitable' AND state = 'active' LIMIT 1\") 2>/dev/null"));
        std::this_thread::sleep_for(1s);
    });
}

TEST_CASE("postgres: storms: the server is killed and restarted") {
    if (postgres_server() == nullptr || std::getenv("ENTITABLE_POSTGRES_CONTROL") == nullptr) { return; }
    storm("the server killed", postgres_server(), rounds(1, 10), [] {
        REQUIRE(control_postgres("kill"));
        REQUIRE(control_postgres("start"));
    });
}

TEST_CASE("postgres: storms: a bouncer is restarted, and sessions behind it are terminated") {
    if (!has_bouncer()) { return; }
    bouncer pool{"transaction", "default_pool_size = 6"};
    int turn = 0;
    storm("a bouncer restarted", pool.connection_string(), rounds(4, 40), [&] {
        if (++turn % 2 == 0) {
            run_sql("SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE application_name = 'entitable'");
        } else {
            pool.stop();
            pool.start();
        }
    });
}

TEST_CASE("postgres: storms: a synchronous standby is promoted", "[.][standby_storm]") {
    if (postgres_server() == nullptr || std::getenv("ENTITABLE_POSTGRES_CONTROL") == nullptr) { return; }
    REQUIRE(control_postgres("standby"));
    std::string both = postgres_server(); // host=F port=5432 ... becomes host=F,F port=5432,5433 ...
    std::size_t const host = both.find("host=") + 5;
    both.insert(host, both.substr(host, both.find(' ', host) - host) + ",");
    both.replace(both.find("port=5432"), 9, "port=5432,5433");
    ::setenv("ENTITABLE_POSTGRES", both.c_str(), 1);
    storm("a standby promoted", both, 1, [] {
        REQUIRE(control_postgres("kill"));
        REQUIRE(control_postgres("promote"));
    });
}
