// SPDX-License-Identifier: MIT
// Copyright (c) 2026 the entitable authors

#include <entitable/core/clock.hpp>
#include <entitable/core/platform.hpp>

#include <support/catch.hpp>

using namespace entitable;

TEST_CASE("the system clock is in this century and never goes backwards") {
    auto& time = system_clock();
    CHECK(&time == &system_clock());
    CHECK(time.now() > date_time::from_date(2020, 1, 1));
    CHECK(time.now() < date_time::from_date(2200, 1, 1));
    auto last = time.steady();
    for (int round = 0; round < 1000; ++round) {
        auto const next = time.steady();
        REQUIRE(next >= last);
        last = next;
    }
}

TEST_CASE("the system clock waits until the given time, and returns at once for a past time") {
    auto& time = system_clock();
    auto const until = time.steady() + std::chrono::milliseconds{3};
    time.wait_until(until);
    CHECK(time.steady() >= until);
    time.wait_until(until);
    time.wait_until(steady_time{});
    time.wait_until(time.steady());
}

TEST_CASE("sleeping for a zero duration and yielding return") {
    platform::sleep_for(std::chrono::nanoseconds{0});
    platform::sleep_for(std::chrono::nanoseconds{-1});
    platform::sleep_for(std::chrono::nanoseconds::min());
    platform::yield();
    auto const before = system_clock().steady();
    platform::sleep_for(std::chrono::microseconds{1500});
    CHECK(system_clock().steady() - before >= std::chrono::microseconds{1500});
}
