// SPDX-License-Identifier: MIT
// Copyright (c) 2026 the entitable authors

// Programs that read past the last row, or use a query from two threads, are terminated with a message; none reads invalid
// memory.

#include <entitable/memory.hpp>
#include <entitable/sequence.hpp>
#include <entitable/testing.hpp>
#include <entitable/unit_of_work.hpp>

#include <support/catch.hpp>
#include <support/dying.hpp>
#include <support/runners.hpp>

#include <thread>

#if !defined(_WIN32)

using namespace entitable;
using namespace entitable_test;

namespace {

auto const in_boston = r::event == "Boston" && r::distance == "Full";

template <class T>
void use(T&& read) {
    [[maybe_unused]] auto const* volatile at = &read;
}

} // namespace

TEST_CASE("incrementing a query iterator past its end terminates the program") {
    memory_backend const store;
    auto const all = runners(store, 3);
    auto const query = all.where(in_boston);
    using iterator = decltype(query.begin());

    auto const at_the_end = [&] {
        auto at = query.begin();
        for (int rows = 0; rows < 3; ++rows) { ++at; }
        return at;
    };
    CHECK(at_the_end() == query.end());
    CHECK_THAT(last_words([&] { ++at_the_end(); }),
        StartsWith("entitable: a query's iterator was incremented past its end: "));
    CHECK_THAT(last_words([&] { at_the_end()++; }),
        StartsWith("entitable: a query's iterator was incremented past its end: "));
    CHECK_THAT(last_words([&] { use(*at_the_end()); }),
        StartsWith("entitable: a query's iterator was dereferenced without a row: InvalidInput (400): compare "));
    CHECK_THAT(last_words([&] { use(at_the_end()->name); }),
        StartsWith("entitable: a query's iterator was dereferenced without a row: "));
    CHECK_THAT(last_words([&] { use(*iterator{}); }), StartsWith("entitable: an iterator without a query was used: "));
    CHECK_THAT(last_words([&] { ++iterator{}; }), StartsWith("entitable: an iterator without a query was used: "));
}

TEST_CASE("after an error each use of a query iterator throws it again, and no more rows follow") {
    testing::faulty const store{memory_backend{}};
    auto const all = runners(store, 30);
    store.plan({testing::fault::busy(), 2, "query_entities"});
    auto const query = all.where(in_boston).page_size(7);
    auto at = query.begin();
    std::size_t rows = 1;
    for (; rows < 7; ++rows) { ++at; }
    for (int asked = 0; asked < 3; ++asked) {
        CHECK_THROWS_AS(++at, error);
        CHECK(at != query.end());
        CHECK_THAT(last_words([&] { use(*at); }),
            StartsWith("entitable: a query's iterator was dereferenced without a row: "));
    }
}

TEST_CASE("an iterator does not skip an unreadable row") {
    memory_backend const store;
    auto const all = runners(store, 10);
    row_table const raw{store, "runners"};
    REQUIRE(raw.insert_or_replace(entity{"Boston__Full", "0000000005"}.set("name", std::int32_t{1})));
    auto const query = all.where(in_boston);
    auto at = query.begin();
    std::size_t rows = 1;
    try {
        for (;; ++rows) { ++at; }
    } catch (error const& problem) { CHECK(problem.code == error_code::row_mismatch); }
    CHECK(rows < 10);
    CHECK_THROWS_AS(++at, error);
    CHECK(at != query.end());
}

TEST_CASE("access to missing elements terminates the program") {
    memory_backend const store;
    auto const all = runners(store, 3);
    auto const page = all.where(in_boston).pages().next().value();
    REQUIRE(page);
    CHECK((*page)[2].bib == 3);
    CHECK_THAT(last_words([&] { use((*page)[3]); }), StartsWith("entitable: a page has no row at this index: "));

    unit_of_work work{all};
    auto const found = work.track(all.where(in_boston)).value();
    CHECK(found[2].bib == 3);
    CHECK_THAT(last_words([&] { use(found[3]); }),
        StartsWith("entitable: index out of range: the query returned fewer entities: "));

    number_block const block{1, 1, 3, 1};
    CHECK(block[2] == 3);
    CHECK_THAT(
        last_words([&] { use(block[3]); }), StartsWith("entitable: a block of numbers has no number at this index: "));
}

#if ENTITABLE_CHECK_THREADS && !defined(__SANITIZE_THREAD__)

namespace {

/// Waits in the first request for rows until another thread has sent one, too.
struct slow {
    using is_transport = void;
    any_store below;
    [[nodiscard]] entitable::profile profile() const { return below.profile(); }
    template <table_request Request>
        requires(!std::same_as<Request, read_entity> && !std::same_as<Request, read_entities>)
    [[nodiscard]] result<response_of<Request>> execute(Request const& request, call& context) const {
        if constexpr (std::same_as<Request, query_entities>) { std::this_thread::sleep_for(std::chrono::seconds{2}); }
        return below.execute(request, context);
    }
};

} // namespace

TEST_CASE("using a query or its pages from two threads at once terminates the program in debug builds") {
    memory_backend const store;
    static_cast<void>(runners(store, 3));
    table<runner> const all{slow{store}, "runners"};
    auto const query = all.where(in_boston);
    auto const twice = [](auto const& ask) {
        return last_words([&] {
            std::thread other{ask};
            ask();
            other.join();
        });
    };
    auto const* const words = "entitable: two threads use one query, or its pages, at the same time: ";
    CHECK_THAT(twice([&] { use(query.to()); }), StartsWith(words));
    auto pages = query.pages();
    CHECK_THAT(twice([&] { use(pages.next()); }), StartsWith(words));
    CHECK(twice([query] { use(std::remove_const_t<decltype(query)>{query}.to()); }) ==
        "it ended with status 0"); // copies are independent
}

TEST_CASE("one thread may run a query recursively, and pages may move between threads") {
    memory_backend const store;
    auto const all = runners(store, 3);
    auto const query = all.where(in_boston).page_size(1);
    std::size_t found = 0;
    REQUIRE(query.for_each([&](runner const&) { found += query.to().value().size(); }));
    CHECK(found == 9);
    auto pages = query.pages();
    for (std::size_t page = 0; page < 3; ++page) {
        std::thread{[&] { found += pages.next().value()->size(); }}.join();
    }
    CHECK(found == 12);
}

#endif
#endif
