// SPDX-License-Identifier: MIT
// Copyright (c) 2026 the entitable authors

// Workers whose messages are renewed, while handlers write under the same receipts, and others claim, fail and stop.

#include <entitable/entitable.hpp>
#include <entitable/memory.hpp>
#include <entitable/worker.hpp>

#include <support/catch.hpp>
#include <support/entities.hpp>

#include <atomic>
#include <thread>

using namespace entitable;
using namespace std::chrono_literals;
using entitable_test::job;

TEST_CASE("run_worker on threads: messages that are renewed while sagas record their steps are handled once") {
    memory_backend const store;
    table_queue<job> const queue{store, "jobs", {.lanes = 2, .visibility = 2s}};
    queue.create().value();
    for (std::int32_t number = 0; number < 8; ++number) { queue.enqueue({"a", number}).value(); }
    std::atomic<int> first{0};
    std::atomic<int> second{0};
    auto const steps = saga_for<job>("steps",
        step("one",
            [&](job const& one) -> result<void> {
                ++first;
                std::this_thread::sleep_for(one.number % 2 == 0 ? 2500ms : 10ms);
                return {};
            }),
        step("two", [&](job const& one) -> result<void> {
            ++second;
            std::this_thread::sleep_for(std::chrono::milliseconds{one.number * 100});
            return {};
        }));
    worker_report other;
    // A renewal is due every 20 ms or so: most of them meet a version that a step has written.
    worker_options const often{.threads = 4, .wait = 0s, .renew_after = 0.02};
    std::thread beside{[&] { other = run_worker(queue, steps, often).value(); }};
    auto const report = run_worker(queue, steps, often).value();
    beside.join();
    CHECK(report.handled + other.handled == 8);
    CHECK(report.lost + other.lost == 0);
    CHECK(first == 8);
    CHECK(second == 8);
}

TEST_CASE("run_worker on threads: handles stops, failures and errors at any moment") {
    memory_backend const store;
    table_queue<job> const queue{store, "jobs", {.lanes = 3, .max_deliveries = 1'000}};
    queue.create().value();
    std::vector<job> all;
    for (std::int32_t number = 0; number < 300; ++number) { all.push_back({"a", number}); }
    queue.enqueue_all(all).value();
    std::atomic<int> handled{0};
    std::atomic<int> calls{0};
    for (int turn = 0; handled < 300 && turn < 2'000; ++turn) {
        cancellation_source stop;
        std::thread later{[&stop, turn] {
            std::this_thread::sleep_for(std::chrono::microseconds{turn % 20 * 300});
            stop.cancel();
        }};
        auto const handle = [&](job const& one, work_context const&) -> result<void> {
            if (++calls % 11 == 0) { return failure{error_code::invalid_input, "no"}; }
            if (calls % 47 == 0) { throw one.number; }
            ++handled;
            return {};
        };
        try {
            static_cast<void>(
                run_worker(queue, handle, {.threads = 4, .stop = stop.token(), .wait = 0s, .retry = {}}).value());
        } catch (int) {
            // one of ours
        }
        later.join();
    }
    CHECK(handled == 300);
    auto const size = queue.approximate_size().value();
    CHECK(size.ready + size.held + size.dead_letters == 0);
}
