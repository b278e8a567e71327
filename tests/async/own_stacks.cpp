// SPDX-License-Identifier: MIT
// Copyright (c) 2026 the entitable authors

// Blocking code on stacks of its own: transactions, bulk loads, queues, units of work and shards in one thread.

#include <entitable/bulk.hpp>
#include <entitable/core/detail/side_stack.hpp>
#include <entitable/memory.hpp>
#include <entitable/messaging.hpp>
#include <entitable/shards.hpp>
#include <entitable/testing/manual_clock.hpp>
#include <entitable/unit_of_work.hpp>

#include <async/books.hpp>
#include <support/catch.hpp>
#include <support/delayed.hpp>
#include <support/maps.hpp>

#include <algorithm>
#include <cfenv>
#include <set>

using namespace entitable;
using namespace std::chrono_literals;
using entitable_test::book;
using entitable_test::book_of;
using entitable_test::in_channel;
using b = fields<book>;

namespace {

/// A loop with a manual clock over a store that answers after 10 ms.
struct far_loop {
    static constexpr auto latency = 10ms;
    memory_backend store;
    testing::manual_clock time;
    int asked = 0;
    any_store cloud = entitable_test::delayed{any_store{store}, time, [this] { return ++asked, latency; }};
    event_loop loop{{.time = &time, .letters = false}};
    steady_time begun = time.steady();

    /// The number of answers that were waited for one after the other.
    [[nodiscard]] auto rounds() { return (time.steady() - begun) / latency; }
    [[nodiscard]] table<book> plain() const { return {store, "Books"}; }
    far_loop() { plain().create().value(); }
};

result<void> move_price(transaction<book>& all, std::string const& from, std::string const& to, std::int32_t amount) {
    auto one = all.get(from);
    auto other = all.get(to);
    if (!one || !other) { return std::move(one ? other : one).as_failure(); }
    one->price -= amount;
    other->price += amount;
    all.replace(*one);
    all.replace(*other);
    return {};
}

struct counted_end {
    explicit counted_end(int& in) : ends(in) {}
    counted_end(counted_end const&) = delete;
    counted_end& operator=(counted_end const&) = delete;
    ~counted_end() { ++ends; }
    int& ends;
};

task<result<transacted>> move_in_task(async_table<book> books, std::string from, std::string to) {
    auto const body = [&](transaction<book>& all) { return move_price(all, from, to, 1); };
    co_return co_await books.transact("shelf", body);
}

task<result<std::string>> first_of_two(event_loop& loop, task<result<std::string>> one) {
    co_return co_await with_timeout(loop, 1s, std::move(one));
}

/// What runs in one schedule, stopped or destroyed at a turn. Returns the number of turns.
std::size_t stop_at(std::size_t stopped, std::size_t destroyed) {
    INFO("stopped at " << stopped << ", destroyed at " << destroyed);
    far_loop in;
    for (int number = 0; number < 3; ++number) { in.plain().insert(book_of("shelf", number, 100)).value(); }
    auto loop = std::make_unique<event_loop>(loop_options{.in_flight = 3, .time = &in.time, .letters = false});
    loop_transport const near{*loop, in.cloud};
    queue_options of_queue;
    of_queue.time = &loop_clock(*loop);
    bulk_options of_load;
    of_load.time = &loop_clock(*loop);
    std::vector<book> rows;
    for (int shelf = 0; shelf < 4; ++shelf) { rows.push_back(book_of("load" + std::to_string(shelf), 1)); }
    int begun = 0;
    int ended = 0;
    int claims = 0;
    auto const load = [&]() -> result<void> {
        ++begun;
        counted_end const counted{ended};
        auto done = bulk_insert(table<book>{near, "Books"}, rows, of_load);
        return done ? result<void>{} : std::move(done).as_failure();
    };
    auto const work = [&]() -> result<void> {
        ++begun;
        counted_end const counted{ended};
        table_queue<book> const jobs{near, "Jobs", of_queue};
        (void)jobs.create();
        if (auto put = jobs.enqueue(book_of("job", 1)); !put) { return std::move(put).as_failure(); }
        auto job = jobs.claim({.wait = 3s});
        if (!job || !*job) { return job ? result<void>{} : std::move(job).as_failure(); }
        ++claims;
        return (**job).complete();
    };
    async_table<book> const books{*loop, in.cloud, "Books"};
    for (int each = 0; each < 3; ++each) {
        loop->spawn(move_in_task(books, std::to_string(each), std::to_string((each + 1) % 3)));
    }
    loop->spawn(on_own_stack(*loop, load));
    loop->spawn(on_own_stack(*loop, work));
    std::size_t turn = 0;
    bool more = true;
    for (; more && turn < destroyed; ++turn) {
        if (turn == stopped) { loop->stop(); }
        more = loop->turn();
        REQUIRE(turn < 2000);
        if (more) { in.time.wait_until(std::min(loop->wakes_at(), in.time.steady() + 10s)); }
    }
    if (destroyed == ~std::size_t{0}) { CHECK_FALSE(more); }
    loop.reset();
    CHECK(ended == begun);
    std::int32_t sum = 0;
    for (auto const& each : in.plain().where(b::shelf == "shelf").to().value()) { sum += each.price; }
    CHECK(sum == 300); // a whole transaction or no part of it
    if (stopped == ~std::size_t{0} && destroyed == ~std::size_t{0}) {
        CHECK(claims == 1);
        CHECK(in.plain().scan_table().count().value() == 7);
    }
    return turn;
}

} // namespace

TEST_CASE("many transactions of one partition run concurrently, and none is lost") {
    far_loop in;
    for (int number = 0; number < 6; ++number) { REQUIRE(in.plain().insert(book_of("shelf", number, 100))); }
    async_table<book> const books{in.loop, in.cloud, "Books"};
    constexpr int tasks = 30;
    for (int each = 0; each < tasks; ++each) {
        in.loop.spawn(move_in_task(books, std::to_string(each % 6), std::to_string((each + 1) % 6)));
    }
    in.loop.run();
    CHECK_FALSE(in.loop.error());
    CHECK(in.asked > 4 * tasks); // many lost a race and started over
    CHECK(in.rounds() < in.asked / 4);
    std::int32_t sum = 0;
    for (auto const& each : in.plain().where(b::shelf == "shelf").to().value()) {
        CHECK(each.price == 100); // the sum is unchanged
        sum += each.price;
    }
    CHECK(sum == 600);
}

TEST_CASE("an awaited transaction has the same result as the blocking transaction") {
    memory_backend store;
    table<book> const plain{store, "Books"};
    REQUIRE(plain.create());
    REQUIRE(plain.insert({"shelf", "1", 1}));
    bool const spot = GENERATE(true, false);
    event_loop loop;
    async_table<book> const books{loop, spot ? any_store{store} : any_store{in_channel{store}}, "Books"};
    auto const both = [&](auto const& body) {
        auto const blocking = plain.transact("shelf", body);
        auto const awaited = loop.run(books.transact("shelf", body));
        REQUIRE(blocking.has_value() == awaited.has_value());
        if (blocking) {
            CHECK(blocking->attempts == awaited->attempts);
            CHECK(blocking->changed == awaited->changed);
        } else {
            CHECK(blocking.error().to_string() == awaited.error().to_string());
        }
    };
    both([](transaction<book>& all) -> result<void> {
        return all.update("1", [](book& it) { ++it.price; }) ? result<void>{}
                                                             : failure{error_code::internal_error, "no"};
    });
    both([](transaction<book>& all) -> result<void> {
        return all.find("2") ? result<void>{} : failure{error_code::internal_error, "no"};
    });
    both([](transaction<book>& all) -> result<void> {
        auto const got = all.get("2");
        return got ? result<void>{} : failure{got.error()};
    });
    both([](transaction<book>& all) -> result<void> {
        all.insert(book{"shelf", "1", 5});
        return {};
    });
    both([](transaction<book>& all) -> result<void> {
        all.insert(book{"other", "1", 5});
        return {};
    });
    both([](transaction<book>&) -> result<void> { return failure{error_code::invalid_input, "changed my mind"}; });
    CHECK(plain.get("shelf", "1").value().price == 3);
}

TEST_CASE("co_await rethrows an exception thrown by the body, and nothing is written") {
    far_loop in;
    REQUIRE(in.plain().insert({"shelf", "1", 1}));
    async_table<book> const books{in.loop, in.cloud, "Books"};
    int ends = 0;
    auto const body = [&](transaction<book>& all) -> result<void> {
        counted_end const counted{ends};
        book it = all.get("1").value();
        it.price = 2;
        all.replace(it);
        throw std::string{"thrown"};
    };
    CHECK_THROWS_AS(in.loop.run(books.transact("shelf", body)), std::string);
    CHECK(ends == 1);
    CHECK(in.plain().get("shelf", "1").value().price == 1);
}

TEST_CASE("a catch clause that waits keeps its exception when other stacks throw while it waits") {
    far_loop in;
    REQUIRE(in.plain().insert({"shelf", "1", 1}));
    loop_transport const near{in.loop, in.cloud};
    table<book> const books{near, "Books"};
    int right = 0;
    auto const work = [&] {
        int const own = right++ * 0 + static_cast<int>(in.loop.spawned());
        try {
            throw own;
        } catch (int) {
            (void)books.get("shelf", "1").value();
            try {
                throw;
            } catch (int again) { right += again == own ? 0 : 1000; }
            (void)books.get("shelf", "1").value();
        }
    };
    for (int each = 0; each < 5; ++each) { in.loop.spawn(on_own_stack(in.loop, work)); }
    in.loop.run();
    CHECK(right == 5);
}

TEST_CASE("a bulk load on one stack has many requests in flight, and other tasks continue") {
    far_loop in;
    loop_transport const near{in.loop, in.cloud};
    std::vector<book> rows;
    for (int shelf = 0; shelf < 40; ++shelf) {
        for (int number = 0; number < 5; ++number) { rows.push_back(book_of("shelf" + std::to_string(shelf), number)); }
    }
    bulk_options options;
    options.time = &loop_clock(in.loop);
    options.in_flight = 16;
    auto const report =
        in.loop.run(on_own_stack(in.loop, [&] { return bulk_insert(table<book>{near, "Books"}, rows, options); }));
    REQUIRE(report);
    CHECK(report->written == rows.size());
    CHECK(in.asked == 40);
    CHECK(in.rounds() <= 8);
    CHECK(in.plain().scan_table().count().value() == rows.size());
}

TEST_CASE("workers on one thread claim messages of a queue, each message once") {
    far_loop in;
    loop_transport const near{in.loop, in.cloud};
    queue_options options;
    options.time = &loop_clock(in.loop);
    options.lanes = 2;
    options.visibility = 30s;
    std::multiset<std::string> done;
    auto const fill = [&]() -> result<void> {
        table_queue<book> const jobs{near, "Jobs", options};
        if (auto made = jobs.create(); !made) { return std::move(made).as_failure(); }
        for (int number = 0; number < 20; ++number) {
            if (auto put = jobs.enqueue(book_of("job", number)); !put) { return std::move(put).as_failure(); }
        }
        return {};
    };
    auto const work = [&]() -> result<void> {
        table_queue<book> const jobs{near, "Jobs", options}; // a worker of its own
        for (;;) {
            auto job = jobs.claim();
            if (!job) { return std::move(job).as_failure(); }
            if (!*job) { return {}; }
            done.insert((**job).message().isbn);
            if (auto ended = (**job).complete(); !ended) { return ended; }
        }
    };
    REQUIRE(in.loop.run(on_own_stack(in.loop, fill)));
    for (int worker = 0; worker < 4; ++worker) { in.loop.spawn(on_own_stack(in.loop, work)); }
    in.loop.run();
    if (in.loop.error()) { FAIL_CHECK(in.loop.error()->to_string()); }
    CHECK(done.size() == 20);
    CHECK(std::set<std::string>(done.begin(), done.end()).size() == 20);
    CHECK(in.rounds() < in.asked / 2);
}

TEST_CASE("a waiting claim lets other tasks run, and a cancelled claim ends early") {
    far_loop in;
    loop_transport const near{in.loop, in.cloud};
    queue_options options;
    options.time = &loop_clock(in.loop);
    table_queue<book> const jobs{near, "Jobs", options};
    auto const first = [&]() -> result<std::string> {
        auto job = jobs.claim({.wait = 60s});
        if (!job || !*job) { return job ? std::string{"nothing"} : result<std::string>{std::move(job).as_failure()}; }
        std::string isbn = (**job).message().isbn;
        return (**job).complete() ? isbn : std::string{"not completed"};
    };
    auto const put_late = [&] {
        loop_clock(in.loop).wait_until(loop_clock(in.loop).steady() + 5s);
        return jobs.enqueue(book_of("job", 7)).has_value();
    };
    REQUIRE(in.loop.run(on_own_stack(in.loop, [&] { return jobs.create().has_value(); })));
    in.loop.spawn(on_own_stack(in.loop, put_late));
    CHECK(in.loop.run(on_own_stack(in.loop, first)).value() == "7");
    auto const begun = in.time.steady();
    CHECK(
        in.loop.run(first_of_two(in.loop, on_own_stack(in.loop, first))).error().code == error_code::deadline_exceeded);
    CHECK(in.time.steady() - begun < 1100ms);
}

TEST_CASE("a fan-out over shards sends to all stores at once from one stack") {
    far_loop in;
    sharded_options how;
    how.time = &loop_clock(in.loop);
    sharded const all{
        entitable_test::map_without_identity(memory_backend{}, "shardmap", virtual_shards{17}, {"a", "b", "c"}),
        [&](std::string_view) -> result<any_store> {
            return loop_transport{in.loop,
                entitable_test::delayed{memory_backend{}, in.time, [&] { return ++in.asked, far_loop::latency; }}};
        },
        how};
    table<book> const books{all, "Books"};
    auto const fill = [&]() -> result<void> {
        if (auto made = books.create(); !made) { return made; }
        for (int shelf = 0; shelf < 40; ++shelf) {
            if (auto done = books.insert(book_of("shelf" + std::to_string(shelf), 1, shelf)); !done) {
                return std::move(done).as_failure();
            }
        }
        return {};
    };
    REQUIRE(in.loop.run(on_own_stack(in.loop, fill)));
    in.asked = 0;
    in.begun = in.time.steady();
    auto const scan = [&] { return books.scan_table(b::price < 100).count().value(); };
    CHECK(in.loop.run(on_own_stack(in.loop, scan)) == 40);
    CHECK(in.asked == 17);
    CHECK(in.rounds() == 1);
    // Two at once take no longer than one.
    in.begun = in.time.steady();
    in.loop.spawn(on_own_stack(in.loop, scan));
    in.loop.spawn(on_own_stack(in.loop, scan));
    in.loop.run();
    CHECK(in.rounds() == 1);
}

TEST_CASE("transactions, loads and queues can be stopped and destroyed at every turn") {
    constexpr auto never = ~std::size_t{0};
    std::size_t const turns = stop_at(never, never);
    CHECK(turns > 10);
    for (std::size_t at = 0; at < turns; ++at) {
        stop_at(at, never);
        stop_at(never, at);
    }
}

TEST_CASE("a loop_transport refuses requests that do not come from a stack of its loop") {
    far_loop in;
    loop_transport const near{in.loop, in.cloud};
    CHECK(table<book>{near, "Books"}.get("shelf", "1").error().code == error_code::invalid_input);
    event_loop other;
    auto const code =
        other.run(on_own_stack(other, [&] { return table<book>{near, "Books"}.get("shelf", "1").error().code; }));
    CHECK(code == error_code::invalid_input);
    CHECK(loop_clock(in.loop).steady() == in.time.steady());
}

#if !ENTITABLE_STACKS_ARE_THREADS
TEST_CASE("a call returns an error if there is no memory for its stack, and the function is not called") {
    far_loop in;
    constexpr std::size_t too_much = std::size_t{1} << 46U;
    int calls = 0;
    auto const work = [&]() -> result<void> {
        ++calls;
        return {};
    };
    auto const refused = in.loop.run(on_own_stack(in.loop, work, too_much));
    CHECK(refused.error().code == error_code::internal_error);
    CHECK(refused.error().message == "out of memory for a stack");
    CHECK(refused.error().effect == effect::none);
    CHECK_THROWS_AS(in.loop.run(on_own_stack(in.loop, [&] { ++calls; }, too_much)), error);
    CHECK(calls == 0);
    CHECK(in.loop.run(on_own_stack(in.loop, work)));
    CHECK(calls == 1);
}
#endif

namespace {

/// Goes on until it succeeds, as workers of queues do.
struct persistent {
    table<book> books;
    entitable::clock* time;
    int* requests;
    int* ends;

    int operator()() const {
        counted_end const counted{*ends};
        for (;;) {
            ++*requests;
            if (books.get("shelf", "none")) { return 1; }
            time->wait_until(time->steady() + 100ms);
        }
    }
};

} // namespace

TEST_CASE("a function that continues until it succeeds is unwound when its loop is destroyed") {
    far_loop in;
    int requests = 0;
    int ends = 0;
    int waits = 0;
    int swallowed = 0;
    auto loop = std::make_unique<event_loop>(loop_options{.time = &in.time, .letters = false});
    loop_transport const near{*loop, in.cloud};
    entitable::clock& time = loop_clock(*loop);
    loop->spawn(on_own_stack(*loop, persistent{{near, "Books"}, &time, &requests, &ends}));
    auto const only_waits = [&]() {
        counted_end const counted{ends};
        for (;;) {
            ++waits;
            time.wait_until(time.steady() + 1h);
        }
    };
    auto const catches_everything = [&]() {
        counted_end const counted{ends};
        while (swallowed < 5) {
            try {
                time.wait_until(time.steady() + 1h);
            } catch (std::exception const&) {
                ++swallowed; // never: the exception has no public base
            } catch (...) {
                ++swallowed; // again at each further wait
            }
        }
    };
    loop->spawn(on_own_stack(*loop, only_waits));
    loop->spawn(on_own_stack(*loop, catches_everything));
    for (int turn = 0; turn < 10; ++turn) {
        (void)loop->turn();
        in.time.wait_until(in.time.steady() + 10ms);
    }
    int const before = requests;
    CHECK(before >= 1);
    CHECK(waits == 1);
    loop.reset();
    CHECK(ends == 3);
    CHECK(requests <= before + 4);
    CHECK(waits == 4);
    CHECK(swallowed == 5);
}

TEST_CASE("a guard in a destructor is not unwound twice") {
    far_loop in;
    int ends = 0;
    auto loop = std::make_unique<event_loop>(loop_options{.time = &in.time, .letters = false});
    loop_transport const near{*loop, in.cloud};
    entitable::clock& time = loop_clock(*loop);
    struct says_goodbye {
        table<book> books;
        ~says_goodbye() {
            for (int each = 0; each < 10; ++each) { (void)books.remove("shelf", "1", any_etag); }
        }
    };
    auto const work = [&]() {
        counted_end const counted{ends};
        says_goodbye const last{{near, "Books"}};
        for (;;) { time.wait_until(time.steady() + 1h); }
    };
    loop->spawn(on_own_stack(*loop, work));
    (void)loop->turn();
    loop.reset();
    CHECK(ends == 1);
}

#if !ENTITABLE_STACKS_ARE_THREADS
TEST_CASE("stacks are used again, and an end without memory for one is an error of the call") {
    event_loop loop;
    std::set<void const*> places;
    auto const here = [&]() -> result<void> {
        int local = 0;
        places.insert(static_cast<void const*>(&local));
        return {};
    };
    for (int each = 0; each < 50; ++each) { CHECK(loop.run(on_own_stack(loop, here))); }
    CHECK(places.size() <= 2);
    constexpr std::size_t too_many = std::size_t{1} << 60U;
    auto const refused = loop.run(on_own_stack(loop, here, too_many));
    REQUIRE_FALSE(refused);
    CHECK(refused.error().code == error_code::internal_error);
    auto const without_result = [&] { return 7; };
    CHECK_THROWS_AS(loop.run(on_own_stack(loop, without_result, too_many)), error);
}
#endif

TEST_CASE("own stacks: a mode of rounding stays on its stack") {
    struct {
        detail::side_stack* on{};
        int kept{};
    } inside;
    detail::stack_pool pool;
    auto const run = [](void* of) {
        auto& all = *static_cast<decltype(inside)*>(of);
        std::fesetround(FE_UPWARD);
        all.on->leave();
        all.kept = std::fegetround();
    };
    detail::side_stack stack{pool, 256 * 1024, run, &inside};
    inside.on = &stack;
    REQUIRE(stack.allocate());
    CHECK(stack.enter());
    CHECK(std::fegetround() == FE_TONEAREST);
    CHECK_FALSE(stack.enter());
    CHECK(inside.kept == FE_UPWARD);
    CHECK(std::fegetround() == FE_TONEAREST);
}
