// SPDX-License-Identifier: MIT
// Copyright (c) 2026 the entitable authors

#include <entitable/core/transport/contention.hpp>
#include <entitable/testing/manual_clock.hpp>

#include <support/catch.hpp>

#include <vector>

using namespace entitable;
using namespace std::chrono_literals;
using detail::contention;

namespace {

constexpr backoff doubling{.base = 10ms, .least = {}, .most = 1h, .jitter = 0};

/// Records the waits that are reported.
struct watcher : observer {
    std::vector<wait_record> waits;
    void on_wait(wait_record const& record) noexcept override { waits.push_back(record); }
};

} // namespace

TEST_CASE("the delays grow with the number of attempts", "[transport]") {
    contention rivals{4, doubling};
    steady_time const now{1h};
    CHECK(rivals.attempt() == 1);
    CHECK(rivals.next(0.5, now) == now + 10ms);
    CHECK(rivals.next(0.5, now) == now + 30ms);
    CHECK(rivals.next(0.5, now) == now + 70ms);
    CHECK(rivals.attempt() == 4);
}

TEST_CASE("an attempt that begins at once is counted", "[transport]") {
    contention rivals{3, doubling};
    rivals.next_at_once();
    CHECK(rivals.attempt() == 2);
    CHECK(rivals.next(0.5, {}) == steady_time{} + 30ms);
    CHECK(rivals.is_last());
}

TEST_CASE("the last attempt is recognized before it ends", "[transport]") {
    CHECK(contention{0, doubling}.is_last());
    CHECK(contention{1, doubling}.is_last());
    contention rivals{2, doubling};
    CHECK_FALSE(rivals.is_last());
    rivals.next_at_once();
    CHECK(rivals.is_last());
    failure lost = rivals.lost(error{error_code::update_condition_not_satisfied, "refused"});
    CHECK(lost.error().message == "refused; lost to other writers 2 times");
    CHECK(lost.error().attempts == 2);
    CHECK(lost.error().code == error_code::update_condition_not_satisfied);
}

TEST_CASE("a wait ends at its time and is reported", "[transport]") {
    testing::manual_clock time;
    watcher watch;
    call context;
    context.watch = &watch;
    contention rivals{3, doubling};
    steady_time const begun = time.steady();
    REQUIRE(rivals.wait(0.5, context, time));
    CHECK(time.steady() == begun + 10ms);
    CHECK(rivals.attempt() == 2);
    REQUIRE(watch.waits.size() == 1);
    CHECK(watch.waits.front().cause == wait_cause::contention);
}

TEST_CASE("a wait ends with the deadline or the cancellation of its call", "[transport]") {
    testing::manual_clock time;
    contention rivals{3, doubling};
    call late;
    late.deadline = time.steady() + 5ms;
    auto const over = rivals.wait(0.5, late, time);
    REQUIRE_FALSE(over);
    CHECK(over.error().code == error_code::deadline_exceeded);
    cancellation_source stop;
    stop.cancel();
    call stopped;
    stopped.cancellation = stop.token();
    auto const cancelled = rivals.wait(0.5, stopped, time);
    REQUIRE_FALSE(cancelled);
    CHECK(cancelled.error().code == error_code::cancelled);
}

TEST_CASE("a restart begins with the first attempt and its delay", "[transport]") {
    contention rivals{2, doubling};
    std::chrono::nanoseconds const first = rivals.delay(0.5);
    CHECK(rivals.is_last());
    rivals.restart();
    CHECK(rivals.attempt() == 1);
    CHECK_FALSE(rivals.is_last());
    CHECK(rivals.delay(0.5) == first);
}

TEST_CASE("a lost response is waited for 2 ms, then twice as long each time, at most a second, in 50 attempts",
    "[transport]") {
    contention sends{detail::most_resends, detail::resend_backoff};
    std::size_t waits = 0;
    for (; !sends.is_last(); ++waits) {
        auto const expected =
            std::min(std::chrono::milliseconds{1000}, std::chrono::milliseconds{std::int64_t{2} << waits});
        CHECK(sends.delay(0.7) == expected); // without a jitter
    }
    CHECK(waits == 49);
}
