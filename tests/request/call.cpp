// SPDX-License-Identifier: MIT
// Copyright (c) 2026 the entitable authors

#include <entitable/core/request/call.hpp>

#include <support/catch.hpp>
#include <support/manual_clock.hpp>

#include <limits>

using namespace entitable;
using namespace std::chrono_literals;

TEST_CASE("a default-constructed call has no deadline and cannot be cancelled") {
    call const plain;
    CHECK(plain.deadline == no_deadline);
    CHECK_FALSE(plain.cancellation.cancelled());
    CHECK(plain.location == read_location::primary);
    CHECK(plain.watch == nullptr);
    CHECK(plain.attempts == 0);
    CHECK(plain.request_ids.empty());
    CHECK(plain.server_date == date_time{});
    CHECK(call{call_options{}}.deadline == no_deadline);
}

TEST_CASE("a call applies the options of its caller") {
    struct silent final : observer {
    } watching;
    cancellation_source source;
    call_options options;
    options.cancellation = source.token();
    options.location = read_location::secondary;
    options.watch = &watching;
    call const context{options};
    CHECK(context.location == read_location::secondary);
    CHECK(context.watch == &watching);
    source.cancel();
    CHECK(context.cancellation.cancelled());
}

TEST_CASE("a timeout counts from the start of the call on the given clock") {
    entitable_test::manual_clock time;
    time.advance(10s);
    call_options options;
    options.timeout = 250ms;
    CHECK(call{options, time}.deadline == time.steady() + 250ms);
    options.timeout = 0s;
    CHECK(call{options, time}.deadline == time.steady());
    options.timeout = -1s;
    CHECK(call{options, time}.deadline == time.steady() - 1s);
}

TEST_CASE("a timeout beyond the clock's range becomes the latest deadline that the clock can represent") {
    entitable_test::manual_clock time;
    time.advance(10s);
    call_options options;
    options.timeout = std::chrono::nanoseconds::max() - 1ns;
    CHECK(call{options, time}.deadline == steady_time::max());
    options.timeout = std::chrono::nanoseconds::min();
    CHECK(call{options, time}.deadline < time.steady());
}
