// SPDX-License-Identifier: MIT
// Copyright (c) 2026 the entitable authors

// A call that is repeated after an error returns the error again, and never an end.

#include <entitable/async.hpp>
#include <entitable/memory.hpp>
#include <entitable/tables.hpp>
#include <entitable/testing.hpp>

#include <support/catch.hpp>
#include <support/runners.hpp>

using namespace entitable;
using namespace entitable_test;

namespace {

auto const in_boston = r::event == "Boston" && r::distance == "Full";

/// Three more answers are the same error.
template <class Next>
void check_told_again(Next const& next, error const& told) {
    for (int asked = 0; asked < 3; ++asked) {
        auto const again = next();
        REQUIRE(!again);
        CHECK(again.error().code == told.code);
        CHECK(again.error().message == told.message);
    }
}

} // namespace

TEST_CASE("pages after a failed page return its error, and a query can resume from the token of the last page") {
    for (std::size_t const in_flight : {1U, 3U}) {
        for (std::uint64_t const failing : {1U, 2U, 3U}) {
            INFO(in_flight << " in flight, request " << failing << " fails");
            testing::faulty const store{memory_backend{}};
            auto const all = runners(store, 30);
            auto const query = all.where(in_boston).page_size(7).in_flight(in_flight);
            store.plan({testing::fault::busy(), failing, "query_entities"});
            auto pages = query.pages();
            std::size_t found = 0;
            std::optional<std::string> token;
            for (;;) {
                auto const page = pages.next();
                if (!page) {
                    CHECK(page.error().code == error_code::server_busy);
                    check_told_again([&] { return pages.next(); }, page.error());
                    break;
                }
                REQUIRE(*page); // never the end
                found += (*page)->size();
                token = (*page)->token;
            }
            auto const rest = token ? query.resume(*token).to().value() : query.to().value();
            CHECK(found + rest.size() == 30);
        }
    }
}

TEST_CASE("an unreadable row is an error each time and is never skipped") {
    memory_backend const store;
    auto const all = runners(store, 10);
    row_table const raw{store, "runners"};
    REQUIRE(raw.insert_or_replace(
        entity{"Boston__Full", "0000000005"}.set("name", std::int32_t{1}))); // a text in the struct
    auto pages = all.where(in_boston).page_size(3).pages();
    for (;;) {
        auto const page = pages.next();
        if (!page) {
            check_told_again([&] { return pages.next(); }, page.error());
            break;
        }
        REQUIRE(*page);
    }
}

TEST_CASE("awaited pages after a failed page return its error") {
    testing::faulty const store{memory_backend{}};
    auto const all = runners(store, 30);
    store.plan({testing::fault::busy(), 2, "query_entities"});
    event_loop loop;
    async_table<runner> const awaited{loop, store, "runners"};
    auto const read = [&]() -> task<void> {
        auto pages = awaited.where(in_boston).page_size(7).pages();
        auto const first = co_await pages.next();
        REQUIRE(first);
        for (int asked = 0; asked < 3; ++asked) {
            auto const page = co_await pages.next();
            REQUIRE(!page);
            CHECK(page.error().code == error_code::server_busy);
        }
    };
    loop.run(read());
}
