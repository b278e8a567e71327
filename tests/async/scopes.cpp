// SPDX-License-Identifier: MIT
// Copyright (c) 2026 the entitable authors

#include <entitable/testing/manual_clock.hpp>

#include <async/books.hpp>
#include <support/catch.hpp>

#include <memory>

using namespace entitable;
using namespace std::chrono_literals;

namespace {

task<result<std::string>> after(event_loop& loop, std::chrono::nanoseconds time, std::string name) {
    ENTITABLE_CO_CHECK(co_await sleep_for(loop, time));
    co_return name;
}

task<result<std::string>> all(event_loop& loop, int count) {
    std::vector<task<result<std::string>>> parts;
    for (int each = 0; each < count; ++each) {
        parts.push_back(after(loop, std::chrono::seconds{count - each}, std::to_string(each)));
    }
    std::string joined;
    for (auto& each : co_await when_all(std::move(parts))) {
        ENTITABLE_CO_TRY(std::string const name, std::move(each));
        joined += name;
    }
    auto [first, second] = co_await when_all(after(loop, 1s, "a"), after(loop, 2s, "b"));
    co_return joined + first.value() + second.value();
}

task<result<std::string>> any(event_loop& loop) {
    std::vector<task<result<std::string>>> parts;
    parts.push_back(after(loop, 3s, "slow"));
    parts.push_back(after(loop, 1s, "quick"));
    auto first = co_await when_any(loop, std::move(parts));
    CHECK(first.index == 1);
    ENTITABLE_CO_CHECK(co_await sleep_for(loop, 1s)); // outside the scope that was ended
    co_return std::move(first.value);
}

task<result<std::string>> timed(event_loop& loop, std::chrono::nanoseconds limit) {
    auto inner = co_await with_timeout(loop, limit, after(loop, 5s, "in time"));
    ENTITABLE_CO_CHECK(co_await sleep_for(loop, 1s));
    co_return inner ? std::move(inner) : result<std::string>{std::string{to_string(inner.error().code)}};
}

task<result<std::string>> nested(event_loop& loop) { co_return co_await with_timeout(loop, 2s, timed(loop, 10s)); }

task<result<void>> few_at_once(event_loop& loop, async_semaphore& limit, int& now, int& most) {
    ENTITABLE_CO_TRY(auto const permit, co_await limit.acquire());
    most = std::max(most, ++now);
    auto slept = co_await sleep_for(loop, 1s);
    --now;
    co_return slept;
}

task<> rethrown(event_loop& loop) {
    (void)co_await sleep_for(loop, 1s);
    throw std::runtime_error{"left a task"};
}
task<> throws_in_group(event_loop& loop) {
    std::vector<task<>> parts;
    parts.push_back(rethrown(loop));
    parts.push_back(rethrown(loop));
    co_await when_all(std::move(parts));
}

struct timeless {
    testing::manual_clock time;
    steady_time const begun{time.steady()};
    event_loop loop{{.time = &time, .letters = false}};

    [[nodiscard]] auto passed() { return time.steady() - begun; }
};

} // namespace

TEST_CASE("when_all() waits for the last task and keeps the order") {
    timeless at;
    CHECK(at.loop.run(all(at.loop, 4)).value() == "0123ab");
    CHECK(at.passed() == 6s);
    CHECK_THROWS_WITH(at.loop.run(throws_in_group(at.loop)), "left a task");
}

TEST_CASE("when_any() cancels the other tasks and waits for them to end") {
    timeless at;
    CHECK(at.loop.run(any(at.loop)).value() == "quick");
    CHECK(at.passed() == 2s); // no task waited for the slow one
}

TEST_CASE("with_timeout() ends the waits of its own task and no others") {
    timeless at;
    CHECK(at.loop.run(timed(at.loop, 10s)).value() == "in time");
    CHECK(at.passed() == 6s);
    CHECK(at.loop.run(timed(at.loop, no_timeout)).value() == "in time");
    CHECK(at.passed() == 12s);
    CHECK(at.loop.run(timed(at.loop, 3s)).value() == "DeadlineExceeded");
    CHECK(at.passed() == 16s);
    auto const outer = at.loop.run(nested(at.loop)); // the outer timeout
    REQUIRE_FALSE(outer);
    CHECK(outer.error().code == error_code::deadline_exceeded);
    CHECK(at.passed() == 18s);
}

TEST_CASE("a semaphore admits as many tasks as it has permits, in order of arrival") {
    timeless at;
    async_semaphore limit{at.loop, 3};
    int now = 0;
    int most = 0;
    for (int each = 0; each < 10; ++each) { at.loop.spawn(few_at_once(at.loop, limit, now, most)); }
    at.loop.run();
    CHECK(most == 3);
    CHECK(now == 0);
    CHECK(at.passed() == 4s);
    CHECK_FALSE(at.loop.error());
    for (int each = 0; each < 10; ++each) { at.loop.spawn(few_at_once(at.loop, limit, now, most)); }
    CHECK(at.loop.turn());
    at.loop.stop();
    at.loop.run();
    CHECK(now == 0);
    REQUIRE(at.loop.error());
    CHECK(at.loop.error()->code == error_code::cancelled);
    CHECK(at.passed() == 4s);
}

TEST_CASE("tasks that wait for timers and permits are destroyed with their loop") {
    testing::manual_clock time;
    int now = 0;
    int most = 0;
    auto loop = std::make_unique<event_loop>(loop_options{.time = &time, .letters = false});
    async_semaphore limit{*loop, 1};
    for (int each = 0; each < 3; ++each) { loop->spawn(few_at_once(*loop, limit, now, most)); }
    loop->spawn([](event_loop& in) -> task<> { (void)co_await nested(in); }(*loop));
    CHECK(loop->turn());
    loop.reset();
    CHECK(most == 1);
}
