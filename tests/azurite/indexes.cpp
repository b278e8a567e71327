// SPDX-License-Identifier: MIT
// Copyright (c) 2026 the entitable authors

// Tables with indexes on the emulator: random writes compared with a map, with and without faults between client and emulator.

#include "emulator.hpp"
#include <entitable/testing/manual_clock.hpp>

#include <index/histories.hpp>
#include <support/long.hpp>

using namespace entitable;
using namespace marathon;

TEST_CASE("azurite: indexes are maintained") {
    if (!entitable_test::has_emulator()) { return; }
    any_store const service{entitable_test::emulator()};
    everything const runners = marathon::open(service, "indexes");
    static_cast<void>(runners.drop());
    write_beside_a_map(runners, 13, entitable_test::rounds(60, 2'000));
    for (std::uint64_t seed = 1; seed <= entitable_test::rounds(2, 50); ++seed) {
        std::string const tag = "storm" + std::to_string(seed);
        testing::manual_clock time;
        testing::faulty const stormy{service};
        everything const clean = marathon::open(service, tag);
        static_cast<void>(clean.drop());
        write_in_a_storm(stormy, marathon::open(stormy, tag, {.time = &time, .seed = seed}), clean, seed, 40);
    }
}
