// SPDX-License-Identifier: MIT
// Copyright (c) 2026 the entitable authors

// Four processes of four threads on three partitions: some order explains all answers of each partition. Partitions are judged one by
// one, which is enough (Herlihy and Wing, 1990: linearizability is local).

#include <entitable/postgres.hpp>

#include <concurrency/histories.hpp>
#include <support/catch.hpp>
#include <support/child_process.hpp>
#include <support/long.hpp>
#include <support/postgres_server.hpp>
#include <support/temporary_folder.hpp>

#include <algorithm>
#include <fstream>
#include <iomanip>

using namespace entitable;
using namespace entitable_test;

namespace {

constexpr std::size_t processes = 4;
constexpr std::size_t threads = 4;
constexpr std::size_t partitions = 3;

void write(std::ostream& to, timed_operation const& done) {
    to << done.begun << ' ' << done.ended << ' ' << done.kind << ' '
       << (done.refused ? static_cast<int>(*done.refused) : -1) << ' ' << done.refused_at << ' ' << done.row;
    for (std::string const& version : done.found) { to << ' ' << std::quoted(version); }
    to << ' ' << done.parts.size();
    for (auto const& part : done.parts) {
        to << ' ' << part.row << ' ' << static_cast<int>(part.kind) << ' ' << std::quoted(part.version) << ' '
           << std::quoted(part.made);
    }
    to << '\n';
}

bool read(std::istream& from, timed_operation& done) {
    int kind = 0;
    int refused = -1;
    std::size_t parts = 0;
    done = {};
    from >> done.begun >> done.ended >> kind >> refused >> done.refused_at >> done.row;
    for (std::string& version : done.found) { from >> std::quoted(version); }
    from >> parts;
    for (int change = 0; from && parts > 0; --parts) {
        auto& part = done.parts.emplace_back();
        from >> part.row >> change >> std::quoted(part.version) >> std::quoted(part.made);
        part.kind = static_cast<mutation_kind>(change);
    }
    done.kind = static_cast<timed_operation::what>(kind);
    if (refused >= 0) { done.refused = static_cast<error_code>(refused); }
    return static_cast<bool>(from);
}

/// Shared by the processes: a time that orders all operations, and how many threads have finished a round.
struct meeting {
    std::atomic<std::uint64_t> time{0};
    std::atomic<std::size_t> arrived{0};
};

/// The work of a thread in all rounds. No thread starts a round before all have ended the previous one, so that a search never has to
/// look far.
void take_part(any_store const& store, std::uint64_t seed, std::size_t rounds, std::size_t each, meeting& all,
    std::vector<timed_operation> (&logs)[partitions]) {
    std::mt19937_64 random{seed};
    std::vector<std::string> seen[partitions];
    std::fill(std::begin(seen), std::end(seen), no_versions());
    for (std::size_t round = 0; round < rounds; ++round) {
        ++all.arrived;
        while (all.arrived < (round + 1) * processes * threads) { std::this_thread::yield(); }
        for (std::size_t count = 0; count < each; ++count) {
            std::size_t const place = random() % partitions;
            logs[place].push_back(random_request(store, "p" + std::to_string(place), random, seen[place], all.time));
        }
    }
}

} // namespace

TEST_CASE("postgres: requests to a partition from four processes with four threads each are linearizable") {
    if (postgres_server() == nullptr) { return; }
    std::size_t judged = 0;
    std::size_t concurrent = 0;
    for (std::uint64_t seed = 1; seed <= rounds(2, 100); ++seed) {
        auto const options = own_schema();
        {
            call context;
            REQUIRE(
                postgres_backend::connect(postgres_server(), options).value().execute(create_table{"Orders"}, context));
        }
        temporary_folder const folder;
        shared_memory<meeting> const all;
        auto const log_of = [&](std::size_t process, std::size_t place) {
            return folder / (std::to_string(process) + "." + std::to_string(place));
        };
        std::vector<child_process> children;
        for (std::size_t process = 0; process < processes; ++process) {
            children.emplace_back([&, process] {
                any_store const store = postgres_backend::connect(postgres_server(), options).value();
                std::vector<timed_operation> logs[threads][partitions];
                std::vector<std::thread> running;
                for (std::size_t thread = 0; thread < threads; ++thread) {
                    running.emplace_back([&, thread] {
                        take_part(store, seed * 100 + process * threads + thread, 12, 6, *all, logs[thread]);
                    });
                }
                for (std::thread& each : running) { each.join(); }
                for (std::size_t place = 0; place < partitions; ++place) {
                    std::ofstream to{log_of(process, place)};
                    for (auto const& log : logs) {
                        std::for_each(log[place].begin(), log[place].end(), [&](auto const& one) { write(to, one); });
                    }
                }
                return true;
            });
        }
        for (child_process& each : children) { REQUIRE(each.succeeds(std::chrono::seconds{120})); }
        for (std::size_t place = 0; place < partitions; ++place) {
            std::vector<timed_operation> history;
            for (std::size_t process = 0; process < processes; ++process) {
                std::ifstream from{log_of(process, place)};
                for (timed_operation one; read(from, one);) {
                    concurrent += one.ended - one.begun > 1 ? 1U : 0U;
                    history.push_back(one);
                }
            }
            judged += history.size();
            if (!linearizable(history)) {
                FAIL_CHECK("seed " << seed << ", partition " << place
                                   << ": no order of these requests explains their answers\n"
                                   << shown(history));
            }
        }
    }
    std::printf(
        "PostgreSQL, 4 processes of 4 threads: %zu requests judged, %zu of them met others\n", judged, concurrent);
    CHECK(judged == rounds(2, 100) * processes * threads * 12 * 6);
    CHECK(concurrent > judged / 4);
}
