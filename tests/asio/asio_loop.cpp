// SPDX-License-Identifier: MIT
// Copyright (c) 2026 the entitable authors

// Tables on the io_context of a program: callbacks, futures and coroutines of Asio, over HTTP, on several threads, stopped and
// destroyed.

#include <entitable/asio.hpp>
#include <entitable/azure.hpp>
#include <entitable/listener.hpp>
#include <entitable/memory.hpp>

#include <async/books.hpp>
#include <boost/asio/awaitable.hpp>
#include <boost/asio/bind_executor.hpp>
#include <boost/asio/co_spawn.hpp>
#include <boost/asio/detached.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/asio/steady_timer.hpp>
#include <boost/asio/use_awaitable.hpp>
#include <boost/asio/use_future.hpp>
#include <support/catch.hpp>

#include <thread>

using namespace entitable;
using namespace std::chrono_literals;
using entitable_test::book;
using entitable_test::book_of;
using entitable_test::in_channel;

namespace {

task<result<book>> get(async_table<book> books, std::string shelf, std::string isbn) {
    co_return co_await books.get(shelf, isbn);
}
task<result<std::size_t>> fill(async_table<book> books, std::string shelf, std::int32_t count) {
    ENTITABLE_CO_CHECK(co_await books.create_if_absent());
    for (std::int32_t number = 0; number < count; ++number) {
        ENTITABLE_CO_CHECK(co_await books.insert(book_of(shelf, number, number)));
    }
    ENTITABLE_CO_TRY(auto const found, co_await books.where(fields<book>::shelf == shelf).count());
    co_return static_cast<std::size_t>(found);
}
task<result<void>> throwing(event_loop& loop) {
    ENTITABLE_CO_CHECK(co_await sleep_for(loop, 1ms));
    throw std::string{"thrown"};
}
task<result<void>> sleeping(event_loop& loop, std::chrono::nanoseconds duration) {
    co_return co_await sleep_for(loop, duration);
}

/// A service on a socket.
struct served_tables {
    http_listener listener{table_server{memory_backend{}}, {.port = 0}};
    std::thread serving;
    served_tables() {
        listener.listen().value();
        serving = std::thread{[this] { listener.run().value(); }};
    }
    ~served_tables() {
        listener.stop();
        serving.join();
    }
    [[nodiscard]] azure_backend store() const {
        auto const account = served_account::development();
        return azure_backend{"DefaultEndpointsProtocol=http;AccountName=" + account.name +
            ";AccountKey=" + account.key + ";TableEndpoint=http://127.0.0.1:" + std::to_string(listener.port()) + "/" +
            account.name + ";"};
    }
};

boost::asio::awaitable<std::int32_t> sum(asio_loop& loop, async_table<book> books, std::int32_t count) {
    std::int32_t all = 0;
    for (std::int32_t number = 0; number < count; ++number) {
        auto const found =
            co_await async_run(loop, get(books, "shelf", std::to_string(number)), boost::asio::use_awaitable);
        all += found.value().price;
    }
    co_return all;
}

} // namespace

TEST_CASE("callbacks run on the io_context, whose run() returns when nothing is in flight") {
    boost::asio::io_context context;
    asio_loop loop{context.get_executor()};
    bool const spot = GENERATE(true, false);
    memory_backend const store;
    async_table<book> const books{loop.loop(), spot ? any_store{store} : any_store{in_channel{store}}, "Books"};
    std::vector<std::string> told;
    async_run(loop, fill(books, "shelf", 5), [&](std::exception_ptr thrown, result<std::size_t> filled) {
        told.push_back(thrown ? "thrown" : std::to_string(filled.value()));
        async_run(loop, get(books, "shelf", "9"), [&](std::exception_ptr, result<book> found) {
            told.push_back(found ? "found" : std::string{to_string(found.error().code)});
        });
    });
    CHECK(told.empty());
    context.run();
    CHECK(told == std::vector<std::string>{"5", "ResourceNotFound"});
}

TEST_CASE("Asio coroutines perform a thousand reads over HTTP, with curl on the io_context") {
    served_tables const served;
    boost::asio::io_context context;
    asio_loop loop{context.get_executor(), {.in_flight = 20}};
    async_table<book> const books{loop.loop(), served.store(), "Books"};
    std::int32_t all = 0;
    async_run(loop, fill(books, "shelf", 20), [&](std::exception_ptr, result<std::size_t> filled) {
        CHECK(filled.value() == 20);
        for (int each = 0; each < 10; ++each) {
            boost::asio::co_spawn(context, sum(loop, books, 20),
                [&](std::exception_ptr thrown, std::int32_t found) { all += thrown ? 0 : found; });
        }
    });
    context.run();
    CHECK(all == 10 * 190);
}

TEST_CASE("futures work with an io_context on several threads") {
    served_tables const served;
    boost::asio::io_context context;
    asio_loop loop{context.get_executor()};
    async_table<book> const books{loop.loop(), served.store(), "Books"}; // before the threads start
    auto busy = boost::asio::make_work_guard(context);
    std::vector<std::thread> threads;
    for (int each = 0; each < 3; ++each) {
        threads.emplace_back([&] { context.run(); });
    }
    CHECK(async_run(loop, fill(books, "shelf", 10), boost::asio::use_future).get().value() == 10);
    std::vector<std::future<result<book>>> reads;
    for (int each = 0; each < 50; ++each) {
        reads.push_back(async_run(loop, get(books, "shelf", std::to_string(each % 10)), boost::asio::use_future));
    }
    for (int each = 0; each < 50; ++each) {
        CHECK(reads[static_cast<std::size_t>(each)].get().value().price == each % 10);
    }
    CHECK_THROWS_AS(async_run(loop, throwing(loop.loop()), boost::asio::use_future).get(), std::string);
    busy.reset();
    for (auto& each : threads) { each.join(); }
}

TEST_CASE("timers of a loop wait in the io_context, and a stop cancels them") {
    boost::asio::io_context context;
    asio_loop loop{context.get_executor()};
    auto const begun = std::chrono::steady_clock::now();
    std::vector<int> order;
    for (int const each : {3, 1, 2}) {
        async_run(loop, sleeping(loop.loop(), each * 20ms),
            [&order, each](std::exception_ptr, result<void> slept) { order.push_back(slept ? each : -each); });
    }
    async_run(loop, sleeping(loop.loop(), 1h),
        [&](std::exception_ptr, result<void> slept) { order.push_back(slept.has_value() ? 0 : 9); });
    async_run(loop, sleeping(loop.loop(), 90ms),
        [&](std::exception_ptr, result<void>) { boost::asio::post(loop.get_executor(), [&] { loop.loop().stop(); }); });
    context.run();
    CHECK(order == std::vector<int>{1, 2, 3, 9});
    CHECK(std::chrono::steady_clock::now() - begun >= 90ms);
}

TEST_CASE("stop() from a timer of the program, on the strand or from any thread, ends all sleeping tasks") {
    boost::asio::io_context context;
    asio_loop loop{context.get_executor()};
    int ended = 0;
    for (int each = 0; each < 3; ++each) {
        async_run(loop, sleeping(loop.loop(), 1h), [&](std::exception_ptr, result<void> slept) {
            ended += !slept && slept.error().code == error_code::cancelled ? 1 : 0;
        });
    }
    boost::asio::steady_timer timer{context, 20ms};
    bool const on_strand = GENERATE(true, false);
    if (on_strand) {
        timer.async_wait(boost::asio::bind_executor(
            loop.get_executor(), [&](boost::system::error_code const&) { loop.loop().stop(); }));
    } else {
        timer.async_wait([&](boost::system::error_code const&) { loop.stop(); });
    }
    context.run_for(20s);
    CHECK(ended == 3);
}

TEST_CASE("a permit that a handler of the program gives back, and a task that it spawns, wake the loop") {
    boost::asio::io_context context;
    asio_loop loop{context.get_executor()};
    async_semaphore doors{loop.loop(), 1};
    auto const take = [](async_semaphore* of, std::optional<async_semaphore::permit>* out) -> task<result<void>> {
        ENTITABLE_CO_TRY(auto permit, co_await of->acquire());
        out->emplace(std::move(permit));
        co_return result<void>{};
    };
    std::optional<async_semaphore::permit> first;
    std::optional<async_semaphore::permit> second;
    bool told = false;
    async_run(loop, take(&doors, &first), [](std::exception_ptr, result<void>) {});
    async_run(loop, take(&doors, &second), [&](std::exception_ptr, result<void>) { told = true; });
    context.run_for(20ms);
    CHECK(first);
    CHECK_FALSE(told);
    boost::asio::post(loop.get_executor(), [&] { first.reset(); });
    context.restart();
    context.run_for(20s);
    CHECK(told);
    boost::asio::post(loop.get_executor(), [&] { loop.loop().spawn(take(&doors, &first)); });
    second.reset();
    context.restart();
    context.run_for(20s);
    CHECK(first);
}

TEST_CASE("a loop with thousands of fresh tasks lets the timers of the program run in between") {
    boost::asio::io_context context;
    loop_options options;
    options.steps = 50;
    asio_loop loop{context.get_executor(), options};
    memory_backend const store;
    async_table<book> const books{loop.loop(), in_channel{store}, "Books"};
    int ended = 0;
    int ended_at_first_post = -1;
    for (int each = 0; each < 5'000; ++each) {
        async_run(loop, get(books, "shelf", "1"), [&](std::exception_ptr, result<book>) { ++ended; });
    }
    int posts = 0;
    std::function<void()> const post_again = [&] {
        ++posts;
        if (ended > 0 && ended_at_first_post < 0) { ended_at_first_post = ended; }
        if (ended < 5'000) { boost::asio::post(context, post_again); }
    };
    boost::asio::post(context, post_again);
    context.run();
    CHECK(ended == 5'000);
    CHECK(posts > 100); // a turn of 50 steps at a time
    CHECK(ended_at_first_post <= 100);
}

TEST_CASE("run() rethrows the exception of a spawned task, and may be called again") {
    boost::asio::io_context context;
    asio_loop loop{context.get_executor()};
    loop.spawn(throwing(loop.loop()));
    bool slept = false;
    async_run(loop, sleeping(loop.loop(), 10ms), [&](std::exception_ptr, result<void>) { slept = true; });
    CHECK_THROWS_AS(context.run(), std::string);
    context.run();
    CHECK(slept);
}

TEST_CASE("a loop can be destroyed with requests in flight, before and after its io_context") {
    served_tables const served;
    bool const before = GENERATE(true, false);
    auto context = std::make_unique<boost::asio::io_context>();
    auto loop = std::make_unique<asio_loop>(context->get_executor());
    async_table<book> const books{loop->loop(), served.store(), "Books"};
    int told = 0;
    for (int each = 0; each < 20; ++each) {
        async_run(*loop, fill(books, "shelf" + std::to_string(each), 50),
            [&](std::exception_ptr, result<std::size_t>) { ++told; });
    }
    context->run_for(20ms);
    if (before) {
        loop.reset();
        context->run_for(20ms);
    } else {
        context->stop();
        loop.reset();
    }
    context.reset();
    CHECK(told <= 20);
}

TEST_CASE("a callback can destroy the loop that called it, with requests in flight") {
    served_tables const served;
    boost::asio::io_context context;
    auto loop = std::make_unique<asio_loop>(context.get_executor());
    int told = 0;
    {
        async_table<book> const books{loop->loop(), served.store(), "Books"};
        auto const last = std::make_shared<int>(7); // captured by value: destroyed with the handler
        async_run(*loop, sleeping(loop->loop(), 10ms), [&loop, &told, last](std::exception_ptr, result<void>) {
            told += *last;
            loop.reset();
        });
        for (int each = 0; each < 20; ++each) {
            async_run(*loop, fill(books, "shelf" + std::to_string(each), 5'000),
                [last](std::exception_ptr, result<std::size_t>) { *last = 0; });
        }
        CHECK(last.use_count() == 22);
        context.run(); // ends: the loop leaves nothing behind
        CHECK(last.use_count() == 1);
        CHECK(*last == 7);
    }
    CHECK(told == 7);
    CHECK_FALSE(loop);
}
