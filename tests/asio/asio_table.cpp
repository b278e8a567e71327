// SPDX-License-Identifier: MIT
// Copyright (c) 2026 the entitable authors

// What a program of Boost.Asio expects of an asynchronous operation, one test for each expectation: tokens, signature, diagnostics,
// cancellation, executors, allocators. Boost 1.77 or newer has all of it.

#include <entitable/asio.hpp>
#include <entitable/memory.hpp>

#include <boost/asio/version.hpp>
#if BOOST_ASIO_VERSION >= 102400
#include <asio/served.hpp>
#include <async/books.hpp>
#include <boost/asio/as_tuple.hpp>
#include <boost/asio/bind_allocator.hpp>
#include <boost/asio/bind_cancellation_slot.hpp>
#include <boost/asio/bind_executor.hpp>
#include <boost/asio/cancellation_signal.hpp>
#include <boost/asio/co_spawn.hpp>
#include <boost/asio/deferred.hpp>
#include <boost/asio/detached.hpp>
#include <boost/asio/experimental/awaitable_operators.hpp>
#include <boost/asio/experimental/parallel_group.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/asio/redirect_error.hpp>
#include <boost/asio/steady_timer.hpp>
#include <boost/asio/thread_pool.hpp>
#include <boost/asio/use_awaitable.hpp>
#include <boost/asio/use_future.hpp>
#include <support/catch.hpp>

#include <atomic>
#include <functional>
#include <thread>
#include <vector>

using namespace entitable;
using namespace std::chrono_literals;
using namespace boost::asio::experimental::awaitable_operators;
namespace asio = boost::asio;
using told_code = boost::system::error_code;
using entitable_test::book;
using entitable_test::book_of;
using entitable_test::in_channel;
using entitable_test::served_tables;
using entitable_test::silent_service;
using b = fields<book>;

namespace {

using clock_type = std::chrono::steady_clock;

/// A table in memory, behind a channel, with books "0" to "9" on the shelf "a".
struct stocked {
    asio::io_context context;
    asio_loop loop{context.get_executor()};
    memory_backend store;
    asio_table<book> books{loop, in_channel{store}, "Books"};
    stocked() {
        table<book> const plain{store, "Books"};
        plain.create().value();
        for (std::int32_t number = 0; number < 10; ++number) { plain.insert(book_of("a", number, number)).value(); }
    }
};

/// A call that the silent service never answers.
struct waiting_for_nobody {
    silent_service service;
    asio::io_context context;
    asio_loop loop{context.get_executor()};
    asio_table<book> books{loop, service.store(), "Books"};
};

/// Runs an awaitable to its end, and fails if that takes 20 seconds.
template <class T>
T run_in_time(asio::io_context& context, asio::awaitable<T> work) {
    std::optional<T> value;
    asio::co_spawn(context, std::move(work), [&](std::exception_ptr thrown, T ended) {
        if (thrown) { std::rethrow_exception(thrown); }
        value.emplace(std::move(ended));
    });
    context.run_for(20s);
    context.restart();
    REQUIRE(value);
    return *std::move(value);
}

} // namespace

TEST_CASE("a call with a callback has the signature void(told_code, T)") {
    stocked in;
    std::vector<std::string> told;
    in.books.async_get("a", "3",
        [&](told_code failed, book found) { told.push_back(failed.message() + " " + std::to_string(found.price)); });
    in.books.async_get("a", "77", [&](told_code failed, book found) {
        told.push_back(std::string{failed.category().name()} + " " + failed.message() + " " + found.isbn);
        CHECK(failed == entitable::error_code::resource_not_found);
        CHECK(failed.value() == static_cast<int>(entitable::error_code::resource_not_found));
    });
    CHECK(told.empty()); // never from inside the initiation
    in.context.run();
    REQUIRE(told.size() == 2);
    CHECK(told[0] == "Success 3");
    CHECK(told[1] == "entitable ResourceNotFound ");
}

TEST_CASE("each token works: use_awaitable, use_future, deferred, as_tuple, redirect_error, detached") {
    stocked in;
    auto future = in.books.async_get("a", "4", asio::use_future);
    auto failing = in.books.async_get("a", "44", asio::use_future);
    auto later = in.books.async_get("a", "5", asio::deferred); // a lazy operation
    in.books.async_remove("a", "9", any_etag, asio::detached);
    std::int32_t const sum = run_in_time(in.context, [](asio_table<book> books) -> asio::awaitable<std::int32_t> {
        book const one = co_await books.async_get("a", "1", asio::use_awaitable);
        auto const [failed, two] = co_await books.async_get("a", "2", asio::as_tuple(asio::use_awaitable));
        CHECK_FALSE(failed);
        told_code absent;
        auto const none = co_await books.async_get("a", "33", asio::redirect_error(asio::use_awaitable, absent));
        CHECK(absent == entitable::error_code::resource_not_found);
        CHECK(none.shelf.empty());
        bool thrown = false;
        try {
            (void)co_await books.async_get("a", "33", asio::use_awaitable);
        } catch (boost::system::system_error const& caught) {
            thrown = caught.code() == entitable::error_code::resource_not_found;
        }
        CHECK(thrown);
        co_return one.price + two.price;
    }(in.books));
    CHECK(sum == 3);
    CHECK(future.get().price == 4);
    CHECK_THROWS_AS(failing.get(), boost::system::system_error);
    std::int32_t price = 0;
    std::move(later)([&](told_code, book found) { price = found.price; });
    in.context.run();
    CHECK(price == 5);
    CHECK(table<book>{in.store, "Books"}.scan_table().count().value() == 9);
}

TEST_CASE("every verb of a table is an operation") {
    memory_backend const store;
    asio::io_context context;
    asio_loop loop{context.get_executor()};
    asio_table<book> const empty{loop, in_channel{store}, "Books"};
    bool const ended = run_in_time(context, [](asio_table<book> books) -> asio::awaitable<bool> {
        auto const use = asio::use_awaitable;
        (void)co_await books.async_create(use);
        (void)co_await books.async_create_if_absent(use);
        (void)co_await books.async_insert(book_of("a", 1, 1), use);
        (void)co_await books.async_upsert(book_of("a", 2, 2), use);
        (void)co_await books.async_insert_or_replace(book_of("a", 3, 3), use);
        (void)co_await books.async_insert_or_merge(book_of("a", 4, 4), use);
        auto const kept = co_await books.async_get_stored("a", "4", use);
        (void)co_await books.async_replace(book_of("a", 4, 40), kept.etag, use);
        told_code stale;
        (void)co_await books.async_replace(book_of("a", 4, 400), kept.etag, asio::redirect_error(use, stale));
        CHECK(stale == entitable::error_code::update_condition_not_satisfied);
        (void)co_await books.async_merge(book_of("a", 3, 30), any_etag, use);
        auto const got1 = co_await books.async_find("a", "99", use); // GCC 12 evaluates `co_await` twice in a CHECK
        CHECK(got1 == std::nullopt);
        auto const more = [](book& one) { ++one.price; };
        auto const got2 = co_await books.async_update("a", "1", more, use);
        CHECK(got2.entity.price == 2);
        auto const got3 = co_await books.async_update("a", "1", any_etag, more, use);
        CHECK(got3.entity.price == 3);
        auto const got4 = co_await books.async_update("a", "1", more, update_options{.max_attempts = 3}, use);
        CHECK(got4.changed);
        auto const got5 = co_await books.async_update_if_present("a", "99", more, use);
        CHECK_FALSE(got5.has_value());
        auto const both = [](transaction<book>& all) -> result<void> {
            ENTITABLE_CHECK(all.update("1", [](book& one) { one.price = 100; }));
            ENTITABLE_CHECK(all.update("2", [](book& one) { one.price = 200; }));
            return {};
        };
        auto const got6 = co_await books.async_transact("a", both, use);
        CHECK(got6.changed);
        auto batch = books.batch();
        batch.insert(book_of("a", 5, 5)).insert(book_of("a", 6, 6));
        auto const got7 = co_await books.async_submit(batch, use);
        CHECK(got7.size() == 2);
        auto const got8 = co_await books.async_call([](auto const& all) { return all.get("a", "5"); }, use);
        CHECK(got8.price == 5);
        (void)co_await books.async_remove("a", "6", any_etag, use);
        (void)co_await books.async_remove(book_of("a", 5), any_etag, use);
        (void)co_await books.async_remove_if_present("a", "5", any_etag, use);

        auto const of_a = books.where(b::shelf == "a");
        auto const all = co_await of_a.async_to_vector(use);
        CHECK(all.size() == 4);
        CHECK(all.front().price == 100);
        auto const got9 = co_await of_a.async_count(use);
        CHECK(got9 == 4);
        auto const got10 = co_await of_a.async_first(use);
        CHECK(got10->isbn == "1");
        auto const got11 = co_await books.scan_table().async_exists(use);
        CHECK(got11);
        auto const got12 = co_await of_a.async_end([](auto const& query) { return query.sum(b::price); }, use);
        CHECK(got12 == 370);
        int seen = 0;
        (void)co_await of_a.async_for_each([&seen](book const&) { ++seen; }, use);
        CHECK(seen == 4);
        std::size_t rows = 0;
        int turns = 0;
        for (auto pages = of_a.page_size(3).pages();; ++turns) {
            auto const page = co_await pages.async_next(use);
            if (!page) { break; }
            rows += page->size();
        }
        CHECK(rows == 4);
        CHECK(turns == 2);
        (void)co_await books.async_drop(use);
        (void)co_await books.async_drop_if_present(use);
        told_code dropped;
        (void)co_await books.async_get("a", "1", asio::redirect_error(use, dropped));
        CHECK(dropped == entitable::error_code::table_not_found);
        co_return true;
    }(empty));
    CHECK(ended);
}

TEST_CASE("diagnostics receive the whole error, and the exception of a function of the program") {
    stocked in;
    call_diagnostics whole;
    whole.problem.emplace(entitable::error_code::store_full, "left from before");
    int told = 0;
    in.books.async_insert(book_of("a", 3, 3), whole, [&](told_code failed, written) {
        ++told;
        CHECK(failed == entitable::error_code::entity_already_exists);
        REQUIRE(whole.problem);
        CHECK(whole.problem->http_status == 409);
        CHECK(whole.problem->effect == effect::none);
        CHECK_FALSE(whole.thrown);
    });
    in.context.run();
    in.context.restart();
    in.books.async_get("a", "3", whole, [&](told_code failed, book const&) {
        ++told;
        CHECK_FALSE(failed);
        CHECK_FALSE(whole.problem);
    });
    in.context.run();
    in.context.restart();
    in.books.async_update(
        "a", "3", [](book&) { throw std::string{"mine"}; }, whole,
        [&](told_code failed, auto const&) {
            ++told;
            CHECK(failed == entitable::error_code::internal_error);
            CHECK_THROWS_AS(std::rethrow_exception(whole.thrown), std::string);
        });
    in.context.run();
    CHECK(told == 3);
}

TEST_CASE("the codes have conditions, and Cancelled is operation_aborted") {
    CHECK(make_error_code(entitable::error_code::cancelled) == asio::error::operation_aborted);
    told_code const late = entitable::error_code::deadline_exceeded;
    CHECK(late == boost::system::errc::timed_out);
    CHECK(late.message() == "DeadlineExceeded");
    CHECK(told_code{entitable::error_code::not_supported} == boost::system::errc::not_supported);
    CHECK_FALSE(told_code{entitable::error_code::resource_not_found} == boost::system::errc::timed_out);
    CHECK(told_code{entitable::error_code::resource_not_found}.failed());
}

TEST_CASE("a call and a timer in parallel: the timer wins, and the request ends") {
    waiting_for_nobody in;
    auto const begun = clock_type::now();
    bool const timer_won = run_in_time(in.context, [](asio_table<book> books) -> asio::awaitable<bool> {
        asio::steady_timer timer{co_await asio::this_coro::executor, 100ms};
        auto const first =
            co_await (books.async_get("a", "b", asio::use_awaitable) || timer.async_wait(asio::use_awaitable));
        co_return first.index() == 1;
    }(in.books));
    CHECK(timer_won);
    CHECK(clock_type::now() - begun < 15s);
}

TEST_CASE("a task and a timer in parallel: async_run is cancelled as well") {
    waiting_for_nobody in;
    async_table<book> const tables{in.loop.loop(), in.service.store(), "Books"};
    bool const timer_won =
        run_in_time(in.context, [](asio_loop& loop, async_table<book> books) -> asio::awaitable<bool> {
            auto const get = [](async_table<book> from) -> task<result<book>> {
                co_return co_await from.get("a", "b");
            };
            asio::steady_timer timer{co_await asio::this_coro::executor, 50ms};
            auto const first =
                co_await (async_run(loop, get(books), asio::use_awaitable) || timer.async_wait(asio::use_awaitable));
            co_return first.index() == 1;
        }(in.loop, tables));
    CHECK(timer_won);
}

TEST_CASE("parallel_group cancels the calls that were not first") {
    waiting_for_nobody in;
    std::vector<std::string> told;
    asio::steady_timer timer{in.context, 50ms};
    asio::experimental::make_parallel_group(in.books.async_get("a", "b", asio::deferred),
        in.books.where(b::shelf == "a").async_to_vector(asio::deferred), timer.async_wait(asio::deferred))
        .async_wait(asio::experimental::wait_for_one(),
            [&](std::array<std::size_t, 3> order, told_code one, book const&, told_code many, std::vector<book> const&,
                told_code timed) {
                told.push_back(std::to_string(order[0]));
                told.push_back(one == asio::error::operation_aborted ? "aborted" : one.message());
                told.push_back(many == asio::error::operation_aborted ? "aborted" : many.message());
                told.push_back(timed.message());
            });
    in.context.run_for(20s);
    CHECK(told == std::vector<std::string>{"2", "aborted", "aborted", "Success"});
}

TEST_CASE("co_spawn with a cancellation slot ends the call of its coroutine") {
    waiting_for_nobody in;
    asio::cancellation_signal signal;
    told_code ended;
    asio::co_spawn(
        in.context,
        [](asio_table<book> books, told_code& out) -> asio::awaitable<void> {
            (void)co_await books.async_get("a", "b", asio::redirect_error(asio::use_awaitable, out));
        }(in.books, ended),
        asio::bind_cancellation_slot(signal.slot(), asio::detached));
    asio::steady_timer timer{in.context, 50ms};
    timer.async_wait([&](told_code) { signal.emit(asio::cancellation_type::terminal); });
    in.context.run_for(20s);
    CHECK(ended == asio::error::operation_aborted);
}

TEST_CASE("each type of cancellation: a read always ends, a write that was sent only by terminal and partial") {
    waiting_for_nobody in;
    auto const type = GENERATE(asio::cancellation_type::terminal, asio::cancellation_type::partial,
        asio::cancellation_type::total, asio::cancellation_type::all);
    asio::cancellation_signal of_read;
    asio::cancellation_signal of_write;
    told_code read_ended;
    told_code write_ended;
    call_diagnostics whole;
    in.books.async_get("a", "b",
        asio::bind_cancellation_slot(of_read.slot(), [&](told_code failed, book const&) { read_ended = failed; }));
    in.books.async_insert(book_of("a", 1), whole,
        asio::bind_cancellation_slot(of_write.slot(), [&](told_code failed, written) { write_ended = failed; }));
    CHECK(of_read.slot().has_handler());
    in.context.run_for(100ms);
    of_read.emit(type);
    of_write.emit(type);
    in.context.run_for(100ms);
    CHECK(read_ended == asio::error::operation_aborted);
    CHECK_FALSE(of_read.slot().has_handler()); // before the handler was called
    bool const ends_writes = type != asio::cancellation_type::total;
    CHECK((write_ended == asio::error::operation_aborted) == ends_writes);
    if (!ends_writes) {
        of_write.emit(asio::cancellation_type::terminal);
        in.context.run_for(10s);
        CHECK(write_ended == asio::error::operation_aborted);
    }
    REQUIRE(whole.problem);
    CHECK(whole.problem->code == entitable::error_code::cancelled);
    CHECK(whole.problem->effect == effect::unknown);
}

TEST_CASE("a call that was cancelled before it began sends nothing") {
    served_tables const served;
    table<book>{served.behind, "Books"}.create().value();
    asio::io_context context;
    asio_loop loop{context.get_executor()};
    asio_table<book> const books{loop, served.store(), "Books"};
    asio::cancellation_signal signal;
    call_diagnostics whole;
    bool told = false;
    books.async_insert(
        book_of("a", 1), whole, asio::bind_cancellation_slot(signal.slot(), [&](told_code failed, written) {
            told = true;
            CHECK(failed == asio::error::operation_aborted);
        }));
    signal.emit(asio::cancellation_type::total);
    context.run();
    CHECK(told);
    REQUIRE(whole.problem);
    CHECK(whole.problem->effect == effect::none);
    CHECK(table<book>{served.behind, "Books"}.scan_table().count().value() == 0);
}

TEST_CASE("work is kept on the executor of the handler and on that of the loop from the initiation on") {
    asio::io_context of_handler;
    asio::io_context of_loop;
    asio_loop loop{of_loop.get_executor()};
    memory_backend const store;
    bool const as_task = GENERATE(true, false);
    asio_table<book> const books{loop, in_channel{store}, "Books"};
    async_table<book> const awaited{loop.loop(), in_channel{store}, "Books"};
    bool ran = false;
    if (as_task) {
        auto const get = [](async_table<book> from) -> task<result<book>> { co_return co_await from.get("a", "b"); };
        async_run(loop, get(awaited),
            asio::bind_executor(of_handler.get_executor(), [&](std::exception_ptr, result<book>) { ran = true; }));
    } else {
        books.async_get("a", "b", asio::bind_executor(of_handler.get_executor(), [&](told_code, book) {
            ran = true;
            CHECK(of_handler.get_executor().running_in_this_thread());
            CHECK_FALSE(of_loop.get_executor().running_in_this_thread());
        }));
    }
    CHECK(of_handler.run_for(20ms) == 0);
    CHECK_FALSE(of_handler.stopped()); // it waits for the handler
    of_loop.run();
    CHECK_FALSE(ran);
    CHECK(of_handler.run() == 1);
    CHECK(ran);
    CHECK(of_loop.stopped());
}

TEST_CASE("a semaphore that nobody releases keeps the executor of its loop busy") {
    asio::io_context context;
    asio_loop loop{context.get_executor()};
    async_semaphore none{loop.loop(), 0};
    auto const waits = [](async_semaphore* of) -> task<result<void>> {
        ENTITABLE_CO_TRY(auto const permit, co_await of->acquire());
        co_return result<void>{};
    };
    told_code ended;
    async_call(loop, [&](event_loop&) { return waits(&none); }, [&](told_code failed) { ended = failed; });
    context.run_for(20ms);
    CHECK_FALSE(context.stopped());
    loop.stop();
    context.run();
    CHECK(ended == asio::error::operation_aborted);
}

namespace {

/// Counts what it hands out.
template <class T>
struct counting_allocator {
    using value_type = T;
    std::ptrdiff_t* live;
    std::ptrdiff_t* ever;

    counting_allocator(std::ptrdiff_t& now, std::ptrdiff_t& all) noexcept : live(&now), ever(&all) {}
    template <class U>
    counting_allocator(counting_allocator<U> const& other) noexcept : live(other.live), ever(other.ever) {}
    T* allocate(std::size_t count) {
        *live += static_cast<std::ptrdiff_t>(count * sizeof(T));
        *ever += static_cast<std::ptrdiff_t>(count * sizeof(T));
        return std::allocator<T>{}.allocate(count);
    }
    void deallocate(T* memory, std::size_t count) noexcept {
        *live -= static_cast<std::ptrdiff_t>(count * sizeof(T));
        std::allocator<T>{}.deallocate(memory, count);
    }
    friend bool operator==(counting_allocator const&, counting_allocator const&) = default;
};

} // namespace

TEST_CASE("the memory of a call comes from the allocator of the handler, and is free when the handler runs") {
    stocked in;
    std::ptrdiff_t live = 0;
    std::ptrdiff_t ever = 0;
    std::ptrdiff_t when_called = -1;
    in.books.async_get("a", "3",
        asio::bind_allocator(counting_allocator<void*>{live, ever}, [&](told_code, book) { when_called = live; }));
    CHECK(live > 500); // the frame, with the request and its call
    in.context.run();
    CHECK(when_called == 0);
    CHECK(live == 0);
    CHECK(ever > 500);
}

TEST_CASE("handlers may be move-only, and run on a strand") {
    stocked in;
    auto const strand = asio::make_strand(in.context);
    int price = 0;
    in.books.async_get(
        "a", "3", asio::bind_executor(strand, [&, only = std::make_unique<int>(7)](told_code, book found) {
            price = found.price + *only;
            CHECK(strand.running_in_this_thread());
        }));
    in.context.run();
    CHECK(price == 10);
}

TEST_CASE("calls begin on any thread of a pool") {
    served_tables const served;
    table<book>{served.behind, "Books"}.create().value();
    asio::thread_pool pool{3};
    std::atomic<int> inserted{0};
    {
        asio_loop loop{pool.get_executor()};
        asio_table<book> const books{loop, served.store(), "Books"};
        std::vector<std::thread> threads;
        for (int each = 0; each < 4; ++each) {
            threads.emplace_back([&, each] {
                for (int number = 0; number < 25; ++number) {
                    books.async_insert(book_of("shelf" + std::to_string(each), number),
                        [&](told_code failed, written) { inserted += failed ? 0 : 1; });
                }
                CHECK(books.async_find("shelf9", "9", asio::use_future).get() == std::nullopt);
            });
        }
        for (auto& each : threads) { each.join(); }
        pool.join();
    }
    CHECK(inserted == 100);
    CHECK(table<book>{served.behind, "Books"}.scan_table().count().value() == 100);
}

TEST_CASE("thousands of calls that begin while others begin are all made") {
    stocked in;
    int told = 0;
    std::function<void(int)> const begin = [&](int more) {
        for (int each = 0; each < 300; ++each) {
            in.books.async_get("a", "1", [&, each, more](told_code failed, book const&) {
                told += failed ? 0 : 1;
                if (each == 0 && more > 0) { begin(more - 1); }
            });
        }
    };
    begin(3);
    begin(3);
    in.context.run();
    CHECK(told == 2'400);
}

TEST_CASE("a call after the end of its loop is aborted, and one under way is dropped with the loop") {
    asio::io_context context;
    memory_backend const store;
    auto loop = std::make_unique<asio_loop>(context.get_executor());
    asio_table<book> const books{*loop, in_channel{store}, "Books"};
    int called = 0;
    auto const held = std::make_shared<int>(1);
    books.async_get("a", "b", [&, held](told_code, book) { ++called; });
    CHECK(held.use_count() > 1);
    loop.reset();
    CHECK(held.use_count() == 1);
    told_code ended;
    books.async_get("a", "b", [&](told_code failed, book) { ended = failed; });
    context.run();
    CHECK(ended == asio::error::operation_aborted);
    CHECK(called == 0);
}

TEST_CASE("a move of a table, a query or its pages is a copy") {
    stocked in;
    auto moved = in.books;
    auto const taken = std::move(moved);
    auto query = taken.where(b::shelf == "a");
    auto const other_query = std::move(query);
    auto pages = query.page_size(4).pages();
    auto const other_pages = std::move(pages);
    std::size_t rows = 0;
    auto const count = [&](told_code failed, std::optional<page_of<book>> const& page) {
        CHECK_FALSE(failed);
        rows += page ? page->size() : 0;
    };
    moved.async_get("a", "1", [&](told_code failed, book const&) { CHECK_FALSE(failed); });
    query.async_count([&](told_code failed, std::uint64_t all) {
        CHECK_FALSE(failed);
        CHECK(all == 10);
    });
    pages.async_next([&](told_code failed, std::optional<page_of<book>> const& page) {
        count(failed, page);
        other_pages.async_next(count); // shares the position
    });
    in.context.run();
    CHECK(rows == 8);
}

TEST_CASE("an operation of a loop has an executor, and any awaitable is one") {
    stocked in;
    CHECK(in.books.get_executor() == in.loop.get_executor());
    int slept = 0;
    async_call(
        in.loop,
        [](event_loop& loop) {
            auto const get = [](event_loop* of) -> task<result<int>> {
                ENTITABLE_CO_CHECK(co_await sleep_for(*of, 1h));
                co_return 1;
            };
            return with_timeout(loop, 5ms, get(&loop));
        },
        [&](told_code failed, int) { slept = failed == boost::system::errc::timed_out ? 1 : 2; });
    in.context.run();
    CHECK(slept == 1);
}
#endif
