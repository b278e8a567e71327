// SPDX-License-Identifier: MIT
// Copyright (c) 2026 the entitable authors

// Tables with indexes over REST to a server: random writes compared with a map, with and without faults between client and server.

#include "served.hpp"
#include <entitable/memory.hpp>
#include <entitable/testing/manual_clock.hpp>

#include <index/histories.hpp>
#include <support/long.hpp>

using namespace entitable;
using namespace marathon;

TEST_CASE("index: random writes over REST to a server match a map") {
    any_store const served{entitable_test::served(memory_backend{})};
    write_beside_a_map(marathon::open(served, "m"), 11, entitable_test::rounds(60, 5'000));
    for (std::uint64_t seed = 1; seed <= entitable_test::rounds(3, 300); ++seed) {
        std::string const tag = "s" + std::to_string(seed);
        testing::manual_clock time;
        testing::faulty const stormy{served};
        write_in_a_storm(
            stormy, marathon::open(stormy, tag, {.time = &time, .seed = seed}), marathon::open(served, tag), seed, 40);
    }
}
