// SPDX-License-Identifier: MIT
// Copyright (c) 2026 the entitable authors

// Comparisons of fields of type `date_time` with times of the system clock.

#include <entitable/entitable.hpp>
#include <entitable/memory.hpp>

#include <support/catch.hpp>

#include <chrono>

using namespace entitable;
using namespace std::chrono_literals;

namespace times_test {

struct measurement {
    std::string device;
    date_time at;
    std::optional<date_time> sent;
};
ENTITABLE(measurement,
    partition_key(device),
    row_key(at),
    properties(sent))

using r = fields<measurement>;

template <class Predicate>
std::string plan_of(table<measurement> const& readings, Predicate const& where) {
    return readings.where(r::device == "a" && where).explain().value().to_string();
}

} // namespace times_test
using namespace times_test;

TEST_CASE("a comparison with a time of the system clock equals a comparison with the same date_time") {
    table<measurement> const readings{memory_backend{}, "readings"};
    auto const clock = std::chrono::sys_days{std::chrono::year{2026} / 1 / 1} + 1ns; // rounded down to 100 ns
    auto const time = date_time::from_date(2026, 1, 1);
    CHECK(plan_of(readings, r::at == clock) == plan_of(readings, r::at == time));
    CHECK(plan_of(readings, r::at != clock) == plan_of(readings, r::at != time));
    CHECK(plan_of(readings, r::at < clock) == plan_of(readings, r::at < time));
    CHECK(plan_of(readings, r::at <= clock) == plan_of(readings, r::at <= time));
    CHECK(plan_of(readings, r::at > clock) == plan_of(readings, r::at > time));
    CHECK(plan_of(readings, r::at >= clock) == plan_of(readings, r::at >= time));
    CHECK(plan_of(readings, clock < r::at) == plan_of(readings, r::at > time));
    CHECK(plan_of(readings, clock == r::at) == plan_of(readings, r::at == time));
    CHECK(plan_of(readings, r::sent >= clock) == plan_of(readings, r::sent >= time));
    CHECK(plan_of(readings, clock != r::sent) == plan_of(readings, r::sent != time));
    CHECK(plan_of(readings, between(r::at, clock, clock + 24h)) == plan_of(readings, between(r::at, time, time + 24h)));
    STATIC_REQUIRE(decltype(readings.where(r::device == "a" && r::at >= clock))::access == access_path::row_range);
    STATIC_REQUIRE(decltype(readings.where(r::device == "a" && r::at == clock))::access == access_path::point);
}

TEST_CASE("a range of times finds entities whose times came from the system clock") {
    table<measurement> const readings{memory_backend{}, "readings"};
    readings.create().value();
    auto const start = std::chrono::system_clock::now();
    for (int minute = 0; minute < 10; ++minute) {
        auto const at = date_time::from_system(start) + std::chrono::minutes{minute};
        readings.insert({"a", at, minute % 2 == 0 ? std::optional{at + 1s} : std::nullopt}).value();
    }
    auto const of_a = r::device == "a";
    CHECK(readings.where(of_a && r::at == start).count().value() == 1);
    CHECK(readings.where(of_a && r::at >= start).count().value() == 10);
    CHECK(readings.where(of_a && r::at > start).count().value() == 9);
    CHECK(readings.where(of_a && r::at < start + 5min).count().value() == 5);
    CHECK(readings.where(of_a && r::sent < start + 5min).count().value() == 3);
    // Times in days reach the limits of the service, also if the clock counts nanoseconds.
    CHECK(
        readings.where(of_a && r::at < std::chrono::sys_days{std::chrono::year{9999} / 12 / 31}).count().value() == 10);
    CHECK(readings.where(of_a && r::at > std::chrono::sys_days{std::chrono::year{1601} / 1 / 1}).count().value() == 10);
    CHECK(readings.where(of_a && r::at >= date_time::parse_date("2200-01-01").value()).count().value() == 0);
}
