// SPDX-License-Identifier: MIT
// Copyright (c) 2026 the entitable authors

// claim_options::stop ends a claim that waits, and no cancellation keeps a worker from ending the message that it holds.

#include <entitable/async.hpp>
#include <entitable/core/transport/run.hpp>
#include <entitable/entitable.hpp>
#include <entitable/memory.hpp>
#include <entitable/messaging.hpp>
#include <entitable/testing/manual_clock.hpp>

#include <support/around.hpp>
#include <support/catch.hpp>
#include <support/entities.hpp>

#include <thread>

using namespace entitable;
using namespace entitable_test;
using namespace std::chrono_literals;

namespace {

/// Calls a function before each wait.
struct hooked_clock final : clock {
    testing::manual_clock time;
    std::function<void()> before_wait;

    date_time now() noexcept override { return time.now(); }
    steady_time steady() noexcept override { return time.steady(); }
    void wait_until(steady_time until) noexcept override {
        if (before_wait) { before_wait(); }
        time.wait_until(until);
    }
};

struct site {
    hooked_clock time;
    memory_backend store = [&] {
        local_options options;
        options.time = &time;
        return memory_backend{options};
    }();
    int requests = 0;
    std::function<void(std::string_view, bool)> behind;
    around watched{store, [this](std::string_view, bool) { ++requests; },
        [this](std::string_view name, bool writes) {
            if (behind) { behind(name, writes); }
        }};
    cancellation_source stop;
    cancellation_source everything;
    queue_options how = [&] {
        queue_options made;
        made.lanes = 2;
        made.time = &time;
        made.seed = 5;
        made.calls.cancellation = everything.token();
        return made;
    }();
    table_queue<job> queue{watched, "jobs", how};

    site() { queue.create().value(); }
    site(site const&) = delete;
    site& operator=(site const&) = delete;
    ~site() = default;
    [[nodiscard]] claim_options waiting() const { return {.wait = no_timeout, .stop = stop.token()}; }
};

/// Loses the answer to one write, and cancels as it does.
struct deaf {
    using is_transport = void;
    any_store below;
    bool* lose;
    cancellation_source everything;

    [[nodiscard]] entitable::profile profile() const { return below.profile(); }
    template <table_request Request>
        requires(!std::same_as<Request, read_entity> && !std::same_as<Request, read_entities>)
    [[nodiscard]] result<response_of<Request>> execute(Request const& request, call& context) const {
        auto answer = below.execute(request, context);
        if (Request::writes && std::exchange(*lose, false)) {
            cancellation_source{everything}.cancel();
            failure lost{error_code::transport_failed, "lost"};
            lost.error().effect = effect::unknown;
            return lost;
        }
        return answer;
    }
};

} // namespace

TEST_CASE("a claim that waits returns nothing once its stop token is set") {
    site at;
    int waits = 0;
    at.time.before_wait = [&] {
        if (++waits == 100) { at.stop.cancel(); }
    };
    steady_time const begun = at.time.steady();
    auto const item = at.queue.claim(at.waiting());
    REQUIRE(item);
    CHECK_FALSE(item->has_value());
    CHECK(waits == 100); // no longer than the slice it was in
    CHECK(at.time.steady() - begun < 1s);
}

TEST_CASE("a claim whose stop token is set sends nothing") {
    site at;
    at.queue.enqueue({"a", 1}).value();
    at.stop.cancel();
    at.requests = 0;
    CHECK_FALSE(at.queue.claim(at.waiting()).value());
    CHECK(at.queue.claim_some(32, at.waiting()).value().empty());
    CHECK(at.requests == 0);
    CHECK(at.queue.claim().value()); // another claim is not stopped
}

TEST_CASE("a message that is being claimed when the stop token is set is returned") {
    site at;
    at.queue.enqueue({"a", 1}).value();
    SECTION("the claim was sent before") {
        at.behind = [&](std::string_view, bool writes) { writes ? at.stop.cancel() : void(); };
        auto item = at.queue.claim(at.waiting()).value();
        REQUIRE(item);
        CHECK(item->complete());
    }
    SECTION("the message was found and not yet claimed: it stays unclaimed") {
        at.behind = [&](std::string_view, bool) { at.stop.cancel(); };
        CHECK_FALSE(at.queue.claim(at.waiting()).value());
        auto const item = at.queue.claim().value();
        REQUIRE(item);
        CHECK(item->deliveries() == 1);
    }
}

TEST_CASE("operations on a receipt ignore the token that ended the wait") {
    site at;
    for (std::int32_t number = 0; number < 6; ++number) { at.queue.enqueue({"a", number}).value(); }
    std::vector<claimed<job>> held;
    while (auto item = at.queue.claim().value()) { held.push_back(std::move(*item)); }
    REQUIRE(held.size() == 6);
    at.stop.cancel();
    at.everything.cancel(); // also that of all calls
    CHECK(at.queue.claim().error().code == error_code::cancelled);
    CHECK(at.queue.enqueue({"a", 7}).error().code == error_code::cancelled);

    CHECK(held[0].complete());
    CHECK(held[1].release());
    CHECK(held[2].fail("no"));
    CHECK(held[3].renew());
    CHECK(at.queue.complete_all(std::span{held}.subspan(3, 2)).value() == 2);
    auto const work = saga_for<job>("one", step("it", [](job const&) { return result<void>{}; }));
    CHECK(work.resume(held[5]).value().end == saga_end::completed); // the progress is recorded under the receipt
    CHECK(held[5].complete());

    at.how.calls.cancellation = {};
    auto const size = table_queue<job>{at.store, "jobs", at.how}.approximate_size().value();
    CHECK(size.ready == 2); // the one that was released, and the one that failed
    CHECK(size.held == 0);
}

TEST_CASE("complete() resolves a lost answer after the token was set") {
    site at;
    bool lose = false;
    deaf const way{at.watched, &lose, at.everything};
    table_queue<job> const queue{way, "jobs", at.how};
    queue.enqueue({"a", 1}).value();
    auto item = queue.claim().value();
    REQUIRE(item);
    lose = true;
    CHECK(item->complete());
    CHECK_FALSE(lose);
}

TEST_CASE("a claim on a thread ends soon after stop, and the claimed job is completed") {
    memory_backend const store;
    cancellation_source stop;
    table_queue<job> const queue{store, "jobs", {.lanes = 2}};
    queue.create().value();
    queue.enqueue({"a", 1}).value();
    auto mine = *queue.claim().value();
    bool empty = false;
    std::thread waiting{[&] { empty = !queue.claim({.wait = no_timeout, .stop = stop.token()}).value().has_value(); }};
    std::this_thread::sleep_for(20ms);
    auto const begun = std::chrono::steady_clock::now();
    stop.cancel();
    waiting.join();
    CHECK(std::chrono::steady_clock::now() - begun < 5s); // polling is 1 s and longer; this is for slow machines
    CHECK(empty);
    CHECK(mine.complete());
}

TEST_CASE("an awaited claim ends when its stop token is set, and the claimed job is completed") {
    memory_backend const store;
    event_loop loop;
    loop_transport const near{loop, store};
    cancellation_source stop;
    table_queue<job> const queue{near, "jobs", {.lanes = 2, .time = &loop_clock(loop)}};
    auto const worker = [&]() -> result<bool> {
        ENTITABLE_CHECK(queue.create());
        ENTITABLE_CHECK(queue.enqueue({"a", 1}));
        ENTITABLE_TRY(auto mine, queue.claim());
        ENTITABLE_TRY(auto const next, queue.claim({.wait = no_timeout, .stop = stop.token()}));
        ENTITABLE_CHECK(mine->complete());
        return !next;
    };
    auto const end = [&] {
        loop_clock(loop).wait_until(loop_clock(loop).steady() + 20ms);
        stop.cancel();
    };
    auto const both = [&]() -> task<result<bool>> {
        auto ended = on_own_stack(loop, worker);
        loop.spawn(on_own_stack(loop, end));
        co_return co_await std::move(ended);
    };
    CHECK(loop.run(both()).value());
}
