// SPDX-License-Identifier: MIT
// Copyright (c) 2026 the entitable authors

// Which functions are changes of an entity: those that take it by reference. Finding that out compiles nothing that a call
// would not compile.

#include "support/catch.hpp"
#include <entitable/entitable.hpp>
#include <entitable/memory.hpp>
#include <entitable/retrying.hpp>
#include <entitable/testing.hpp>

#include <functional>

using namespace entitable;
using testing::fault;

namespace change_test {

struct item {
    int shelf{};
};
struct book : item {
    std::string author;
    std::int64_t number{};
    std::int32_t stock{};
};
ENTITABLE(book,
    partition_key(author),
    row_key(number),
    properties(shelf, stock))

void by_reference(book& found);
bool by_reference_noexcept(book& found) noexcept;
void by_reference_to_base(item& found);
void by_value(book found);
void by_const_reference(book const& found);

struct overloaded {
    void operator()(book&) const;
    void operator()(int) const;
};
struct overloaded_by_value {
    void operator()(book) const;
    void operator()(int) const;
};
struct overloaded_by_const_reference {
    void operator()(book const&) const;
    void operator()(int) const;
};
struct const_and_not {
    void operator()(book&);
    void operator()(book const&) const;
};
struct final_one final {
    void operator()(book&) const;
};
struct for_lvalues {
    void operator()(book&) &;
};
struct for_rvalues {
    void operator()(book&) &&;
};

template <class Change>
constexpr bool is_change = detail::takes_by_reference<std::remove_reference_t<Change>, book>();
/// Of a lambda.
template <class Change>
consteval bool takes(Change const&) {
    return is_change<Change>;
}

static_assert(takes([](book&) {}) && takes([](book&) mutable {}) && takes([](book&) noexcept { return true; }));
static_assert(takes([](item&) {}) && takes([](book&, int = 1) {}));
static_assert(!takes([](book) {}) && !takes([](book) mutable {}) && !takes([](item) {}));
static_assert(!takes([](book const&) {}) && !takes([](book&&) {}) && !takes([](item const&) {}));
static_assert(!takes([](std::string&) {}) && !takes([]() {}) && !takes([](book&, int) {}));

// Bodies that compile only for a mutable entity, and forwarding ones.
static_assert(takes([](auto& one) { one.stock = 1; }) && takes([](auto& one) mutable { one.stock = 1; }));
static_assert(takes([](auto&& one) { one.stock = 1; }) && takes([](auto&& one) mutable { one.stock = 1; }));
static_assert(takes([](auto&& one) { by_reference(std::forward<decltype(one)>(one)); }));
static_assert(
    takes([]<class T>(T& one) { one.stock = 1; }) && takes([](std::derived_from<item> auto& one) { one.shelf = 1; }));
// Bodies that never compile.
static_assert(!takes([](auto one) { one.nonsense(); }) && !takes([](auto const& one) { one.nonsense(); }));
static_assert(!takes([](auto one) mutable { one.stock = 1; }) && !takes([](auto const& one) mutable { one.stock; }));
static_assert(!takes([]<class T>(T one) { one.stock = 1; }) && !takes([](std::integral auto& one) { one = 1; }));

static_assert(is_change<decltype(by_reference)&> && is_change<decltype(&by_reference)> &&
    is_change<decltype(by_reference_noexcept)&> && is_change<decltype(&by_reference_to_base) const&>);
static_assert(!is_change<decltype(by_value)&> && !is_change<decltype(&by_const_reference)>);
static_assert(is_change<std::function<void(book&)>> && is_change<std::function<bool(book&)> const&>);
static_assert(!is_change<std::function<void(book)>> && !is_change<std::function<void(book const&)>>);
static_assert(is_change<overloaded> && is_change<const_and_not&> && is_change<final_one> && is_change<for_lvalues&>);
static_assert(!is_change<overloaded_by_value> && !is_change<overloaded_by_const_reference>);
static_assert(!is_change<const_and_not const&> && !is_change<for_rvalues&>);
static_assert(is_change<std::reference_wrapper<overloaded>> && !is_change<std::reference_wrapper<overloaded_by_value>>);
static_assert(!is_change<void (book::*)()> && !is_change<std::int32_t book::*> && !is_change<int>);

struct shop {
    shop() {
        table<book> const direct{store, "books"};
        direct.create().value();
        direct.insert({{1}, "Brecht", 1, 5}).value();
    }
    memory_backend store;
    table<book> books{store, "books"};
};

void one_less(book& found) { --found.stock; }

} // namespace change_test

using namespace change_test;

TEST_CASE("update: a function, a function object and a lambda with any parameter type change the stored entity") {
    shop const here;
    std::function<void(book&)> const kept = one_less;
    auto counting = [calls = 0](auto& found) mutable { found.stock -= ++calls; };
    CHECK(here.books.update("Brecht", 1, one_less)->changed);
    CHECK(here.books.update("Brecht", 1, &one_less)->entity.stock == 3);
    CHECK(here.books.update("Brecht", 1, kept)->entity.stock == 2);
    CHECK(here.books.update("Brecht", 1, std::ref(counting))->entity.stock == 1);
    CHECK(here.books.update("Brecht", 1, counting)->entity.stock == -1);
    CHECK(here.books.update("Brecht", 1, [](item& found) { found.shelf = 9; })->entity.shelf == 9);
    CHECK(here.books.update("Brecht", 1, any_etag, [](auto&& found) { found.stock = 7; })->entity.stock == 7);
    CHECK_FALSE(here.books.update("Brecht", 1, [](book& found) { return --found.stock > 10; })->changed);
    CHECK(here.books.get("Brecht", 1)->stock == 7);
}

TEST_CASE("update_if_present: changes an existing row, and a missing row is not an error") {
    shop const here;
    auto const done = here.books.update_if_present("Brecht", 1, one_less).value();
    REQUIRE(done);
    CHECK(done->entity.stock == 4);
    CHECK_FALSE(here.books.update_if_present("Brecht", 2, one_less).value());
    CHECK_FALSE(here.books.update_if_present("Brecht", 2, any_etag, one_less).value());
    // Removed between the read and the write.
    bool called = false;
    auto const gone = here.books.update_if_present("Brecht", 1, [&](book& found) {
        called = true;
        --found.stock;
        here.books.remove("Brecht", 1, any_etag).value();
    });
    CHECK(called);
    CHECK_FALSE(gone.value());
    // A missing table is an error, and so is anything else.
    CHECK(table<book>{here.store, "none"}.update_if_present("Brecht", 1, one_less).error().code ==
        error_code::table_not_found);
}

TEST_CASE(
    "remove_if_present: removes an existing row; a missing row is not an error, and a different version is an error") {
    shop const here;
    auto const before = here.books.get_stored("Brecht", 1)->etag;
    here.books.update("Brecht", 1, one_less).value();
    CHECK(here.books.remove_if_present("Brecht", 1, before).error().code == error_code::update_condition_not_satisfied);
    CHECK(here.books.remove_if_present("Brecht", 1, any_etag).value());
    CHECK_FALSE(here.books.remove_if_present("Brecht", 1, any_etag).value());
    CHECK_FALSE(here.books.remove_if_present("Brecht", 1, before).value());
    CHECK(table<book>{here.store, "none"}.remove_if_present("Brecht", 1, any_etag).error().code ==
        error_code::table_not_found);
    CHECK(table<book>{here.store, "n"}.remove_if_present("Brecht", 1, any_etag).error().code ==
        error_code::out_of_range_input);
}

TEST_CASE("remove_if_present: a retry that finds no row reports that it is a retry") {
    for (fault const& lost : {fault::lost_after(), fault::lost_before()}) {
        shop const here;
        testing::manual_clock time;
        testing::faulty<memory_backend> const service{here.store, {.time = &time}};
        table<book> const books{retrying{service, {.time = &time}}, "books"};
        service.plan({lost, 1, "write_entity"});
        auto const gone = books.remove_if_present("Brecht", 1, any_etag).value();
        REQUIRE(gone);
        CHECK(gone->after_retry);
        CHECK_FALSE(books.find("Brecht", 1).value());
        // It may have been absent all the time: that cannot be determined, and is not reported.
        service.plan({lost, 1, "write_entity"});
        auto const never_there = books.remove_if_present("Brecht", 1, any_etag).value();
        REQUIRE(never_there);
        CHECK(never_there->after_retry);
        CHECK_FALSE(books.remove_if_present("Brecht", 1, any_etag).value());
    }
    // Without repetitions the state of the entity is unknown.
    shop const here;
    testing::faulty<memory_backend> const service{here.store, {}};
    table<book> const books{service, "books"};
    service.plan({fault::lost_after(), 1, "write_entity"});
    CHECK(books.remove_if_present("Brecht", 1, any_etag).error().effect == effect::unknown);
}

TEST_CASE("update_if_present: a write of unknown effect does not count as a missing row") {
    shop const here;
    testing::manual_clock time;
    testing::faulty<memory_backend> const service{here.store, {.time = &time}};
    table<book> const books{retrying{service, {.time = &time}}, "books"};
    // The write is applied, its answer is lost, and the entity is removed before the repetition.
    service.plan({fault::lost_after(), 1, "write_entity"});
    service.plan({fault{"gone", fault::commit::never, error{error_code::resource_not_found, "a planned fault"}}, 2,
        "write_entity"});
    auto const done = books.update_if_present("Brecht", 1, one_less);
    REQUIRE_FALSE(done);
    CHECK(done.error().effect == effect::unknown);
}
