// SPDX-License-Identifier: MIT
// Copyright (c) 2026 the entitable authors

// Writers of an announced table and the groups that follow it, in every order in which their requests can reach the store, with lost and
// late requests and programs that end. In every state, each change that a registered group has not processed must be announced and must be
// in the log. And the same with defects, each of which is detected.

#include "model/feed_world.hpp"

using namespace feed_world;

TEMPLATE_TEST_CASE("feed: writers and groups in every order", "", one_lane, with_lanes) {
    using all = std::vector<actor<TestType>>;
    for (all const& each : {
             all{writes<TestType>(2), writes<TestType>(3), follows<TestType>("a", 2)},
             all{writes<TestType>(1), removes<TestType>(1), follows<TestType>("a", 2)},
             all{writes<TestType>(2), joins<TestType>("b"), follows<TestType>("a", 2)},
             all{writes<TestType>(2, 2), follows<TestType>("a", 3)},
             all{writes<TestType>(2), joins<TestType>("b"), follows<TestType>("b", 2)},
             all{follows<TestType>("a", 2, std::chrono::minutes{1}), writes<TestType>(2), follows<TestType>("a", 2)},
             all{writes<TestType>(2), leaves<TestType>("a"), joins<TestType>("b")},
         }) {
        INFO(each[0].name << ", " << each[1].name);
        check_walk(walk<TestType>(each, quiet, 0, 100));
    }
}

TEMPLATE_TEST_CASE("feed: lost responses, late requests and programs that end", "", one_lane, with_lanes) {
    using all = std::vector<actor<TestType>>;
    for (auto const& limits : {lost, late, ends}) {
        check_walk(walk<TestType>(all{writes<TestType>(2), follows<TestType>("a", 2)}, limits, 0, 100));
        check_walk(walk<TestType>(all{writes<TestType>(2), writes<TestType>(3)}, limits, 0, 100));
        check_walk(walk<TestType>(all{joins<TestType>("b"), follows<TestType>("b", 2)}, limits, 0, 100));
    }
}

TEMPLATE_TEST_CASE(
    "feed: random histories of writers, workers and groups that join and leave", "", one_lane, with_lanes) {
    using all = std::vector<actor<TestType>>;
    testing::interleaving_limits const limits{.faults = 2, .late = 2, .twice = 1, .crashes = 2, .again = 1};
    auto const wait = std::chrono::minutes{1};
    for (all const& each : {
             all{writes<TestType>(2, 3), writes<TestType>(3, 2, "Bonn"), removes<TestType>(1),
                 follows<TestType>("a", 3, wait), follows<TestType>("a", 3), joins<TestType>("b"),
                 follows<TestType>("b", 3, wait)},
             all{writes<TestType>(2, 2), writes<TestType>(2, 2), joins<TestType>("b"), follows<TestType>("b", 2, wait),
                 leaves<TestType>("b"), follows<TestType>("a", 3, wait)},
         }) {
        std::uint64_t const first = entitable_test::first_history();
        std::uint64_t const end = first + entitable_test::histories(40, 25'000, 2'500);
        for (std::uint64_t seed = first; seed < end; ++seed) {
            entitable_test::tell_histories("feed", seed - first);
            auto const seen = walk(each, limits, seed);
            CAPTURE(seed, seen.schedule);
            REQUIRE(seen.problem == "");
        }
    }
}
