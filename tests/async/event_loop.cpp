// SPDX-License-Identifier: MIT
// Copyright (c) 2026 the entitable authors

#include <entitable/memory.hpp>
#include <entitable/testing/manual_clock.hpp>

#include <async/books.hpp>
#include <support/catch.hpp>

#include <thread>

using namespace entitable;
using entitable_test::book;
using entitable_test::book_of;
using entitable_test::in_channel;

namespace {

task<result<std::int32_t>> fill_and_sum(async_table<book> books, std::string shelf, std::int32_t count) {
    ENTITABLE_CO_CHECK(co_await books.create_if_absent());
    for (std::int32_t number = 0; number < count; ++number) {
        ENTITABLE_CO_CHECK(co_await books.insert(book_of(shelf, number, number)));
    }
    std::int32_t sum = 0;
    for (std::int32_t number = 0; number < count; ++number) {
        ENTITABLE_CO_TRY(auto const found, co_await books.get(shelf, std::to_string(number)));
        sum += found.price;
    }
    co_return sum;
}

task<result<book>> get_one(async_table<book> books, std::string shelf, std::string isbn) {
    co_return co_await books.get(shelf, isbn);
}

/// Answers only cancelled requests.
struct mute {
    using is_transport = void;
    memory_backend below;

    class way final : public channel {
    public:
        void send(request_ref request, call& context, void* tag) override { sent_.push_back({request, &context, tag}); }
        void cancel(void* tag, error const& why) override {
            for (sent& each : sent_) {
                if (each.tag == tag) { each.why.emplace(why); }
            }
        }
        void poll(steady_time now, completion_sink sink) override {
            for (std::size_t index = 0; index < sent_.size();) {
                if (!sent_[index].why) {
                    ++index;
                    continue;
                }
                sent const one = sent_[index];
                sent_.erase(sent_.begin() + static_cast<std::ptrdiff_t>(index));
                one.request.visit([&]<class Request>(Request const& asked) {
                    result<response_of<Request>> answer{failure{*one.why}};
                    completion done{asked, answer, *one.context, one.tag, now};
                    sink(done);
                });
            }
        }
        [[nodiscard]] steady_time wakes_at() const noexcept override {
            for (sent const& each : sent_) {
                if (each.why) { return (steady_time::min)(); }
            }
            return (steady_time::max)();
        }

    private:
        struct sent {
            request_ref request;
            call* context;
            void* tag;
            std::optional<error> why{};
        };
        std::vector<sent> sent_;
    };
    [[nodiscard]] entitable::profile profile() const { return below.profile(); }
    template <table_request Request>
    [[nodiscard]] result<response_of<Request>> execute(Request const& request, call& context) const {
        return below.execute(request, context);
    }
    [[nodiscard]] shared<channel> open(io_driver&) const { return shared<channel>{new way}; }
};

task<result<book>> get_in_time(event_loop& loop, async_table<book> books) {
    co_return co_await with_timeout(loop, std::chrono::seconds{3}, get_one(books, "a", "1"));
}

task<> throws(std::string what) {
    co_await task<>{[](std::string inner) -> task<> {
        throw std::runtime_error{inner};
        co_return;
    }(what)};
}

task<std::int32_t> ends_at_once(std::int32_t number) { co_return number; }
task<std::int64_t> many_that_end_at_once(std::int32_t count) {
    std::int64_t sum = 0;
    for (std::int32_t number = 0; number < count; ++number) { sum += co_await ends_at_once(number); }
    co_return sum;
}

} // namespace

TEST_CASE("tasks run to completion over a transport that answers at once and over a channel") {
    memory_backend const store;
    event_loop loop;
    for (any_store const& through : {any_store{store}, any_store{in_channel{store}}}) {
        std::string const name = through.at_once() ? "AtOnce" : "InChannel";
        async_table<book> const books{loop, through, name};
        auto const sum = loop.run(fill_and_sum(books, "a", 600)); // more than the number answered at once in a row
        REQUIRE(sum);
        CHECK(*sum == 599 * 600 / 2);
        CHECK(table<book>{store, name}.get("a", "7").value() == book{"a", "7", 7});
    }
}

TEST_CASE("tasks run concurrently, and the first error returned by a task is stored") {
    any_store const store = in_channel{memory_backend{}};
    event_loop loop{{.in_flight = 3}};
    async_table<book> const books{loop, store, "Books"};
    for (int shelf = 0; shelf < 20; ++shelf) { loop.spawn(fill_and_sum(books, std::to_string(shelf), 10)); }
    loop.run();
    CHECK_FALSE(loop.error());
    CHECK(loop.spawned() == 20);
    loop.spawn(get_one(books, "0", "none"));
    loop.run();
    loop.spawn(fill_and_sum(books, "0", 10));
    loop.run();
    REQUIRE(loop.error());
    CHECK(loop.error()->code == error_code::resource_not_found);
}

TEST_CASE("an exception is passed on from its task and from the loop, and the other tasks continue") {
    any_store const store = in_channel{memory_backend{}};
    event_loop loop;
    async_table<book> const books{loop, store, "Books"};
    loop.spawn(fill_and_sum(books, "a", 5));
    loop.spawn(throws("first"));
    loop.spawn(throws("second"));
    CHECK_THROWS_WITH(loop.run(), "first");
    loop.run();
    CHECK_FALSE(loop.error());
    CHECK(table<book>{store, "Books"}.get("a", "4"));
    CHECK_THROWS_WITH(loop.run(throws("awaited")), "awaited");
}

TEST_CASE("a million tasks that complete immediately need no stack") {
    event_loop loop;
    CHECK(loop.run(many_that_end_at_once(1'000'000)) == 499'999'500'000);
}

TEST_CASE("a stopped loop ends its tasks with Cancelled") {
    any_store const store = in_channel{memory_backend{}};
    event_loop loop{{.in_flight = 2}};
    async_table<book> const books{loop, store, "Books"};
    REQUIRE(table<book>{store, "Books"}.create());
    for (int shelf = 0; shelf < 6; ++shelf) { loop.spawn(get_one(books, std::to_string(shelf), "1")); }
    CHECK(loop.turn());
    loop.stop(); // two are sent, four wait for their turn
    loop.run();
    REQUIRE(loop.error());
    CHECK(loop.error()->code == error_code::cancelled);
    auto const later = loop.run(get_one(books, "a", "1"));
    REQUIRE_FALSE(later);
    CHECK(later.error().code == error_code::cancelled);
}

TEST_CASE("requests in flight are cancelled and not waited for") {
    testing::manual_clock time;
    steady_time const begun = time.steady();
    event_loop loop{{.time = &time, .letters = false}};
    async_table<book> const books{loop, mute{}, "Books"};
    auto const late = loop.run(get_in_time(loop, books));
    REQUIRE_FALSE(late);
    CHECK(late.error().code == error_code::deadline_exceeded);
    CHECK(time.steady() - begun == std::chrono::seconds{3});
    loop.spawn(get_one(books, "a", "1"));
    CHECK(loop.turn());
    loop.stop();
    while (loop.turn()) { CHECK(loop.wakes_at() == (steady_time::min)()); }
    REQUIRE(loop.error());
    CHECK(loop.error()->code == error_code::cancelled);
}

TEST_CASE("a destroyed loop destroys the tasks that wait in it") {
    any_store const store = in_channel{memory_backend{}};
    REQUIRE(table<book>{store, "Books"}.create());
    event_loop loop{{.in_flight = 2}};
    async_table<book> const books{loop, store, "Books"};
    for (int shelf = 0; shelf < 6; ++shelf) { loop.spawn(get_one(books, std::to_string(shelf), "1")); }
    CHECK(loop.turn());
}

TEST_CASE("other threads can post functions and wake the loop") {
    any_store const store = memory_backend{};
    event_loop loop;
    async_table<book> const books{loop, store, "Books"};
    std::thread other{[&] {
        for (int shelf = 0; shelf < 50; ++shelf) {
            loop.post([&, shelf] { loop.spawn(fill_and_sum(books, std::to_string(shelf), 2)); });
        }
        loop.post([&] { loop.stop(); });
    }};
    loop.run_until_stopped();
    other.join();
    CHECK(loop.spawned() == 50);
    event_loop silent{{.letters = false}};
    CHECK_FALSE(silent.post([] {}));
}

TEST_CASE("a task that can never be resumed ends with an error") {
    struct never {
        [[nodiscard]] bool await_ready() const noexcept { return false; }
        void await_suspend(std::coroutine_handle<>) const noexcept {}
        void await_resume() const noexcept {}
    };
    event_loop loop{{.letters = false}};
    auto const waits = []() -> task<> { co_await never{}; };
    loop.spawn(waits());
    CHECK_THROWS_AS(loop.run(), error);
}

namespace {

task<int> two() { co_return 2; }
task<int> awaited_twice(bool& refused) {
    task<int> one = two();
    int const first = co_await std::move(one);
    try {
        co_return first + co_await std::move(one);
    } catch (error const& why) { refused = why.code == error_code::invalid_input; }
    co_return first;
}

} // namespace

TEST_CASE("a task that is awaited twice or was moved from is refused") {
    event_loop loop;
    bool refused = false;
    CHECK(loop.run(awaited_twice(refused)) == 2);
    CHECK(refused);
    task<int> gone = two();
    task<int> const here = std::move(gone);
    CHECK_THROWS_AS(loop.run(std::move(gone)), error);
    std::vector<task<int>> some;
    some.push_back(two());
    some.emplace_back();
    CHECK_THROWS_AS((void)when_all(std::move(some)), error);
    loop.spawn(task<int>{});
    CHECK_THROWS_AS(loop.run(), error);
    loop.run();
}

namespace {

task<int> nested(int depth, event_loop* sleeps) {
    if (depth == 0) {
        if (sleeps != nullptr) { (void)co_await sleep_for(*sleeps, std::chrono::hours{1}); }
        co_return 1;
    }
    co_return 1 + co_await nested(depth - 1, sleeps);
}
task<int> nested_throw(int depth) {
    if (depth == 0) { throw std::string{"deep"}; }
    co_return co_await nested_throw(depth - 1);
}

} // namespace

TEST_CASE("chains of 300,000 nested tasks need no depth of the stack: to run, to end, to be stopped and destroyed") {
    constexpr int depth = 300'000;
    event_loop loop;
    CHECK(loop.run(nested(depth, nullptr)) == depth + 1);
    loop.spawn(nested(depth, &loop));
    (void)loop.turn();
    loop.stop();
    loop.run();
    auto destroyed = std::make_unique<event_loop>();
    destroyed->spawn(nested(depth, destroyed.get()));
    (void)destroyed->turn();
    destroyed.reset();
    { auto const never_started = nested(3, nullptr); }
}

TEST_CASE("an exception passes through a deep chain of tasks") {
    event_loop loop;
    CHECK_THROWS_AS(loop.run(nested_throw(1'000)), std::string);
}
