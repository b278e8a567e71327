// SPDX-License-Identifier: MIT
// Copyright (c) 2026 the entitable authors

#include "scripted.hpp"
#include <entitable/core/transport/any_store.hpp>
#include <entitable/core/transport/run.hpp>

#include <support/catch.hpp>
#include <support/manual_clock.hpp>

#include <string>
#include <vector>

using namespace entitable;
using namespace entitable_test;
using namespace std::chrono_literals;

static_assert(operation<scripted>);
static_assert(transport<one_by_one>);

namespace {

struct stage {
    manual_clock time;
    events log;
    call context;
    one_by_one plain{&log};
    steady_time start = time.steady();

    scripted does(std::string name, std::vector<script_step> script) {
        return {std::move(name), std::move(script), log};
    }
};

} // namespace

TEST_CASE("run() sends, waits and finishes in the order of the operation") {
    stage on;
    auto work = on.does("a", {{"1"}, {"", on.start + 3ms}, {"2!"}, {"3"}});
    CHECK(run(work, on.context, on.time, on.plain) == "a finished");
    CHECK(on.log == events{"a1", "a1 answered", "a2!", "a2! not found", "a3", "a3 answered"});
    CHECK(on.time.steady() == on.start + 3ms);
}

TEST_CASE("run() returns the result of an operation that has nothing to do") {
    stage on;
    auto work = on.does("a", {});
    CHECK(run(work, on.context, on.time, on.plain) == "a finished");
    CHECK(on.log.empty());
    CHECK(on.time.waits.empty());
}

TEST_CASE("run() works with any_store") {
    stage on;
    any_store const any = on.plain;
    auto work = on.does("a", {{"1"}});
    CHECK(run(work, on.context, on.time, any) == "a finished");
    CHECK(on.log == events{"a1", "a1 answered"});
}

TEST_CASE("a wait sleeps in slices of 5 ms and no longer than requested") {
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
        if (on.time.waits.size() == 2) { source.cancel(); }
    };
    auto const waited = wait_until(on.start + 1h, on.context, on.time);
    CHECK(waited.error().code == error_code::cancelled);
    CHECK(on.time.waits.size() == 2);
}

TEST_CASE("a wait that has ended succeeds unless the caller was cancelled") {
    stage on;
    on.context.deadline = on.start;
    CHECK(wait_until(on.start, on.context, on.time).error().code == error_code::deadline_exceeded);
}

TEST_CASE("run() abandons an operation whose deadline passes while it waits") {
    stage on;
    on.context.deadline = on.start + 8ms;
    auto work = on.does("a", {{"1"}, {"", on.start + 20ms}, {"2"}});
    CHECK(run(work, on.context, on.time, on.plain) == "a stopped");
    CHECK(on.log == events{"a1", "a1 answered", "a abandoned: DeadlineExceeded"});
    CHECK(on.time.steady() == on.start + 8ms);
}

TEST_CASE("run() abandons an operation that is cancelled while it waits") {
    stage on;
    cancellation_source source;
    on.context.cancellation = source.token();
    on.time.on_wait = [&] { source.cancel(); };
    auto work = on.does("a", {{"", on.start + 20ms}, {"1"}});
    CHECK(run(work, on.context, on.time, on.plain) == "a stopped");
    CHECK(on.log == events{"a abandoned: Cancelled"});
    CHECK(on.time.waits.size() == 1);
}

TEST_CASE("run() continues an operation that handles being abandoned") {
    stage on;
    struct stubborn : scripted {
        using scripted::scripted;
        bool asked{};
        get_entity never;
        [[nodiscard]] operation_step next() const {
            return asked ? operation_step{} : operation_step{never, steady_time::max()};
        }
        void abandon(error const&) { asked = true; }
        std::string finish() { return asked ? "cleaned up" : "not asked"; }
    } work{"a", {}, on.log};
    on.context.deadline = on.start;
    CHECK(run(work, on.context, on.time, on.plain) == "cleaned up");
}

TEST_CASE("run() sends each step to its place") {
    stage on;
    events other;
    one_by_one second{&other};
    auto work = on.does("a", {{"1"}, {"2", {}, 1}, {"3!", {}, 1}, {"4"}});
    CHECK(run(work, on.context, on.time, on.plain, second) == "a finished");
    CHECK(other == events{"a2", "a3!"});
    CHECK(on.log == events{"a1", "a1 answered", "a2 answered", "a3! not found", "a4", "a4 answered"});
}

TEST_CASE("run() abandons an operation that sends to a missing place, and sends nothing elsewhere") {
    stage on;
    events other;
    one_by_one second{&other};
    auto alone = on.does("a", {{"1", {}, 1}});
    CHECK(run(alone, on.context, on.time, on.plain) == "a stopped");
    auto beyond = on.does("b", {{"1", {}, 2}});
    CHECK(run(beyond, on.context, on.time, on.plain, second) == "b stopped");
    CHECK(on.log == events{"a abandoned: InternalError", "b abandoned: InternalError"});
    CHECK(other.empty());
}

TEST_CASE("run() abandons an operation that does not accept the answer to its request") {
    struct deaf {
        get_entity request{};
        bool stopped{};
        [[nodiscard]] operation_step next() const { return stopped ? operation_step{} : operation_step{request}; }
        void abandon(error const& why) { stopped = why.code == error_code::internal_error; }
        [[nodiscard]] bool finish() const { return stopped; }
    } work;
    stage on;
    CHECK(run(work, on.context, on.time, on.plain));
    CHECK(on.log.empty());
}
