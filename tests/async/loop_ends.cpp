// SPDX-License-Identifier: MIT
// Copyright (c) 2026 the entitable authors

// Loops inside tasks of other loops, loops after a fork, and functions that capture by value.

#include <entitable/memory.hpp>
#include <entitable/testing/manual_clock.hpp>

#include <async/books.hpp>
#include <support/catch.hpp>
#include <support/delayed.hpp>
#if defined(__unix__) || defined(__APPLE__)
#include <support/child_process.hpp>
#define ENTITABLE_TEST_FORKS 1
#endif

#include <array>
#include <exception>
#include <memory>
#include <optional>

using namespace entitable;
using namespace std::chrono_literals;
using entitable_test::book;

namespace {

/// A loop over a store that answers after 10 ms of a manual clock.
struct slow_loop {
    testing::manual_clock& time;
    any_store store;
    any_store slow = entitable_test::delayed{store, time, [] { return 10ms; }};
    event_loop loop{{.time = &time, .letters = false}};
    async_table<book> books{loop, slow, "Books"};
    loop_transport near{loop, slow};

    slow_loop(testing::manual_clock& by, any_store of) : time(by), store(std::move(of)) {}
};
any_store filled() {
    any_store const store = memory_backend{};
    table<book> const books{store, "Books"};
    books.create().value();
    for (std::string const isbn : {"1", "2"}) { books.insert(book{"shelf", isbn, 10}).value(); }
    return store;
}

/// Counts living objects.
class kept {
public:
    kept(int& lives, std::int32_t value) : lives_(&lives), held_(std::make_unique<std::int32_t>(value)) { ++*lives_; }
    kept(kept const& other) : kept(*other.lives_, *other.held_) {}
    kept& operator=(kept const&) = delete;
    ~kept() { --*lives_; }
    [[nodiscard]] std::int32_t value() const { return *held_; }

private:
    int* lives_;
    std::unique_ptr<std::int32_t> held_;
};

struct two_reads {
    table<book> from;
    kept counted;
    int* ends;

    result<std::int32_t> operator()() const {
        auto one = from.get("shelf", "1");
        auto other = from.get("shelf", "2");
        ++*ends;
        if (!one || !other) { return std::move(one ? other : one).as_failure(); }
        return one->price + other->price + counted.value();
    }
};
task<result<std::int32_t>> awaiting(async_table<book> books, kept counted) {
    ENTITABLE_CO_TRY(book const one, co_await books.get("shelf", "1"));
    ENTITABLE_CO_TRY(book const other, co_await books.get("shelf", "2"));
    co_return one.price + other.price + counted.value();
}

/// Running loops, each with a task and a stack.
struct inner_loops {
    testing::manual_clock time;
    any_store store = filled();
    std::array<std::unique_ptr<slow_loop>, 4> all;
    int lives = 0;
    int ends = 0;

    inner_loops() {
        for (auto& each : all) {
            each = std::make_unique<slow_loop>(time, store);
            each->loop.spawn(awaiting(each->books, kept{lives, 1}));
            two_reads const work{{each->near, "Books"}, kept{lives, 1}, &ends};
            each->loop.spawn(on_own_stack(each->loop, work));
        }
    }
    /// Runs one of them for this number of turns, then destroys it.
    void turn_and_destroy(std::size_t which) {
        auto& one = all.at(which);
        for (std::size_t turn = 0; turn < which && one->loop.turn(); ++turn) { time.wait_until(one->loop.wakes_at()); }
        one.reset();
    }
};

task<result<std::int32_t>> destroying(slow_loop& in, inner_loops& inner, std::size_t which) {
    ENTITABLE_CO_TRY(book const one, co_await in.books.get("shelf", "1"));
    inner.turn_and_destroy(which);
    ENTITABLE_CO_TRY(book const other, co_await in.books.get("shelf", "2"));
    co_return one.price + other.price;
}
struct destroying_on_a_stack {
    slow_loop* in;
    inner_loops* inner;
    std::size_t which;

    result<std::int32_t> operator()() const {
        auto one = table<book>{in->near, "Books"}.get("shelf", "1");
        inner->turn_and_destroy(which);
        auto other = table<book>{in->near, "Books"}.get("shelf", "2");
        if (!one || !other) { return std::move(one ? other : one).as_failure(); }
        return one->price + other->price;
    }
};

} // namespace

TEST_CASE("a task or a stack can run and destroy other loops, whatever is in flight there") {
    inner_loops inner;
    slow_loop outer{inner.time, inner.store};
    CHECK(outer.loop.run(destroying(outer, inner, 0)).value() == 20);
    CHECK(outer.loop.run(destroying(outer, inner, 2)).value() == 20);
    destroying_on_a_stack const first{&outer, &inner, 1};
    CHECK(outer.loop.run(on_own_stack(outer.loop, first)).value() == 20);
    destroying_on_a_stack const second{&outer, &inner, 3};
    CHECK(outer.loop.run(on_own_stack(outer.loop, second)).value() == 20);
    CHECK(inner.lives == 0);
    CHECK(inner.ends == 3); // the first loop never started its stack
}

TEST_CASE("code that stops a loop from a task, a stack or a posted function may destroy the loop once it has ended") {
    for (int who = 0; who < 3; ++who) {
        auto loop = std::make_unique<event_loop>();
        event_loop& it = *loop;
        auto const stop = [&it] { it.stop(); };
        if (who == 0) {
            auto const stopping = [](event_loop& its) -> task<> {
                its.stop();
                co_return;
            };
            it.spawn(stopping(it));
        } else if (who == 1) {
            it.spawn(on_own_stack(it, stop));
        } else {
            CHECK(it.post(stop));
        }
        auto const sleeping = [](event_loop& its) -> task<result<void>> { co_return co_await sleep_for(its, 1h); };
        it.spawn(sleeping(it));
        it.run_until_stopped();
        REQUIRE(it.error());
        CHECK(it.error()->code == error_code::cancelled);
        loop.reset();
    }
}

#if defined(ENTITABLE_TEST_FORKS)
TEST_CASE("a child process does not touch the loops of its parent and uses its own loops, and the parent continues") {
    testing::manual_clock time;
    any_store const store = filled();
    slow_loop outer{time, store};
    event_loop with_letters;
    int lives = 0;
    auto const child_is_well = [&] {
        entitable_test::child_process child{[&] {
            slow_loop own{time, store}; // the memory belongs to the child
            bool read = own.loop.run(awaiting(own.books, kept{lives, 1})).value() == 21;
#if !ENTITABLE_STACKS_ARE_THREADS // the thread sanitizer does not let a child create threads
            int ends = 0;
            two_reads const work{{own.near, "Books"}, kept{lives, 1}, &ends};
            read = read && own.loop.run(on_own_stack(own.loop, work)).value() == 21;
#endif
            event_loop others;
            bool letter = false;
            (void)others.post([&] {
                letter = true;
                others.stop();
            });
            others.run_until_stopped();
            return read && letter && table<book>{store, "Books"}.remove_if_present("shelf", "1", any_etag);
        }};
        return child.succeeds();
    };
    struct forking {
        slow_loop* in;
        function_ref<bool()> well;

        result<std::int32_t> operator()() const {
            auto one = table<book>{in->near, "Books"}.get("shelf", "1");
            bool const good = well(); // while this stack and others are running
            auto other = table<book>{in->near, "Books"}.get("shelf", "1");
            return good && one && other ? one->price + other->price : -1;
        }
    };
    outer.loop.spawn(awaiting(outer.books, kept{lives, 1}));
    CHECK(outer.loop.turn());
    CHECK(child_is_well());
    forking const work{&outer, child_is_well};
    CHECK(outer.loop.run(on_own_stack(outer.loop, work)).value() == 20);
    outer.loop.run();
    CHECK_FALSE(outer.loop.error());
    CHECK(lives == 0);
    // Functions posted in the parent still run, those of the child never do.
    bool told = false;
    CHECK(with_letters.post([&] {
        told = true;
        with_letters.stop();
    }));
    CHECK(child_is_well());
    with_letters.run_until_stopped();
    CHECK(told);
}
#endif

namespace {

/// The function is destroyed when this returns.
task<result<std::int32_t>> kept_by_the_stack(slow_loop& in, kept counted) {
    auto const work = [from = table<book>{in.near, "Books"}, counted]() -> result<std::int32_t> {
        auto one = from.get("shelf", "1");
        return one ? one->price + counted.value() : result<std::int32_t>{std::move(one).as_failure()};
    };
    return on_own_stack(in.loop, work);
}
task<result<transacted>> kept_by_the_transaction(slow_loop& in, kept counted) {
    auto const body = [counted](transaction<book>& all) -> result<void> {
        auto done = all.update("2", [&](book& it) { it.price += counted.value(); });
        return done ? result<void>{} : std::move(done).as_failure();
    };
    return in.books.transact("shelf", body);
}
task<result<std::int32_t>> kept_by_the_update(async_table<book> books, kept counted) {
    auto const change = [counted](book& it) { it.price += counted.value(); };
    ENTITABLE_CO_TRY(auto const done, co_await books.update("shelf", "1", change));
    co_return done.entity.price;
}

} // namespace

TEST_CASE("functions that capture by value live exactly as long as they are needed") {
    testing::manual_clock time;
    slow_loop in{time, filled()};
    int lives = 0;
    {
        std::vector<task<result<std::int32_t>>> all;
        for (int each = 0; each < 3; ++each) { all.push_back(kept_by_the_stack(in, kept{lives, each})); }
        auto transaction = kept_by_the_transaction(in, kept{lives, 5});
        CHECK(lives == 4); // each is held once
        for (std::int32_t each = 0; each < 3; ++each) {
            CHECK(in.loop.run(std::move(all[static_cast<std::size_t>(each)])).value() == 10 + each);
        }
        CHECK(in.loop.run(std::move(transaction)).value().changed);
        auto const unused = kept_by_the_stack(in, kept{lives, 1});
    }
    CHECK(lives == 0);
    CHECK(in.loop.run(kept_by_the_update(in.books, kept{lives, 7})).value() == 17);
    CHECK(table<book>{in.store, "Books"}.get("shelf", "2").value().price == 15);
    CHECK(lives == 0);
    {
        event_loop lettered;
        std::int32_t told = 0;
        CHECK(lettered.post([&told, counted = kept{lives, 3}] { told = counted.value(); }));
        (void)lettered.turn();
        CHECK(told == 3);
        CHECK(lives == 0);
        CHECK(lettered.post([counted = kept{lives, 3}] { (void)counted.value(); })); // and it never runs
    }
    CHECK(lives == 0);
}

#if defined(ENTITABLE_TEST_FORKS)
namespace {

/// Whether the process ends with the refusal and not because of later code.
bool refuses(void (*destroy)(std::optional<event_loop>&)) {
    entitable_test::child_process child{[&] {
        std::set_terminate([] {
            try {
                throw;
            } catch (error const& why) { ::_exit(why.code == error_code::invalid_input ? 0 : 1); } catch (...) {
                ::_exit(1);
            }
        });
        std::optional<event_loop> loop{std::in_place};
        destroy(loop);
        return false;
    }};
    return child.succeeds();
}
task<> destroys(std::optional<event_loop>* loop) {
    loop->reset();
    co_return;
}

} // namespace

TEST_CASE("a loop that is destroyed by its own code ends the process with a message") {
    CHECK(refuses([](std::optional<event_loop>& loop) {
        loop->spawn(destroys(&loop));
        loop->run();
    }));
    CHECK(refuses([](std::optional<event_loop>& loop) {
        loop->post([&] { loop.reset(); });
        (void)loop->turn();
    }));
}
#endif
