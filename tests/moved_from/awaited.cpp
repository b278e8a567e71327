// SPDX-License-Identifier: MIT
// Copyright (c) 2026 the entitable authors

// Handles of a loop: moving one copies it, so one that was moved from still works. A task that was moved from is
// refused.

#include <entitable/async_tables.hpp>
#include <entitable/memory.hpp>

#include <companions/books.hpp>
#include <support/moved_from.hpp>
#include <support/runners.hpp>

using namespace entitable;
using namespace entitable_test;

namespace {

auto const in_boston = r::event == "Boston" && r::distance == "Full";

task<result<int>> seven() { co_return 7; }

} // namespace

TEST_CASE("moved from: async_table, async_query, async_pages, async_sequence, loop_transport, whose moves are copies") {
    memory_backend const store;
    static_cast<void>(runners(store, 3));
    event_loop loop;
    async_table<runner> all{loop, store, "runners"};
    auto const kept = moved(all);
    auto asked = all.where(in_boston).page_size(2);
    auto const kept_asked = moved(asked);
    auto pages = asked.pages();
    auto kept_pages = moved(pages);
    async_sequence numbers{loop, store, "orders"};
    auto const kept_numbers = moved(numbers);
    loop_transport here{loop, store};
    auto const kept_here = moved(here);
    bool ended = false;
    auto const work = [&]() -> task<void> { // no co_await in a macro of Catch, which would evaluate it twice
        auto const a1 = co_await all.get("Boston", "Full", 1);
        CHECK(a1.value().bib == 1);
        auto const a2 = co_await kept.get("Boston", "Full", 1);
        CHECK(a2.value().bib == 1);
        auto const a3 = co_await all.partitions();
        CHECK(a3.value().size() == 4);
        auto const a4 = co_await asked.to();
        CHECK(a4.value().size() == 3);
        auto const a5 = co_await kept_asked.count();
        CHECK(a5.value() == 3);
        auto const a6 = co_await pages.next();
        CHECK(a6.value()->size() == 2);
        auto const a7 = co_await kept_pages.next();
        CHECK(a7.value()->size() == 1); // both return the same pages
        auto const a8 = co_await pages.next();
        CHECK_FALSE(a8.value());
        auto const a9 = co_await numbers.next();
        CHECK(a9.value().value == 1);
        auto const a10 = co_await kept_numbers.next();
        CHECK(a10.value().value == 2);
        co_await on_own_stack(loop, [&] { CHECK(table<runner>{here, "runners"}.get("Boston", "Full", 1)); });
        co_await on_own_stack(loop, [&] { CHECK(table<runner>{kept_here, "runners"}.get("Boston", "Full", 1)); });
        ended = true;
    };
    loop.run(work());
    CHECK(ended);
}

TEST_CASE("moved from: async_table over a store that was moved from") {
    memory_backend store;
    auto const kept = moved(store);
    event_loop loop;
    async_table<runner> const all{loop, store, "runners"};
    async_sequence const numbers{loop, store, "orders"};
    bool ended = false;
    auto const work = [&]() -> task<void> {
        CHECK_GONE(co_await all.create());
        CHECK_GONE(co_await all.get("Boston", "Full", 1));
        CHECK_GONE(co_await all.partitions());
        CHECK_GONE(co_await all.where(in_boston).to());
        CHECK_GONE(co_await all.where(in_boston).pages().next());
        CHECK_GONE(co_await numbers.next());
        ended = true;
    };
    loop.run(work());
    CHECK(ended);
}

TEST_CASE("moved from: async_table of a list, listed_query, listed_pages, listed_index, whose moves are copies") {
    memory_backend const store;
    event_loop loop;
    companion_tests::invoice const bill{"ACME", 1, "ann", {}, "red", "mon", 100};
    async_table<companion_tests::counter, companion_tests::invoice, companion_tests::by_customer> books{
        loop, store, "books"};
    auto const kept = moved(books);
    loop.run(books.create()).value();
    CHECK(loop.run(kept.insert(bill)));
    auto found = books.where(companion_tests::i::tenant == "ACME");
    auto const kept_found = moved(found);
    CHECK(loop.run(found.count()).value() == 1);
    CHECK(loop.run(kept_found.count()).value() == 1);
    auto pages = found.pages();
    auto const kept_pages = moved(pages);
    CHECK(loop.run(pages.next()).value()->size() == 1);
    CHECK_FALSE(loop.run(kept_pages.next()).value()); // both return the same pages
    auto index = books.by<companion_tests::by_customer>();
    auto const kept_index = moved(index);
    CHECK(loop.run(index.scan_index().to()).value().size() == 1);
    CHECK(loop.run(kept_index.scan_index().to()).value().size() == 1);
}

TEST_CASE("moved from: async_table of several types over a store that was moved from") {
    memory_backend store;
    auto const gone = moved(store);
    event_loop loop;
    async_table<companion_tests::counter, companion_tests::invoice, companion_tests::by_customer> const books{
        loop, store, "books"};
    CHECK_GONE(loop.run(books.create()));
    CHECK_GONE(loop.run(books.insert(companion_tests::counter{"ACME", 1})));
    CHECK_GONE(loop.run(books.where(companion_tests::i::tenant == "ACME").to()));
    CHECK_GONE(loop.run(books.by<companion_tests::by_customer>().scan_index().to()));
    CHECK_GONE(loop.run((books.verify)()));
}

TEST_CASE("moved from: task, which is refused with InvalidInput") {
    auto begun = seven();
    auto kept = moved(begun);
    event_loop loop;
    bool refused = false;
    auto const work = [&]() -> task<void> {
        try {
            static_cast<void>(co_await std::move(begun));
        } catch (error const& problem) { refused = problem.code == error_code::invalid_input; }
        auto const a11 = co_await std::move(kept);
        CHECK(a11.value() == 7);
    };
    loop.run(work());
    CHECK(refused);
    auto spawned = seven();
    auto const held = moved(spawned);
    loop.spawn(std::move(spawned));
    CHECK_THROWS_AS(loop.run(), error);
}
