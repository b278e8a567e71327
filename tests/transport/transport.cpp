// SPDX-License-Identifier: MIT
// Copyright (c) 2026 the entitable authors

#include <entitable/transport/transport.hpp>

#include <support/catch.hpp>
#include <support/manual_clock.hpp>

#include <string>

using namespace entitable;
using namespace std::chrono_literals;

TEST_CASE("a call may start until it is cancelled or its deadline is reached") {
    entitable_test::manual_clock time;
    CHECK(check_call({}, time));

    call context;
    context.deadline = time.steady() + 1ns;
    CHECK(check_call(context, time));
    time.advance(1ns);
    CHECK(check_call(context, time).error().code == error_code::deadline_exceeded);
    time.advance(1h);
    CHECK(check_call(context, time).error().code == error_code::deadline_exceeded);

    cancellation_source source;
    call cancellable;
    cancellable.cancellation = source.token();
    CHECK(check_call(cancellable, time));
    source.cancel();
    auto const refused = check_call(cancellable, time);
    CHECK(refused.error().code == error_code::cancelled);
    CHECK(refused.error().effect == effect::none);
    CHECK(refused.error().http_status == 0);
}

TEST_CASE("of two reasons to stop, the caller's word comes first") {
    entitable_test::manual_clock time;
    cancellation_source source;
    source.cancel();
    call context;
    context.cancellation = source.token();
    context.deadline = time.steady();
    CHECK(check_call(context, time).error().code == error_code::cancelled);
}
