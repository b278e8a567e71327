// SPDX-License-Identifier: MIT
// Copyright (c) 2026 the entitable authors

#include "scripted.hpp"
#include <entitable/transport/any_transport.hpp>
#include <entitable/transport/run.hpp>

#include <support/catch.hpp>
#include <support/manual_clock.hpp>

#include <string>
#include <vector>

using namespace entitable;
using namespace entitable_test;
using namespace std::chrono_literals;

static_assert(operation<scripted>);
static_assert(transport<one_by_one>);
static_assert(answers_many<many_at_once, get_entity>);
static_assert(!answers_many<one_by_one, get_entity>);

namespace {

struct stage {
    manual_clock time;
    events log;
    call context;
    std::size_t most{};
    one_by_one plain{&log};
    many_at_once wide{{&log}, &most};
    steady_time start = time.steady();

    scripted does(std::string name, std::vector<script_step> script) {
        return {std::move(name), std::move(script), time, log};
    }
};

} // namespace

TEST_CASE("run sends, waits and finishes in the order of the operation") {
    stage on;
    auto work = on.does("a", {{"1"}, {"", on.start + 3ms}, {"2!"}, {"3"}});
    CHECK(run(work, on.plain, on.context, on.time) == "a finished");
    CHECK(on.log == events{"a1", "a1 answered", "a2!", "a2! not found", "a3", "a3 answered"});
    CHECK(on.time.steady() == on.start + 3ms);
}

TEST_CASE("run takes the result of an operation that has nothing to do") {
    stage on;
    auto work = on.does("a", {});
    CHECK(run(work, on.plain, on.context, on.time) == "a finished");
    CHECK(on.log.empty());
    CHECK(on.time.waits.empty());
}

TEST_CASE("run drives through any transport as well") {
    stage on;
    any_transport const any = on.plain;
    auto work = on.does("a", {{"1"}});
    CHECK(run(work, any, on.context, on.time) == "a finished");
    CHECK(on.log == events{"a1", "a1 answered"});
}

TEST_CASE("a wait sleeps in slices of 5 ms and no longer than asked") {
    stage on;
    CHECK(wait_until(on.start + 12ms, on.context, on.time));
    CHECK(on.time.waits == std::vector<steady_time>{on.start + 5ms, on.start + 10ms, on.start + 12ms});
    on.time.waits.clear();
    CHECK(wait_until(on.start, on.context, on.time));
    CHECK(wait_until(steady_time{}, on.context, on.time));
    CHECK(on.time.waits.empty());
}

TEST_CASE("a wait ends at the deadline, not after it") {
    stage on;
    on.context.deadline = on.start + 7ms;
    auto const waited = wait_until(on.start + 1h, on.context, on.time);
    CHECK(waited.error().code == error_code::deadline_exceeded);
    CHECK(on.time.steady() == on.start + 7ms);
}

TEST_CASE("a wait notices a cancellation at its next slice") {
    stage on;
    cancellation_source source;
    on.context.cancellation = source.token();
    on.time.on_wait = [&] {
        if (on.time.waits.size() == 2) {
            source.cancel();
        }
    };
    auto const waited = wait_until(on.start + 1h, on.context, on.time);
    CHECK(waited.error().code == error_code::cancelled);
    CHECK(on.time.waits.size() == 2);
}

TEST_CASE("a wait that is over succeeds, but not when the caller has gone") {
    stage on;
    on.context.deadline = on.start;
    CHECK(wait_until(on.start, on.context, on.time).error().code == error_code::deadline_exceeded);
}

TEST_CASE("run abandons an operation whose deadline passes while it waits") {
    stage on;
    on.context.deadline = on.start + 8ms;
    auto work = on.does("a", {{"1"}, {"", on.start + 20ms}, {"2"}});
    CHECK(run(work, on.plain, on.context, on.time) == "a stopped");
    CHECK(on.log == events{"a1", "a1 answered", "a abandoned: DeadlineExceeded"});
    CHECK(on.time.steady() == on.start + 8ms);
}

TEST_CASE("run abandons an operation that is cancelled while it waits") {
    stage on;
    cancellation_source source;
    on.context.cancellation = source.token();
    on.time.on_wait = [&] { source.cancel(); };
    auto work = on.does("a", {{"", on.start + 20ms}, {"1"}});
    CHECK(run(work, on.plain, on.context, on.time) == "a stopped");
    CHECK(on.log == events{"a abandoned: Cancelled"});
    CHECK(on.time.waits.size() == 1);
}

TEST_CASE("run goes on with an operation that survives being abandoned") {
    stage on;
    struct stubborn : scripted {
        using scripted::scripted;
        bool asked{};
        [[nodiscard]] next_step next() const { return asked ? next_step::done : next_step::wait; }
        [[nodiscard]] steady_time wakes_at() const { return steady_time::max(); }
        void abandon(error const&) { asked = true; }
        std::string finish() { return asked ? "cleaned up" : "not asked"; }
    } work{"a", {}, on.time, on.log};
    on.context.deadline = on.start;
    CHECK(run(work, on.plain, on.context, on.time) == "cleaned up");
}

TEST_CASE("run_many drives one by one where a transport can no better") {
    stage on;
    std::vector<scripted> work = {on.does("a", {{"1"}, {"2"}}), on.does("b", {{"1"}}), on.does("c", {})};
    run_many(std::span{work}, on.plain, 8, on.context, on.time);
    CHECK(on.log == events{"a1", "a1 answered", "b1", "b1 answered", "a2", "a2 answered"});
    for (auto& one : work) {
        CHECK(one.next() == next_step::done);
    }
    CHECK(work[0].finish() == "a finished");
}

TEST_CASE("run_many has as many requests under way as it is allowed, one of each operation") {
    stage on;
    std::vector<scripted> work;
    for (char name = 'a'; name < 'g'; ++name) {
        work.push_back(on.does(std::string(1, name), {{"1"}, {"2"}}));
    }
    run_many(std::span{work}, on.wide, 3, on.context, on.time);
    CHECK(on.most == 3);
    CHECK(on.log.size() == 2 * 2 * 6);
    // The latest of the first three is answered first, and then its place is taken by the next.
    CHECK(events(on.log.begin(), on.log.begin() + 4) == events{"c1", "c1 answered", "d1", "d1 answered"});

    on.log.clear();
    on.most = 0;
    std::vector<scripted> few = {on.does("x", {{"1"}, {"2"}}), on.does("y", {{"1"}})};
    run_many(std::span{few}, on.wide, 100, on.context, on.time);
    CHECK(on.most == 2);
}

TEST_CASE("run_many of nothing, or of what is done, does nothing") {
    stage on;
    std::vector<scripted> none;
    run_many(std::span{none}, on.plain, 4, on.context, on.time);
    run_many(std::span{none}, on.wide, 4, on.context, on.time);
    std::vector<scripted> done = {on.does("a", {})};
    run_many(std::span{done}, on.wide, 4, on.context, on.time);
    CHECK(on.log.empty());
    CHECK(on.time.waits.empty());
}

TEST_CASE("run_many waits for the first that wakes, and sends for it at once") {
    stage on;
    std::vector<scripted> work = {on.does("a", {{"", on.start + 4ms}, {"1"}}),
        on.does("b", {{"", on.start + 2ms}, {"1"}}), on.does("c", {{"1"}})};
    bool const wide = GENERATE(true, false);
    if (wide) {
        run_many(std::span{work}, on.wide, 2, on.context, on.time);
    } else {
        run_many(std::span{work}, on.plain, 2, on.context, on.time);
    }
    CHECK(on.log == events{"c1", "c1 answered", "b1", "b1 answered", "a1", "a1 answered"});
    CHECK(on.time.waits == std::vector<steady_time>{on.start + 2ms, on.start + 4ms});
}

TEST_CASE("run_many abandons all that are not done, for one and the same reason") {
    stage on;
    on.context.deadline = on.start + 1ms;
    std::vector<scripted> work = {
        on.does("a", {{"1"}}), on.does("b", {{"", on.start + 1h}}), on.does("c", {{"2"}, {"", on.start + 2h}, {"3"}})};
    run_many(std::span{work}, on.plain, 2, on.context, on.time);
    CHECK(on.log ==
        events{"a1", "a1 answered", "c2", "c2 answered", "b abandoned: DeadlineExceeded",
            "c abandoned: DeadlineExceeded"});
    CHECK(work[0].finish() == "a finished");
    CHECK(work[1].finish() == "b stopped");
    CHECK(work[2].finish() == "c stopped");
}
