// SPDX-License-Identifier: MIT
// Copyright (c) 2026 the entitable authors

// Thousands of runs of a simulated service with faults. A run that fails prints its seed; ENTITABLE_FAULT_SEED=seed runs
// that one only.

#include "simulation.hpp"

#include <entitable/file.hpp>
#include <entitable/memory.hpp>

#include <support/catch.hpp>
#include <support/long.hpp>
#include <unistd.h>

#include <cstdlib>
#include <filesystem>

using namespace entitable_test;

namespace {

report run_in_memory(std::uint64_t seed, std::size_t operations) {
    testing::manual_clock time{date_time::from_date(2026, 1, 1)};
    local_options options;
    options.time = &time;
    options.nasty.emplace();
    options.nasty->seed = seed;
    return simulation<memory_backend>{seed, memory_backend{options}, time, "Table"}.run(operations);
}

/// Runs the seeds, adds up the events, and reports the first problem.
template <class Run>
report run_all(std::size_t seeds, Run const& run) {
    char const* const only = std::getenv("ENTITABLE_FAULT_SEED");
    std::uint64_t const first = only != nullptr ? std::strtoull(only, nullptr, 10) : 1;
    report sum;
    for (std::uint64_t seed = first; seed < first + (only != nullptr ? 1 : seeds) && sum.problem.empty(); ++seed) {
        report const one = run(seed);
        if (!one.problem.empty()) { sum.problem = "seed " + std::to_string(seed) + ": " + one.problem; }
        for (auto const& [name, count] : one.happened) { sum.happened[name] += count; }
        sum.requests += one.requests;
        sum.succeeded += one.succeeded;
        sum.failed += one.failed;
        sum.unknown += one.unknown;
        sum.after_retry += one.after_retry;
        sum.settled += one.settled;
        sum.numbers += one.numbers;
    }
    return sum;
}

/// A run with too few faults proves too little.
void check_work(report const& sum, std::size_t seeds) {
    if (std::getenv("ENTITABLE_FAULT_SEED") != nullptr) { return; }
    CHECK(sum.requests > 230 * seeds);
    CHECK(sum.succeeded > 40 * seeds);
    CHECK(sum.failed > 40 * seeds);
    CHECK(sum.unknown > 2 * seeds);
    CHECK(sum.after_retry > seeds);
    CHECK(sum.settled > seeds / 10);
    CHECK(sum.numbers > 10 * seeds);
    CHECK(sum.happened.size() == 14);
    for (auto const& [name, count] : sum.happened) {
        CAPTURE(name);
        CHECK(count > seeds);
    }
}

} // namespace

TEST_CASE("simulation: in memory the answers to clients match the stored state") {
    std::size_t const seeds = rounds(40, 20'000, 5'000);
    report const sum = run_all(seeds, [](std::uint64_t seed) { return run_in_memory(seed, 200); });
    CHECK(sum.problem == "");
    check_work(sum, seeds);
}

TEST_CASE("simulation: with a file store, answers to clients match the stored state") {
    std::size_t const seeds = rounds(12, 2'000, 300);
    auto const path = std::filesystem::temp_directory_path() / ("entitable_faults_" + std::to_string(::getpid()));
    testing::manual_clock time{date_time::from_date(2026, 1, 1)};
    {
        file_options options;
        options.durability = durability::relaxed;
        options.local.time = &time;
        file_backend const store{path.string(), options};
        report const sum = run_all(seeds, [&](std::uint64_t seed) {
            std::string const table = "Table" + std::to_string(seed);
            auto told = simulation<file_backend>{seed, store, time, table}.run(200);
            call own;
            (void)store.execute(delete_table{table}, own);
            return told;
        });
        CHECK(sum.problem == "");
        check_work(sum, seeds);
    }
    for (char const* suffix : {"", "-wal", "-shm", "-lock", "-journal"}) {
        std::filesystem::remove(path.string() + suffix);
    }
}

TEST_CASE("simulation: the same seed gives the same trace") {
    std::set<std::uint64_t> traces;
    for (std::uint64_t seed = 1; seed <= 25; ++seed) {
        report const first = run_in_memory(seed, 100);
        report const second = run_in_memory(seed, 100);
        CHECK(first.trace == second.trace);
        CHECK(first.lasted == second.lasted);
        traces.insert(first.trace);
    }
    CHECK(traces.size() == 25);
}
