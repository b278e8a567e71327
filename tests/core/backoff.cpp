// SPDX-License-Identifier: MIT
// Copyright (c) 2026 the entitable authors

#include <entitable/core/backoff.hpp>
#include <entitable/core/random.hpp>
#include <entitable/core/random_seed.hpp>

#include <support/catch.hpp>

#include <algorithm>
#include <cmath>
#include <limits>
#include <set>
#include <vector>

using namespace entitable;
using namespace std::chrono_literals;

TEST_CASE("backoff: applies factor, sum and cap in this order") {
    backoff const patient{.base = 30s, .least = 3s, .most = 90s};
    CHECK(patient.delay(1, 0.5) == 33s);
    CHECK(patient.delay(1, 0.0) == 27s);
    CHECK(patient.delay(2, 0.0) == 75s);
    CHECK(patient.delay(2, 0.5) == 90s);  // 93 s without the cap
    CHECK(patient.delay(2, 0.49) == 90s); // 92.64 s without it, 89.64 s of them above the minimum
    CHECK(patient.delay(3, 0.0) == 90s);
    backoff const quick{.base = 100ms, .least = 10ms, .most = 10s};
    CHECK(quick.delay(1, 0.5) == 110ms);
    CHECK(quick.delay(2, 0.5) == 310ms);
    CHECK(quick.delay(3, 0.5) == 710ms);
    CHECK(quick.delay(7, 0.5) == 10s);
}

TEST_CASE("backoff: the wait can be constant") {
    backoff const same{.least = 2s, .most = 2s};
    for (std::uint64_t const repetition : {1U, 2U, 64U, 1'000'000U}) {
        CHECK(same.delay(repetition, 0.0) == 2s);
        CHECK(same.delay(repetition, 0.999) == 2s);
    }
    CHECK(backoff{}.delay(5, 0.5) == 0s);
}

TEST_CASE("backoff: the millionth repetition waits exactly as long as the cap") {
    backoff const day{.base = 1ns, .least = 0ns, .most = 24h};
    for (std::uint64_t const repetition : {61U, 62U, 63U, 64U, 65U, 1'000'000U}) {
        CHECK(day.delay(repetition, 0.0) == 24h);
        CHECK(day.delay(repetition, 0.999) == 24h);
    }
    CHECK(day.delay(std::numeric_limits<std::uint64_t>::max(), 0.5) == 24h);
}

TEST_CASE("backoff: a million draws of each jitter stay within bounds") {
    struct shape {
        char const* name;
        backoff delays;
        std::uint64_t repetition;
    };
    shape const shapes[] = {{"patient", {.base = 30s, .least = 3s, .most = 90s}, 1},
        {"quick", {.base = 50ms, .least = 10ms, .most = 2s}, 3}, {"late", {.base = 1ms, .least = 1ms, .most = 1h}, 20},
        {"at the cap", {.base = 50ms, .least = 10ms, .most = 2s, .jitter = 0.2, .jitter_at_cap = true}, 40}};
    for (shape const& each : shapes) {
        CAPTURE(each.name);
        bool const capped = each.delays.jitter_at_cap;
        double const least = capped ? 0 : static_cast<double>(each.delays.least.count());
        double const steps = std::pow(2, static_cast<double>(each.repetition)) - 1;
        double const middle = capped ? 1.8e9 : static_cast<double>(each.delays.base.count()) * steps;
        double const width = capped ? 0.2e9 : 0.2 * middle;
        random_source random{7};
        constexpr std::size_t count = 1'000'000;
        double sum = 0;
        std::size_t outside = 0, low = 0, high = 0;
        for (std::size_t index = 0; index < count; ++index) {
            auto const drawn = static_cast<double>(each.delays.delay(each.repetition, random.unit()).count()) - least;
            sum += drawn;
            outside += drawn < middle - width - 1 || drawn > middle + width + 1 ? 1U : 0U;
            low += drawn < middle - 0.98 * width ? 1U : 0U; // the lowest hundredth of the range
            high += drawn > middle + 0.98 * width ? 1U : 0U;
        }
        CHECK(outside == 0);
        CHECK(std::abs(sum / count - middle) < 0.005 * middle);
        CHECK(low > count / 100 * 9 / 10);
        CHECK(high > count / 100 * 9 / 10);
        CHECK(low < count / 100 * 11 / 10);
        CHECK(high < count / 100 * 11 / 10);
    }
}

TEST_CASE("backoff: refuses values out of range") {
    auto const refused = [](backoff const& given) {
        auto const checked = given.validate();
        return !checked && checked.error().code == error_code::out_of_range_input;
    };
    CHECK(backoff{}.validate());
    CHECK(backoff{.base = 1s, .least = 1s, .most = 1s}.validate());
    CHECK(backoff{.most = 24h, .jitter = 1}.validate());
    CHECK(refused({.base = -1ns, .most = 1s}));
    CHECK(refused({.least = -1ns, .most = 1s}));
    CHECK(refused({.least = 2s, .most = 1s}));
    CHECK(refused({.base = 2s, .most = 1s}));
    CHECK(refused({.most = 24h + 1ns}));
    CHECK(refused({.most = 1s, .jitter = -0.01}));
    CHECK(refused({.most = 1s, .jitter = 1.01}));
    CHECK(refused({.most = 1s, .jitter = std::nan("")}));
}

TEST_CASE("random_source: the same seed gives the same numbers") {
    random_source first{42};
    random_source second{42};
    random_source other{43};
    CHECK(first.bits() == 13679457532755275413U); // SplitMix64 of 42
    CHECK(second.bits() == 13679457532755275413U);
    CHECK(first.bits() == second.bits());
    CHECK(other.bits() != 13679457532755275413U);
    for (int round = 0; round < 1000; ++round) {
        double const unit = first.unit();
        CHECK((unit >= 0 && unit < 1));
    }
}

TEST_CASE("random_seed: does not repeat") {
    std::set<std::uint64_t> seeds;
    for (int round = 0; round < 100; ++round) { seeds.insert(random_seed()); }
    CHECK(seeds.size() == 100);
}
