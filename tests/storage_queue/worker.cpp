// SPDX-License-Identifier: MIT
// Copyright (c) 2026 the entitable authors

// run_worker over a queue of Queue Storage, whose receipts change with each renewal.

#include <entitable/azure_queue.hpp>
#include <entitable/testing/manual_clock.hpp>
#include <entitable/worker.hpp>

#include <support/catch.hpp>
#include <support/entities.hpp>
#include <support/fake_queue_service.hpp>

#include <atomic>
#include <mutex>
#include <thread>

using namespace entitable;
using namespace entitable_test;
using namespace std::chrono_literals;

namespace {

/// The service for several threads, which counts renewals.
struct guarded_service {
    using is_http_client = void;
    struct state {
        std::mutex lock;
        std::atomic<int> renewals{0};
    };
    fake_queue_service below;
    std::shared_ptr<state> shared = std::make_shared<state>();

    result<http_response> send(http_request const& request, http_call const& call) const {
        std::lock_guard const guard{shared->lock};
        auto answer = below.send(request, call);
        shared->renewals += request.method == http_method::put ? 1 : 0;
        return answer;
    }
};

struct fixture {
    testing::manual_clock time;
    guarded_service service{fake_queue_service{time}};
    queue_options how = [&] {
        queue_options made;
        made.visibility = 4s;
        made.max_deliveries = 2;
        made.time = &time;
        return made;
    }();
    azure_queue<job> queue{"AccountName=a;AccountKey=a2V5", "jobs", how, queue_text::plain, service};
    worker_options until_empty{.wait = 0s, .retry = {.least = 10s, .most = 10s}};

    fixture() {
        queue.create().value();
        service.shared->renewals = 0;
    }

    /// Lets time pass, in which a message is renewed once.
    void pass() {
        int const before = service.shared->renewals;
        time.advance(1500ms);
        for (int number = 1; service.shared->renewals == before; ++number) {
            REQUIRE(number < 10'000);
            std::this_thread::sleep_for(1ms);
            if (number % 200 == 0) { time.advance(100ms); }
        }
    }
};

} // namespace

TEST_CASE("azure_queue: run_worker handles each message once") {
    fixture f;
    for (std::int32_t number = 0; number < 20; ++number) { f.queue.enqueue({"a", number}).value(); }
    f.until_empty.threads = GENERATE(1U, 3U);
    std::atomic<int> sum{0};
    auto const handle = [&](job const& one) -> result<void> {
        sum += one.number;
        return {};
    };
    CHECK(run_worker(f.queue, handle, f.until_empty).value() == worker_report{.handled = 20});
    CHECK(sum == 190);
    CHECK(f.queue.approximate_count().value() == 0);
}

TEST_CASE("azure_queue: a message is renewed while its handler works, and completed under the newest receipt") {
    fixture f;
    f.queue.enqueue({"a", 1}).value();
    bool const fails = GENERATE(false, true);
    auto const handle = [&](job const&, work_context const& context) -> result<void> {
        for (int number = 0; number < 4; ++number) { f.pass(); }
        CHECK_FALSE(f.queue.claim().value());
        CHECK_FALSE(context.lost.cancelled());
        return fails ? result<void>{failure{error_code::invalid_input, "no"}} : result<void>{};
    };
    CHECK(run_worker(f.queue, handle, f.until_empty).value() ==
        (fails ? worker_report{.failed = 1} : worker_report{.handled = 1}));
    CHECK(f.queue.approximate_count().value() == (fails ? 1 : 0));
}

TEST_CASE("azure_queue: a handler that takes the claim renews it itself") {
    fixture f;
    f.queue.enqueue({"a", 1}).value();
    auto const handle = [&](azure_claimed<job>& item) -> result<void> {
        for (int number = 0; number < 4; ++number) {
            f.time.advance(3s);
            std::this_thread::sleep_for(10ms);
            ENTITABLE_CHECK(item.renew());
        }
        return {};
    };
    CHECK(run_worker(f.queue, handle, f.until_empty).value() == worker_report{.handled = 1});
    CHECK(f.service.shared->renewals == 4);
}

TEST_CASE("azure_queue: a message that fails becomes a dead letter") {
    fixture f;
    f.queue.enqueue({"a", 7}).value();
    auto const handle = [](job const&) -> result<void> { return failure{error_code::invalid_input, "no paper"}; };
    CHECK(run_worker(f.queue, handle, f.until_empty).value() == worker_report{.failed = 1});
    f.time.advance(10s);
    CHECK(run_worker(f.queue, handle, f.until_empty).value() == worker_report{.dead = 1});
    auto dead = f.queue.dead_letters().claim().value();
    REQUIRE(dead);
    CHECK(dead->message().number == 7);
    CHECK_THAT(dead->reason().value(), ContainsSubstring("no paper"));
}
