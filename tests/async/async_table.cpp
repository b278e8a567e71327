// SPDX-License-Identifier: MIT
// Copyright (c) 2026 the entitable authors

#include <entitable/memory.hpp>
#include <entitable/testing/manual_clock.hpp>

#include <async/books.hpp>
#include <support/catch.hpp>

using namespace entitable;
using entitable_test::book;
using entitable_test::book_of;
using entitable_test::in_channel;
using b = fields<book>;

namespace {

/// The outcome of a call as text: the coroutine and the blocking call must agree.
template <class T>
std::string told(result<T> const& outcome) {
    if (!outcome) { return std::string{to_string(outcome.error().code)}; }
    if constexpr (std::same_as<T, book>) {
        return outcome->isbn + "=" + std::to_string(outcome->price);
    } else if constexpr (std::same_as<T, bool>) {
        return *outcome ? "true" : "false";
    } else if constexpr (std::same_as<T, std::uint64_t>) {
        return std::to_string(*outcome);
    } else if constexpr (requires {
                             outcome->entity.isbn;
                             outcome->changed;
                         }) {
        return outcome->entity.isbn + "=" + std::to_string(outcome->entity.price) + (outcome->changed ? "!" : "");
    } else if constexpr (requires { outcome->entity.isbn; }) {
        return told(result<book>{outcome->entity});
    } else if constexpr (requires { outcome->has_value(); }) {
        return *outcome ? told(result<typename T::value_type>{**outcome}) : "none";
    } else if constexpr (requires { outcome->size(); }) {
        std::string all;
        for (auto const& each : *outcome) {
            if constexpr (requires { each.isbn; }) {
                all += each.isbn + "=" + std::to_string(each.price) + " ";
            } else if constexpr (requires { each.get(b::isbn); }) {
                all += each.get(b::isbn) + " ";
            } else if constexpr (std::convertible_to<decltype(each), std::string_view>) {
                all += each + " ";
            } else {
                all += "+";
            }
        }
        return all;
    } else {
        return "done";
    }
}
std::string told(result<void> const& outcome) {
    return outcome ? "done" : std::string{to_string(outcome.error().code)};
}

using lines = std::vector<std::string>;

/// Every call of a table, once with a success and once with an error if it can fail. `Ask` awaits or does nothing.
#define ENTITABLE_TEST_CALLS(ask)                                                                          \
    said.push_back(told(ask books.create()));                                                              \
    said.push_back(told(ask books.create()));                                                              \
    said.push_back(told(ask books.create_if_absent()));                                                    \
    for (std::int32_t number = 0; number < 7; ++number) {                                                  \
        said.push_back(told(ask books.insert(book_of("a", number, 10 * number))));                         \
        said.push_back(told(ask books.insert(book_of("b", number, number))));                              \
    }                                                                                                      \
    said.push_back(told(ask books.insert(book_of("a", 3))));                                               \
    said.push_back(told(ask books.get("a", "3")));                                                         \
    said.push_back(told(ask books.get("a", "33")));                                                        \
    said.push_back(told(ask books.find("a", "33")));                                                       \
    said.push_back(told(ask books.find("a", "4")));                                                        \
    said.push_back(told(ask books.get_stored("a", "4")));                                                  \
    said.push_back(told(ask books.get(*table<book>::reference_to("a", "5"))));                             \
    said.push_back(told(ask books.find(*table<book>::reference_to("a", "55"))));                           \
    said.push_back(told(ask books.replace(book_of("a", 3, 1), any_etag)));                                 \
    said.push_back(told(ask books.replace(book_of("a", 99, 1), any_etag)));                                \
    said.push_back(told(ask books.merge(book_of("a", 4, 2), any_etag)));                                   \
    said.push_back(told(ask books.merge(at("a", "5"), b::price = 3, any_etag)));                           \
    said.push_back(told(ask books.insert_or_replace(book_of("a", 8, 8))));                                 \
    said.push_back(told(ask books.insert_or_merge(book_of("a", 9, 9))));                                   \
    said.push_back(told(ask books.update("a", "6", [](book& it) { it.price = 66; })));                     \
    said.push_back(told(ask books.update("a", "6", any_etag, [](book& it) { it.price += 1; })));           \
    said.push_back(told(ask books.update("a", "6", [](book&) { return false; })));                         \
    said.push_back(told(ask books.update("a", "66", [](book&) {})));                                       \
    said.push_back(told(ask books.update("a", "6", [](book& it) { it.isbn = "7"; })));                     \
    said.push_back(told(ask books.update_if_present("a", "66", [](book&) {})));                            \
    said.push_back(told(ask books.update_if_present("a", "6", any_etag, [](book& it) { it.price = 5; }))); \
    said.push_back(told(ask books.remove("a", "0", any_etag)));                                            \
    said.push_back(told(ask books.remove("a", "0", any_etag)));                                            \
    said.push_back(told(ask books.remove(book_of("a", 1), any_etag)));                                     \
    said.push_back(told(ask books.remove_if_present("a", "0", any_etag)));                                 \
    said.push_back(told(ask books.remove_if_present("b", "0", any_etag)));                                 \
    said.push_back(told(ask books.where(b::shelf == "a").page_size(3).to()));                              \
    said.push_back(told(ask books.where(b::shelf == "a" && b::price > 5).take(2).to()));                   \
    said.push_back(told(ask books.where(b::shelf == "a").page_size(2).count()));                           \
    said.push_back(told(ask books.where(b::shelf == "a" && b::price == 8).first()));                       \
    said.push_back(told(ask books.where(b::shelf == "none").first()));                                     \
    said.push_back(told(ask books.where(b::shelf == "a").select(b::isbn).to()));                           \
    said.push_back(told(ask books.where(b::shelf == "a").resume("nonsense").to()));                        \
    said.push_back(told(ask books.scan_table().count()));                                                  \
    said.push_back(told(ask books.scan_table(b::price > 3).to()));                                         \
    said.push_back(told(ask books.partitions()))

lines blocking_calls(table<book> books) {
    lines said;
    ENTITABLE_TEST_CALLS();
    auto batch = books.batch();
    batch.insert(book_of("c", 1)).insert(book_of("c", 2));
    said.push_back(told(batch.submit()));
    said.push_back(told(batch.submit()));
    said.push_back(told(books.drop()));
    said.push_back(told(books.drop_if_present()));
    return said;
}
task<lines> awaited_calls(async_table<book> books) {
    lines said;
    ENTITABLE_TEST_CALLS(co_await);
    auto batch = books.batch();
    batch.insert(book_of("c", 1)).insert(book_of("c", 2));
    said.push_back(told(co_await books.submit(batch)));
    said.push_back(told(co_await books.submit(std::move(batch))));
    said.push_back(told(co_await books.drop()));
    said.push_back(told(co_await books.drop_if_present()));
    co_return said;
}

task<result<std::size_t>> reprice(async_table<book> books, std::string shelf) {
    std::size_t changed = 0;
    auto pages = books.where(b::shelf == shelf).page_size(2).pages();
    for (;;) {
        ENTITABLE_CO_TRY(auto page, co_await pages.next());
        if (!page) { co_return changed; }
        for (book const& each : *page) {
            ENTITABLE_CO_TRY(auto done, co_await books.update(each.shelf, each.isbn, [](book& it) { it.price += 1; }));
            changed += done.changed ? 1U : 0U;
        }
    }
}

task<> throws_in_update(async_table<book> books) {
    (void)co_await books.update("a", "1", [](book&) { throw std::runtime_error{"in a change"}; });
}

task<result<book>> kept(async_table<book> books) {
    std::string key = "1";
    auto read = books.get(std::string{"a"}, key);
    key = "another key that is longer than what a string holds in itself";
    co_return co_await read;
}

} // namespace

TEST_CASE("an awaited call has the same result as the blocking call") {
    lines const expected = blocking_calls({memory_backend{}, "Books"});
    CHECK(expected.size() == 57);
    memory_backend const store;
    for (any_store const& through : {any_store{store}, any_store{in_channel{store}}}) {
        event_loop loop;
        lines const said = loop.run(awaited_calls({loop, through, through.at_once() ? "Once" : "Channel"}));
        REQUIRE(said.size() == expected.size());
        for (std::size_t line = 0; line < said.size(); ++line) {
            INFO("call " << line);
            CHECK(said[line] == expected[line]);
        }
    }
}

TEST_CASE("pages and updates of several shelves run concurrently") {
    any_store const store = in_channel{memory_backend{}};
    table<book> const plain{store, "Books"};
    REQUIRE(plain.create());
    for (std::int32_t number = 0; number < 5; ++number) {
        REQUIRE(plain.insert(book_of("a", number)));
        REQUIRE(plain.insert(book_of("b", number)));
    }
    event_loop loop;
    for (std::string const shelf : {"a", "b", "a"}) { // two tasks use one shelf and conflict
        loop.spawn(reprice({loop, store, "Books"}, shelf));
    }
    loop.run();
    CHECK_FALSE(loop.error());
    CHECK(plain.get("a", "4")->price == 2);
    CHECK(plain.get("b", "4")->price == 1);
}

TEST_CASE("co_await rethrows an exception thrown by a change function") {
    memory_backend const store;
    table<book> const plain{store, "Books"};
    REQUIRE(plain.create());
    REQUIRE(plain.insert(book_of("a", 1)));
    for (any_store const& through : {any_store{store}, any_store{in_channel{store}}}) {
        event_loop loop;
        CHECK_THROWS_WITH(loop.run(throws_in_update({loop, through, "Books"})), "in a change");
        CHECK(loop.run(kept({loop, through, "Books"})).value() == book{"a", "1", 0});
    }
}

TEST_CASE("the deadline and the stop token of a call end its waits") {
    any_store const store = in_channel{memory_backend{}};
    testing::manual_clock time;
    event_loop loop{{.time = &time, .letters = false}};
    cancellation_source source;
    table<book> const plain{store, "Books"};
    REQUIRE(plain.create());
    async_table<book> const books{loop, store, "Books", {.cancellation = source.token()}};
    source.cancel();
    auto const cancelled = loop.run(kept(books));
    REQUIRE_FALSE(cancelled);
    CHECK(cancelled.error().code == error_code::cancelled);
}
