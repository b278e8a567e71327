// SPDX-License-Identifier: MIT
// Copyright (c) 2026 the entitable authors

// Ranges are split, moved and merged while clients work, in every order in which their requests can reach the stores, with late or lost
// requests and operators that end and are replaced; and worlds of many clients and operators, drawn from seeds.

#include "range_world.hpp"

using namespace shard_world;

namespace {

/// Walks through complete schedules that are drawn from seeds; in the long run also through all of the first states.
void check(range_order const& how, testing::interleaving_limits limits) {
    limits.life = 24h;
    std::size_t const schedules = entitable_test::rounds(6, 300, 40);
    for (std::uint64_t seed = 1; seed <= schedules; ++seed) {
        auto const seen = testing::random_interleaving([&how](testing::stage& on) { begin(on, how); }, limits, seed);
        CAPTURE(seed, seen.schedule);
        CHECK(seen.problem == "");
        CHECK(seen.complete);
    }
    if (limits.most_states = entitable_test::rounds(0, 20'000); limits.most_states > 0) {
        auto const seen = testing::interleavings([&how](testing::stage& on) { begin(on, how); }, limits);
        CAPTURE(seen.schedule, seen.states);
        CHECK(seen.problem == "");
    }
}

} // namespace

TEST_CASE("shard ranges: operators run, and resume, a split with a move and a merge") {
    for (bool const off_line : {false, true}) {
        for (range_order how : {splits(), merges()}) {
            how.off_line = off_line;
            check(how, {.faults = 1, .late = 1});
            check(how, {.faults = 0, .late = 1, .crashes = 1, .again = 1});
        }
    }
}

TEST_CASE("shard ranges: clients insert, read and scan during splits and merges") {
    for (client_body const& client : {client_body{inserts_both}, client_body{reads_upper}, client_body{scans_all}}) {
        for (range_order how : {splits(client), merges(client)}) {
            how.crowd = false;
            check(how, {.faults = 0, .late = 1});
            check(how, {.faults = 0, .late = 0, .crashes = 1, .again = 1});
            how.crowd = true;
            check(how, quiet);
        }
    }
}

TEST_CASE("shard ranges: one operator takes over another operator's work") {
    range_order how = merges();
    how.operators.push_back({move_to(1, "s2"), split_at("p", 1)});
    check(how, quiet);
    how.operators.back() = {merge_to(0, 1, "s2")};
    check(how, quiet);
    how = splits();
    how.operators.push_back({split_at("p"), merge_to(0, 1, "s2")});
    check(how, quiet);
}

TEST_CASE("shard ranges: an operator stops after any of its requests, another continues, and the first may resume") {
    std::size_t const stride = entitable_test::rounds(9, 1, 3);
    std::size_t walks = 0;
    std::vector<std::vector<task>> const all{{merge_to(0, 1, "s1")}, {move_to(0, "s1")},
        {split_at("c"), move_to(0, "s1")}, {split_at("p", 1)}, {move_to(1, "s2")},
        {merge_to(0, 1, "s2"), split_at("c")}};
    for (std::vector<task> const& first : all) {
        for (std::vector<task> const& other : all) {
            for (bool const goes_on : {false, true}) {
                range_order how;
                how.bounds = {"m"};
                how.operators = {first, other};
                how.off_line = walks % 3 == 0;
                CAPTURE(walks);
                CHECK(walk_of_turns(how, goes_on, walks % stride, stride) == "");
                ++walks;
            }
        }
    }
}

TEST_CASE("shard ranges: a client may be suspended at any step while anything happens") {
    auto const stride = static_cast<std::size_t>(entitable_test::rounds(13, 1));
    std::vector<task> const both{
        split_at("m"), move_to(1, "s1"), merge_to(0, 1, "s2"), split_at("c"), move_to(0, "s0")};
    for (client_body const& client : {client_body{inserts_both}, client_body{reads_upper}, client_body{scans_all}}) {
        range_order how;
        how.operators = {both};
        how.client = client;
        std::size_t runs = 0;
        for (bool const behind : {false, true}) {
            for (std::size_t own = behind ? 1 : 0;; ++own) {
                suspended seen;
                for (std::size_t others = own % stride; !seen.operator_ended; others += stride) {
                    seen = suspend(how, own, others, behind);
                    ++runs;
                    CAPTURE(own, others, behind);
                    REQUIRE(seen.problem == "");
                }
                if (seen.client_ended) { break; }
            }
        }
        CHECK(runs > 300 / stride);
    }
}

TEST_CASE("shard ranges: splits and merges are correct in random worlds with clients and two operators") {
    int done = 0;
    std::size_t steps = 0;
    std::uint64_t const worlds = entitable_test::rounds(60, 20'000, 300);
    for (std::uint64_t seed = 1; seed <= worlds; ++seed) {
        range_order how = drawn_from(seed);
        how.client = [](any_store const& way, entitable::clock& time, scene& all, int life) {
            (life % 3 == 0 ? inserts_both : life % 3 == 1 ? scans_all : reads_upper)(way, time, all, life);
        };
        how.done = &done;
        auto limits = limits_of_world(seed, 2'000);
        limits.twice = 0; // these clients have no operation rows
        auto const seen = testing::random_interleaving([&how](testing::stage& on) { begin(on, how); }, limits, seed);
        CAPTURE(seed, seen.schedule);
        CHECK(seen.problem == "");
        CHECK(seen.complete);
        steps += seen.states;
    }
    std::printf("shard ranges: %llu worlds, %d splits, moves and merges, %zu steps\n",
        static_cast<unsigned long long>(worlds), done, steps);
    CHECK(done > 100);
}
