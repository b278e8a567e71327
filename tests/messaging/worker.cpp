// SPDX-License-Identifier: MIT
// Copyright (c) 2026 the entitable authors

// What run_worker does with messages, with errors of handlers and of stores, and when it ends.

#include <entitable/entitable.hpp>
#include <entitable/memory.hpp>
#include <entitable/testing/faulty.hpp>
#include <entitable/testing/manual_clock.hpp>
#include <entitable/worker.hpp>

#include <support/around.hpp>
#include <support/catch.hpp>
#include <support/entities.hpp>

#include <atomic>
#include <functional>
#include <limits>
#include <map>
#include <mutex>
#include <stdexcept>
#include <thread>

using namespace entitable;
using namespace entitable_test;
using namespace std::chrono_literals;

namespace {

constexpr backoff at_once{};
constexpr backoff ten_seconds{.least = 10s, .most = 10s};

/// A queue by a clock that is set by hand. The thread that renews looks at that clock each millisecond.
struct site {
    testing::manual_clock time;
    memory_backend store = [&] {
        local_options options;
        options.time = &time;
        return memory_backend{options};
    }();
    testing::faulty<memory_backend> shaky{store, testing::faulty_options{.time = &time}};
    std::atomic<int> requests{0};
    std::atomic<int> merges{0}; // a renewal is one
    std::atomic<int> writes{0};
    around watched{shaky, [this](std::string_view name, bool is_write) {
                       requests.fetch_add(1);
                       writes.fetch_add(is_write ? 1 : 0);
                       merges.fetch_add(name == write_entity::name ? 1 : 0);
                   }};
    queue_options how = [&] {
        queue_options made;
        made.lanes = 2;
        made.visibility = 4s;
        made.max_deliveries = 2;
        made.time = &time;
        made.seed = 5;
        return made;
    }();
    table_queue<job> queue{watched, "jobs", how};
    table_queue<job> other{store, "jobs", how}; ///< that of another worker, which meets no fault
    cancellation_source stop;
    worker_options until_empty{.wait = 0s, .retry = ten_seconds, .outage = at_once};

    site() { queue.create().value(); }
    site(site const&) = delete;
    site& operator=(site const&) = delete;
    ~site() = default;

    void fill(std::int32_t count) const {
        for (std::int32_t number = 0; number < count; ++number) { queue.enqueue({"a", number}).value(); }
    }
    [[nodiscard]] std::uint64_t left() const {
        auto const size = other.approximate_size().value();
        return size.ready + size.held + size.dead_letters;
    }
    /// Lets time pass, in which the message of a handler is renewed once.
    void pass(std::chrono::nanoseconds by) {
        int const before = merges.load();
        time.advance(by);
        for (int number = 1; merges.load() == before; ++number) {
            REQUIRE(number < 10'000);
            std::this_thread::sleep_for(1ms);
            if (number % 200 == 0) { // the last renewal ended behind our advance: the next one is due later
                time.advance(100ms);
            }
        }
    }
    void work_for_renewals(int count) {
        for (int number = 0; number < count; ++number) { pass(1500ms); }
    }
    [[nodiscard]] static bool eventually(std::function<bool()> const& come) {
        for (int number = 0; number < 5'000; ++number) {
            if (come()) { return true; }
            std::this_thread::sleep_for(1ms);
        }
        return false;
    }
};

/// Counts how often each message was handled.
class tally {
public:
    void add(std::int32_t number) {
        std::lock_guard const guard{lock_};
        ++seen_[number];
    }
    [[nodiscard]] bool each_once(std::int32_t count) const {
        bool once = seen_.size() == static_cast<std::size_t>(count);
        for (auto const& [number, times] : seen_) { once = once && times == 1; }
        return once;
    }

private:
    std::mutex lock_;
    std::map<std::int32_t, int> seen_;
};

} // namespace

TEST_CASE("run_worker handles each message once") {
    site at;
    at.fill(100);
    tally seen;
    auto const handle = [&](job const& one) -> result<void> {
        seen.add(one.number);
        return {};
    };
    at.until_empty.threads = GENERATE(0U, 1U, 4U);
    CHECK(run_worker(at.queue, handle, at.until_empty).value() == worker_report{.handled = 100});
    CHECK(seen.each_once(100));
    CHECK(at.left() == 0);
}

TEST_CASE("two workers of one queue handle each message once") {
    memory_backend const store;
    table_queue<job> const queue{store, "jobs", {.lanes = 4}};
    queue.create().value();
    std::vector<job> all;
    for (std::int32_t number = 0; number < 200; ++number) { all.push_back({"a", number}); }
    queue.enqueue_all(all).value();
    tally seen;
    std::uint64_t handled[2] = {};
    auto const work = [&](int which) {
        table_queue<job> const own{store, "jobs", {.lanes = 4}};
        auto const report = run_worker(own,
            [&](job const& one) -> result<void> {
                seen.add(one.number);
                return {};
            },
            {.threads = 2, .wait = 0s});
        handled[which] = report.value().handled;
    };
    std::thread second{[&] { work(1); }};
    work(0);
    second.join();
    CHECK(seen.each_once(200));
    CHECK(handled[0] + handled[1] == 200);
}

TEST_CASE("a message whose handler fails is redelivered after a delay, and becomes a dead letter with the reason") {
    site at;
    at.fill(1);
    bool works = false;
    std::vector<bool> last;
    auto const handle = [&](job const&, work_context const& context) -> result<void> {
        last.push_back(context.last_delivery);
        CHECK(context.deliveries == last.size());
        return works ? result<void>{} : result<void>{failure{error_code::invalid_input, "no such customer"}};
    };
    CHECK(run_worker(at.queue, handle, at.until_empty).value() == worker_report{.failed = 1});
    at.time.advance(9s);
    CHECK(run_worker(at.queue, handle, at.until_empty).value() == worker_report{});
    at.time.advance(1s);
    CHECK(run_worker(at.queue, handle, at.until_empty).value() == worker_report{.dead = 1}); // and meets it, at once
    CHECK(last == std::vector<bool>{false, true});
    auto const dead = at.queue.dead_letters().value();
    REQUIRE(dead.size() == 1);
    CHECK_THAT(dead[0].reason, ContainsSubstring("no such customer"));
    CHECK(dead[0].deliveries == 2);
    at.queue.requeue(dead[0]).value();
    works = true;
    last.clear();
    CHECK(run_worker(at.queue, handle, at.until_empty).value() == worker_report{.handled = 1});
    CHECK(at.left() == 0);
}

TEST_CASE("the delay before a redelivery grows with the number of deliveries") {
    site at;
    at.how.max_deliveries = 5;
    table_queue<job> const queue{at.store, "jobs", at.how};
    at.fill(1);
    int handled = 0;
    auto const handle = [&](job const&) -> result<void> {
        ++handled;
        return failure{error_code::invalid_input, "no"};
    };
    at.until_empty.retry = {.base = 1s, .most = 1h, .jitter = 0};
    CHECK(run_worker(queue, handle, at.until_empty));
    CHECK(handled == 1);
    for (auto const wait : {1s, 3s, 7s}) {
        int const before = handled;
        at.time.advance(wait - 1ms);
        CHECK(run_worker(queue, handle, at.until_empty));
        CHECK(handled == before);
        at.time.advance(1ms);
        CHECK(run_worker(queue, handle, at.until_empty));
        CHECK(handled == before + 1);
    }
}

// ---- renewals ----

TEST_CASE("a message is renewed while its handler works") {
    site at;
    at.fill(1);
    auto const work = [&] {
        at.work_for_renewals(5);
        CHECK_FALSE(at.other.claim().value()); // 7.5 s later
    };
    auto const report = [&] {
        SECTION("the handler takes the message") {
            return run_worker(
                at.queue,
                [&](job const&) -> result<void> {
                    work();
                    return {};
                },
                at.until_empty);
        }
        SECTION("the handler takes the claim") {
            return run_worker(
                at.queue,
                [&](claimed<job>& item) -> result<void> {
                    work();
                    CHECK(item.message().kind == "a");
                    return {};
                },
                at.until_empty);
        }
        SECTION("the handler fails") {
            at.until_empty.retry = at_once;
            return run_worker(
                at.queue,
                [&](job const&, work_context const& context) -> result<void> {
                    work();
                    return context.last_delivery ? result<void>{}
                                                 : result<void>{failure{error_code::invalid_input, "no"}};
                },
                at.until_empty);
        }
        SECTION("the handler is a saga, whose steps are recorded in between") {
            auto const steps = saga_for<job>("steps",
                step("one",
                    [&](job const&) -> result<void> {
                        work();
                        return {};
                    }),
                step("two", [&](job const&) -> result<void> {
                    work();
                    return {};
                }));
            return run_worker(at.queue, steps, at.until_empty);
        }
        return result<worker_report>{worker_report{.handled = 1}};
    }();
    CHECK(report.value().handled == 1);
    CHECK(report.value().lost == 0);
}

TEST_CASE("a renewal that fails is reported and sent again") {
    site at;
    at.fill(1);
    at.shaky.plan({testing::fault::busy(), 1, "write_entity", "jobs"});
    at.shaky.plan({testing::fault::lost_after(), 2, "write_entity", "jobs"});
    int errors = 0;
    at.until_empty.on_error = [&](error const&) { ++errors; };
    auto const report = run_worker(
        at.queue,
        [&](job const&, work_context const& context) -> result<void> {
            at.pass(1500ms);
            at.pass(500ms);
            at.work_for_renewals(4);
            CHECK_FALSE(context.lost.cancelled());
            CHECK_FALSE(at.other.claim().value());
            return {};
        },
        at.until_empty);
    CHECK(report.value() == worker_report{.handled = 1});
    CHECK(errors >= 1);
    CHECK(at.shaky.all_fired());
}

TEST_CASE("a handler learns that its message is lost") {
    site at;
    at.fill(1);
    for (std::size_t number = 1; number <= 200; ++number) {
        at.shaky.plan({testing::fault::refused(), number, "write_entity", "jobs"});
    }
    SECTION("the store does not answer until the lease has expired") {
        auto const report = run_worker(
            at.queue,
            [&](job const&, work_context const& context) -> result<void> {
                CHECK_FALSE(context.lost.cancelled());
                at.time.advance(4s);
                CHECK(at.eventually([&] { return context.lost.cancelled(); }));
                return {};
            },
            at.until_empty);
        CHECK(report.value() == worker_report{.handled = 1}); // nobody else has taken it
    }
    SECTION("another worker has claimed and completed the message") {
        auto const report = run_worker(
            at.queue,
            [&](job const&, work_context const& context) -> result<void> {
                at.time.advance(5s);
                at.other.claim().value().value().complete().value();
                CHECK(at.eventually([&] { return context.lost.cancelled(); }));
                return {};
            },
            at.until_empty);
        CHECK(report.value() == worker_report{.lost = 1});
    }
    SECTION("another worker has claimed the message and still holds the claim") {
        std::optional<claimed<job>> theirs;
        auto const report = run_worker(
            at.queue,
            [&](job const&) -> result<void> {
                at.time.advance(5s);
                theirs.emplace(std::move(at.other.claim().value().value()));
                return failure{error_code::invalid_input, "no"};
            },
            at.until_empty);
        CHECK(report.value() == worker_report{.lost = 1});
        CHECK(theirs->complete());
    }
    CHECK(at.left() == 0);
}

TEST_CASE("nothing is sent for a message after its receipt is lost") {
    site at;
    at.fill(1);
    at.shaky.plan({testing::fault::refused(), 1, "write_entity", "jobs"});
    int sent = 0;
    int errors = 0;
    at.until_empty.on_error = [&](error const&) { ++errors; };
    auto const report = run_worker(
        at.queue,
        [&](job const&, work_context const& context) -> result<void> {
            at.time.advance(5s);
            CHECK(at.eventually([&] { return static_cast<bool>(at.shaky.all_fired()); }));
            at.other.claim().value().value().complete().value();
            at.time.advance(1s);
            CHECK(at.eventually([&] { return context.lost.cancelled(); }));
            at.time.advance(1h);
            std::this_thread::sleep_for(10ms);
            sent = at.writes.load();
            return {};
        },
        at.until_empty);
    CHECK(report.value() == worker_report{.lost = 1});
    CHECK(at.writes.load() == sent);
    CHECK(errors == 1); // the renewal that met no store
}

TEST_CASE("a message is completed only after the renewal in flight") {
    site at;
    at.fill(1);
    std::atomic<bool> renewing{false};
    std::atomic<int> under_way{0};
    std::atomic<int> together{0};
    around const slow{at.store,
        [&](std::string_view, bool is_write) {
            if (is_write) {
                together += under_way.fetch_add(1);
                renewing = true;
                std::this_thread::sleep_for(50ms);
            }
        },
        [&](std::string_view, bool is_write) { under_way -= is_write ? 1 : 0; }};
    table_queue<job> const queue{slow, "jobs", at.how};
    bool const takes_claim = GENERATE(false, true);
    auto const work = [&]() -> result<void> {
        renewing = false;
        at.time.advance(2s);
        CHECK(at.eventually([&] { return renewing.load(); }));
        return {};
    };
    auto const report = takes_claim ? run_worker(
                                          queue, [&](claimed<job>&) { return work(); }, at.until_empty)
                                    : run_worker(queue, [&](job const&) { return work(); }, at.until_empty);
    CHECK(report.value() == worker_report{.handled = 1});
    CHECK(together == 0);
}

// ---- stopping ----

TEST_CASE("run_worker completes its claimed messages after its stop token was set, and claims no other message") {
    site at;
    at.fill(50);
    at.until_empty.threads = GENERATE(1U, 4U);
    at.until_empty.wait = no_timeout;
    at.until_empty.stop = at.stop.token();
    std::atomic<int> begun{0};
    auto const report = run_worker(
        at.queue,
        [&](job const&, work_context const& context) -> result<void> {
            if (begun.fetch_add(1) == 9) {
                at.stop.cancel();
                CHECK(context.stop.cancelled());
                at.work_for_renewals(2); // renewed as before
            }
            return {};
        },
        at.until_empty);
    CHECK(report.value().handled == static_cast<std::uint64_t>(begun.load()));
    CHECK(begun.load() < 10 + static_cast<int>(at.until_empty.threads));
    auto const size = at.queue.approximate_size().value();
    CHECK(size.ready == 50 - report.value().handled);
    CHECK(size.held == 0);
}

TEST_CASE("a worker whose stop token was set before the start sends nothing") {
    site at;
    at.fill(3);
    at.stop.cancel();
    at.until_empty.stop = at.stop.token();
    at.until_empty.threads = 3;
    int const before = at.requests.load();
    CHECK(run_worker(at.queue, [](job const&) { return result<void>{}; }, at.until_empty).value() == worker_report{});
    CHECK(at.requests.load() == before);
}

TEST_CASE("a worker that waits ends soon after its stop token is set") {
    memory_backend const store;
    table_queue<job> const queue{store, "jobs"};
    queue.create().value();
    cancellation_source stop;
    std::thread later{[&] {
        std::this_thread::sleep_for(50ms);
        stop.cancel();
    }};
    auto const begun = std::chrono::steady_clock::now();
    CHECK(run_worker(queue, [](job const&) { return result<void>{}; }, {.threads = 4, .stop = stop.token()}));
    CHECK(std::chrono::steady_clock::now() - begun < 5s); // the look after the next one would be later
    later.join();
}

TEST_CASE("a handler that returns Cancelled after the stop token was set releases its message immediately") {
    site at;
    at.fill(2);
    at.until_empty.stop = at.stop.token();
    bool const stopped = GENERATE(true, false);
    auto const report = run_worker(
        at.queue,
        [&](job const&) -> result<void> {
            stopped ? at.stop.cancel() : void();
            return failure{error_code::cancelled, "asked to end"};
        },
        at.until_empty);
    CHECK(report.value() == (stopped ? worker_report{.released = 1} : worker_report{.failed = 2}));
    CHECK(at.queue.approximate_size().value().ready == (stopped ? 2 : 0));
}

// ---- exceptions ----

TEST_CASE("an exception thrown by a handler is propagated, and its message is released") {
    site at;
    at.fill(20);
    at.until_empty.threads = GENERATE(1U, 4U);
    std::atomic<int> returned{0};
    auto const run = [&] {
        static_cast<void>(run_worker(
            at.queue,
            [&](job const& one) -> result<void> {
                if (one.number == 5) { throw std::runtime_error{"no paper"}; }
                returned.fetch_add(1);
                return {};
            },
            at.until_empty));
    };
    CHECK_THROWS_WITH(run(), "no paper");
    CHECK(at.left() == 20U - static_cast<unsigned>(returned.load()));
    CHECK(at.queue.approximate_size().value().held == 1); // delayed
    at.time.advance(10s);
    CHECK_THROWS_WITH(run(), "no paper");
    at.time.advance(10s);
    at.until_empty.threads = 1;
    CHECK(run_worker(at.queue, [](job const&) { return result<void>{}; }, at.until_empty));
    auto const dead = at.queue.dead_letters().value();
    REQUIRE(dead.size() == 1);
    CHECK(dead[0].reason == "the handler threw: no paper");
}

TEST_CASE("a handler can throw types other than std::exception") {
    site at;
    at.fill(1);
    CHECK_THROWS_AS(run_worker(at.queue, [](job const&) -> result<void> { throw 7; }, at.until_empty), int);
}

TEST_CASE("an exception thrown by on_error is propagated from every thread") {
    site at;
    at.fill(1);
    at.until_empty.on_error = [](error const&) { throw std::runtime_error{"the log is full"}; };
    SECTION("on_error is called for a failed claim") {
        at.how.max_attempts = 1;
        table_queue<job> const once{at.watched, "jobs", at.how};
        at.shaky.plan({testing::fault::busy(), 2, "query_entities", "jobs"});
        CHECK_THROWS_WITH(
            run_worker(once, [](job const&) { return result<void>{}; }, at.until_empty), "the log is full");
    }
    SECTION("on_error is called for a failed renewal") {
        at.shaky.plan({testing::fault::busy(), 1, "write_entity", "jobs"});
        auto const handle = [&](job const&, work_context const& context) -> result<void> {
            at.work_for_renewals(1);
            CHECK(at.eventually([&] { return context.stop.cancelled(); }));
            return {};
        };
        CHECK_THROWS_WITH(run_worker(at.queue, handle, at.until_empty), "the log is full");
        CHECK(at.left() == 0); // the message in hand was completed
    }
}

// ---- a store that fails ----

TEST_CASE("run_worker waits for a store that does not answer") {
    site at;
    at.fill(10);
    at.how.max_attempts = 1;
    table_queue<job> const queue{at.watched, "jobs", at.how};
    for (std::size_t number = 1; number <= 60; ++number) {
        at.shaky.plan(
            {number % 3 == 0 ? testing::fault::lost_after() : testing::fault::busy(), 2, "query_entities", "jobs"});
    }
    at.until_empty.outage = {.least = 1s, .most = 1s};
    std::vector<error_code> seen;
    at.until_empty.on_error = [&](error const& one) { seen.push_back(one.code); };
    auto const begun = at.time.steady();
    CHECK(run_worker(queue, [](job const&) { return result<void>{}; }, at.until_empty).value().handled == 10);
    CHECK(seen.size() >= 20);
    CHECK(at.time.steady() - begun >= std::chrono::seconds{seen.size()});
}

TEST_CASE("a store that does not answer does not prevent a worker from stopping") {
    site at;
    for (std::size_t number = 1; number <= 1000; ++number) {
        at.shaky.plan({testing::fault::busy(), number, {}, "jobs"});
    }
    at.until_empty.outage = {.least = 1h, .most = 1h};
    at.until_empty.stop = at.stop.token();
    at.until_empty.threads = 3;
    at.until_empty.on_error = [&](error const&) { at.stop.cancel(); };
    at.how.max_attempts = 1;
    table_queue<job> const queue{at.watched, "jobs", at.how};
    CHECK(run_worker(queue, [](job const&) { return result<void>{}; }, at.until_empty).value() == worker_report{});
    CHECK(at.stop.token().cancelled());
}

TEST_CASE("run_worker returns a permanent error") {
    site at;
    at.until_empty.threads = GENERATE(1U, 3U);
    at.until_empty.wait = no_timeout;
    table_queue<job> const absent{at.store, "absent", at.how};
    auto const handle = [](job const&) { return result<void>{}; };
    CHECK(run_worker(absent, handle, at.until_empty).error().code == error_code::table_not_found);
    at.how.visibility = 1s;
    table_queue<job> const invalid{at.store, "jobs", at.how};
    CHECK(run_worker(invalid, handle, at.until_empty).error().code == error_code::out_of_range_input);
}

TEST_CASE("a permanent error also ends the other threads") {
    site at;
    at.until_empty.threads = 3;
    at.until_empty.wait = no_timeout;
    at.shaky.plan({testing::fault::status(403, false, effect::none), 20, "query_entities", "jobs"});
    auto const ran = run_worker(at.queue, [](job const&) { return result<void>{}; }, at.until_empty);
    CHECK(ran.error().http_status == 403);
}

TEST_CASE("a message whose completion cannot be stored is reported as lost and redelivered") {
    site at;
    at.fill(1);
    at.how.max_attempts = 1;
    table_queue<job> const queue{at.watched, "jobs", at.how};
    at.shaky.plan({testing::fault::refused(), 2, "transact", "jobs"});
    std::vector<error_code> seen;
    at.until_empty.on_error = [&](error const& one) { seen.push_back(one.code); };
    auto const handle = [](job const&) { return result<void>{}; };
    CHECK(run_worker(queue, handle, at.until_empty).value() == worker_report{.lost = 1});
    CHECK(seen == std::vector{error_code::transport_failed});
    at.time.advance(5s);
    CHECK(run_worker(queue, handle, at.until_empty).value() == worker_report{.handled = 1});
}

TEST_CASE("run_worker refuses invalid options") {
    site at;
    at.fill(1);
    auto const refused = [&] {
        auto const ran = run_worker(at.queue, [](job const&) { return result<void>{}; }, at.until_empty);
        CHECK(at.left() == 1);
        return ran.error().code == error_code::out_of_range_input;
    };
    SECTION("renew_after") {
        for (double const part : {0.0, 1.0, -1.0, std::numeric_limits<double>::quiet_NaN()}) {
            at.until_empty.renew_after = part;
            CHECK(refused());
        }
    }
    SECTION("retry") {
        at.until_empty.retry.base = -1s;
        CHECK(refused());
    }
    SECTION("outage") {
        at.until_empty.outage.jitter = 2;
        CHECK(refused());
    }
}

// ---- handlers ----

namespace {

/// A queue of a user's own, without options.
struct plain_queue {
    struct item {
        claimed<job> it;
        [[nodiscard]] job const& message() const { return it.message(); }
        [[nodiscard]] std::string_view id() const { return it.id(); }
        [[nodiscard]] std::uint32_t deliveries() const { return it.deliveries(); }
        [[nodiscard]] std::chrono::nanoseconds remaining() const { return it.remaining(); }
        [[nodiscard]] result<void> complete() { return it.complete(); }
        [[nodiscard]] result<void> renew(std::chrono::nanoseconds visibility) { return it.renew(visibility); }
        [[nodiscard]] result<void> release(std::chrono::nanoseconds delay) { return it.release(delay); }
        [[nodiscard]] result<void> fail(std::string_view why, std::chrono::nanoseconds delay) {
            return it.fail(why, delay);
        }
    };
    using value_type = job;
    static constexpr bool keeps_ids = true;
    table_queue<job> below;

    [[nodiscard]] result<enqueued> enqueue(job const& one, enqueue_options const& put) const {
        return below.enqueue(one, put);
    }
    [[nodiscard]] result<std::optional<item>> claim(claim_options const& ask) const {
        ENTITABLE_TRY(auto got, below.claim(ask));
        return got ? std::optional<item>{item{std::move(*got)}} : std::optional<item>{};
    }
};
static_assert(message_queue<plain_queue, job>);

} // namespace

TEST_CASE("run_worker takes any queue that models message_queue") {
    memory_backend const store;
    plain_queue const queue{table_queue<job>{store, "jobs", {.visibility = 2s}}};
    queue.below.create().value();
    queue.below.enqueue({"a", 1}).value();
    queue.below.enqueue({"a", 2}).value();
    auto const handle = [](job const& one) -> result<void> {
        if (one.number == 1) {
            std::this_thread::sleep_for(2500ms); // renewed by the computer's clock
        }
        return {};
    };
    CHECK(run_worker(queue, handle, {.wait = 0s}).value() == worker_report{.handled = 2});
}

TEST_CASE("handlers take the message or the claim, and return any result") {
    site at;
    at.fill(1);
    int called = 0;
    auto const report = [&]() -> result<worker_report> {
        SECTION("a message by value") {
            return run_worker(
                at.queue,
                [&](job one) -> result<std::string> {
                    ++called;
                    return one.kind;
                },
                at.until_empty);
        }
        SECTION("a claim and its delivery information") {
            return run_worker(
                at.queue,
                [&](claimed<job>& item, work_context const& context) -> result<void> {
                    ++called;
                    CHECK(context.id == item.id());
                    CHECK(context.deliveries == 1);
                    CHECK_FALSE(context.stop.cancelled());
                    return {};
                },
                at.until_empty);
        }
        SECTION("a claim that the handler completes") {
            return run_worker(
                at.queue,
                [&](claimed<job>& item) {
                    ++called;
                    return item.complete();
                },
                at.until_empty);
        }
        SECTION("a claim that the handler moves from") {
            return run_worker(
                at.queue,
                [&](claimed<job>& item) {
                    ++called;
                    claimed<job> mine = std::move(item);
                    return mine.complete();
                },
                at.until_empty);
        }
        ++called;
        return run_worker(at.queue, [](auto const& one) { return result<std::int32_t>{one.number}; }, at.until_empty);
    }();
    CHECK(report.value() == worker_report{.handled = 1});
    CHECK(called == 1);
    CHECK(at.left() == 0);
}

TEST_CASE("a saga that has lost its message is counted as lost") {
    site at;
    at.fill(1);
    auto const steps = saga_for<job>("steps", step("one", [&](job const&) -> result<void> {
        at.shaky.plan({testing::fault::refused(), 1, "write_entity", "jobs"});
        at.time.advance(5s);
        CHECK(at.eventually([&] { return static_cast<bool>(at.shaky.all_fired()); }));
        at.other.claim().value().value().complete().value();
        return {};
    }));
    CHECK(run_worker(at.queue, steps, at.until_empty).value() == worker_report{.lost = 1});
}
