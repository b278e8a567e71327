// SPDX-License-Identifier: MIT
// Copyright (c) 2026 the entitable authors

// Servers that are killed under load: every acknowledged write is there, and no batch is partial. The last test ends with another
// server.

#include <entitable/entitable.hpp>
#include <entitable/postgres.hpp>

#include <support/catch.hpp>
#include <support/long.hpp>
#include <support/postgres_server.hpp>
#include <support/tally.hpp>

#include <atomic>
#include <mutex>
#include <thread>
#include <vector>

using namespace entitable;
using namespace entitable_test;

namespace {

/// Writers that record the outcome of each batch until they are stopped.
class load {
public:
    load(postgres_backend const& store, std::string const& prefix) {
        for (int thread = 0; thread < 4; ++thread) {
            writers_.emplace_back([this, store, name = prefix + std::to_string(thread)] {
                table<mark> const marks{store, "marks"};
                for (std::int32_t batch = 0; !stop_; ++batch) {
                    auto const outcome = write_batch(marks, name, batch);
                    if (outcome) {
                        ++acknowledged_;
                    } else {
                        std::this_thread::sleep_for(std::chrono::milliseconds{5});
                    }
                    std::lock_guard const lock{mutex_};
                    tally_.note(name, batch, outcome);
                }
            });
        }
    }
    ~load() { stop(); }
    /// Waits for this number of further acknowledged batches; false after half a minute.
    bool runs(std::size_t batches) {
        std::size_t const before = acknowledged_;
        for (int waited = 0; waited < 3000; ++waited) {
            if (acknowledged_ >= before + batches) { return true; }
            std::this_thread::sleep_for(std::chrono::milliseconds{10});
        }
        return false;
    }
    tally const& stop() {
        stop_ = true;
        for (std::thread& each : writers_) { each.join(); }
        writers_.clear();
        return tally_;
    }

private:
    std::atomic<bool> stop_{false};
    std::atomic<std::size_t> acknowledged_{0};
    std::mutex mutex_;
    tally tally_;
    std::vector<std::thread> writers_;
};

} // namespace

TEST_CASE("postgres: killing and restarting a server loses no acknowledged write") {
    if (postgres_server() == nullptr || std::getenv("ENTITABLE_POSTGRES_CONTROL") == nullptr) { return; }
    auto const store = postgres_backend::connect(postgres_server(), own_schema()).value();
    table<mark> const marks{store, "marks"};
    marks.create().value();
    std::size_t const kills = rounds(1, 20);
    load writers{store, "w"};
    for (std::size_t round = 0; round < kills; ++round) {
        REQUIRE(writers.runs(30));
        REQUIRE(control_postgres("kill"));
        REQUIRE(control_postgres("start"));
    }
    REQUIRE(writers.runs(10));
    tally const& noted = writers.stop();
    std::string const wrong = noted.check(marks);
    std::printf("PostgreSQL killed %zu times: %zu batches acknowledged, %zu unknown: %s\n", kills, noted.kept(),
        noted.unknown(), wrong.empty() ? "nothing lost or torn" : wrong.c_str());
    CHECK(wrong.empty());
}

TEST_CASE("postgres: a standby that takes over has every acknowledged write", "[.][standby_load]") {
    if (postgres_server() == nullptr || std::getenv("ENTITABLE_POSTGRES_CONTROL") == nullptr) { return; }
    REQUIRE(control_postgres("standby"));
    std::string both = postgres_server(); // host=F port=5432 ... becomes host=F,F port=5432,5433 ...
    std::size_t const host = both.find("host=") + 5;
    std::string const folder = both.substr(host, both.find(' ', host) - host);
    both.insert(host, folder + ",");
    both.replace(both.find("port=5432"), 9, "port=5432,5433");
    auto const store = postgres_backend::connect(both, own_schema()).value();
    table<mark> const marks{store, "marks"};
    marks.create().value();
    load writers{store, "w"};
    REQUIRE(writers.runs(50));
    REQUIRE(control_postgres("kill"));
    REQUIRE(control_postgres("promote"));
    REQUIRE(writers.runs(50));
    tally const& noted = writers.stop();
    std::string const wrong = noted.check(marks);
    std::printf("PostgreSQL, standby promoted: %zu batches acknowledged, %zu unknown: %s\n", noted.kept(),
        noted.unknown(), wrong.empty() ? "nothing lost or torn" : wrong.c_str());
    CHECK(wrong.empty());
}
