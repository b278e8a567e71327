// SPDX-License-Identifier: MIT
// Copyright (c) 2026 the entitable authors

// Random writes of a table with indexes with faults, in memory and in a file. The same on a server is in tests/server, on the
// emulator in tests/azurite, and with killed processes in tests/crash.

#include "histories.hpp"
#include "support/long.hpp"
#include "support/temporary_folder.hpp"
#include <entitable/file.hpp>
#include <entitable/memory.hpp>
#include <entitable/retrying.hpp>
#include <entitable/testing/manual_clock.hpp>

using namespace entitable;
using namespace marathon;
using entitable_test::rounds;
using entitable_test::temporary_folder;

namespace {

/// Faults at every request, with or without `retries`.
template <class Store>
void storms(Store const& store, std::size_t histories, bool retries) {
    stormy_history all;
    for (std::uint64_t seed = 1; seed <= histories; ++seed) {
        std::string const tag = (retries ? "r" : "s") + std::to_string(seed);
        testing::manual_clock time;
        testing::faulty const stormy{store, {.time = &time}};
        any_store through{stormy};
        if (retries) {
            retrying_options patient{.policy = retry_policy::fixed(3, std::chrono::milliseconds{1})};
            patient.quota = 0;
            patient.operation_rows = true;
            patient.time = &time;
            patient.seed = seed;
            through = retrying{stormy, patient};
        }
        auto const one =
            write_in_a_storm(stormy, open(through, tag, {.time = &time, .seed = seed}), open(store, tag), seed, 60);
        all.done += one.done;
        all.refused += one.refused;
        all.unknown += one.unknown;
        all.left += one.left;
    }
    std::printf("indexes in a storm%s: %zu histories, %zu done, %zu refused, %zu unknown, %zu rows were left over\n",
        retries ? ", with retries" : "", histories, all.done, all.refused, all.unknown, all.left);
    CHECK(all.done > histories * 5);
    CHECK((retries || all.left > 0));
}

} // namespace

TEST_CASE("index: every entity keeps its index rows despite faults of a store in memory") {
    storms(memory_backend{}, rounds(40, 5'000, 400), false);
    storms(memory_backend{}, rounds(20, 5'000, 200), true);
}

TEST_CASE("index: every entity keeps its index rows despite faults of a file") {
    temporary_folder const folder{temporary_folder::memory()};
    file_backend const store{folder / "runners.db"};
    storms(store, rounds(6, 500, 50), false);
    storms(store, rounds(4, 500, 30), true);
    write_beside_a_map(open(store, "x"), 7, rounds(60, 5'000));
}
