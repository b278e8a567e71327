// SPDX-License-Identifier: MIT
// Copyright (c) 2026 the entitable authors

#include <entitable/core/result.hpp>

#include <support/catch.hpp>

#include <memory>
#include <stdexcept>
#include <string>

using namespace entitable;
using entitable_test::ContainsSubstring;

namespace {

/// Counts its living objects, and throws on request.
struct tracked {
    static inline int alive = 0;
    static inline int throws_in = -1; // copies and moves until one throws

    int number;
    explicit tracked(int n) : number(n) { ++alive; }
    tracked(tracked const& other) : number(other.number) { begin(); }
    tracked(tracked&& other) noexcept(false) : number(other.number) { begin(); }
    tracked& operator=(tracked const&) = delete;
    ~tracked() { --alive; }

    static void begin() {
        if (throws_in >= 0 && throws_in-- == 0) { throw std::runtime_error{"no more copies"}; }
        ++alive;
    }
};

failure refused(std::string text = "taken") { return failure{error_code::entity_already_exists, std::move(text)}; }

result<std::string> good(std::string text) { return text; }
result<std::string> bad(std::string text) { return refused(std::move(text)); }

} // namespace

TEST_CASE("a result holds a value or an error") {
    auto const value = good("John");
    REQUIRE(value.has_value());
    REQUIRE(value);
    CHECK(*value == "John");
    CHECK(value->size() == 4);
    CHECK(value.value() == "John");

    auto const error = bad("taken");
    REQUIRE_FALSE(error.has_value());
    REQUIRE_FALSE(error);
    CHECK(error.error().code == error_code::entity_already_exists);
    CHECK(error.error().http_status == 409);
    CHECK(error.error().message == "taken");
}

TEST_CASE("the value of a result can be changed in place") {
    auto runner = good("John");
    *runner += " Smith";
    runner->push_back('!');
    runner.value().push_back('?');
    CHECK(std::move(runner).value() == "John Smith!?");
}

TEST_CASE("a result constructs its value in place from several arguments") {
    result<std::string> const dashes{std::in_place, std::size_t{3}, '-'};
    CHECK(*dashes == "---");
    tracked::alive = 0;
    result<tracked> const one{std::in_place, 7};
    CHECK(tracked::alive == 1);
    CHECK(one->number == 7);
}

TEST_CASE("copies of a result are independent") {
    auto first = good("John");
    auto second = first;
    *second = "Ann";
    CHECK(*first == "John");

    auto const third = bad("taken");
    auto const fourth = third;
    CHECK(fourth.error().message == "taken");
    CHECK(&third.error() != &fourth.error());
}

TEST_CASE("a moved result transfers its value or its error") {
    auto value = good("a name long enough to live on the heap");
    auto const moved = std::move(value);
    CHECK(*moved == "a name long enough to live on the heap");

    auto error = bad("taken");
    auto const* address = &error.error();
    auto const moved_error = std::move(error);
    CHECK(&moved_error.error() == address);
}

TEST_CASE("a result can be assigned in every combination of value and error") {
    bool const from_value = GENERATE(true, false);
    bool const to_value = GENERATE(true, false);
    bool const move = GENERATE(true, false);
    auto source = from_value ? good("new") : bad("new");
    auto target = to_value ? good("old") : bad("old");
    if (move) {
        target = std::move(source);
    } else {
        target = source;
        REQUIRE(source.has_value() == from_value);
        CHECK((from_value ? *source : source.error().message) == "new");
    }
    REQUIRE(target.has_value() == from_value);
    CHECK((from_value ? *target : target.error().message) == "new");
}

TEST_CASE("a result can be assigned to itself") {
    bool const with_value = GENERATE(true, false);
    auto one = with_value ? good("same") : bad("same");
    auto const& alias = one;
    one = alias;
    CHECK((with_value ? *one : one.error().message) == "same");
    auto& moving = one;
    one = std::move(moving);
    REQUIRE(one.has_value() == with_value);
    CHECK((with_value ? *one : one.error().message) == "same");
}

TEST_CASE("a result destroys its value or error after every kind of assignment") {
    tracked::alive = 0;
    {
        result<tracked> one{std::in_place, 1};
        result<tracked> two{std::in_place, 2};
        result<tracked> none{refused()};
        one = two;
        two = none;
        none = one;
        one = std::move(none);
        CHECK(one->number == 2);
        CHECK_FALSE(two.has_value());
    }
    CHECK(tracked::alive == 0);
}

TEST_CASE("a copy or move that throws leaks nothing and leaves a usable result") {
    int const which = GENERATE(0, 1);
    bool const from_error = GENERATE(true, false);
    tracked::alive = 0;
    {
        result<tracked> const source{std::in_place, 1};
        result<tracked> target = from_error ? result<tracked>{refused()} : result<tracked>{std::in_place, 2};
        tracked::throws_in = which; // the copy into the parameter, or the move out of it
        CHECK_THROWS_AS(target = source, std::runtime_error);
        tracked::throws_in = -1;
        if (which == 0) {
            REQUIRE(target.has_value() != from_error);
        } else {
            REQUIRE_FALSE(target.has_value());
            CHECK(target.error().code == error_code::internal_error);
            CHECK_THROWS_AS(target.value(), error);
        }
        target = source;
        CHECK(target->number == 1);

        tracked::throws_in = 0;
        CHECK_THROWS_AS(result<tracked>{source}, std::runtime_error);
        tracked::throws_in = -1;
    }
    CHECK(tracked::alive == 0);
}

TEST_CASE("a result that is constructed in a return statement fails with the error of its source") {
    tracked::alive = 0;
    {
        result<tracked> filled{std::in_place, 1};
        filled.fail_if({});
        REQUIRE(filled);
        CHECK(filled->number == 1);

        result<void> outcome = failure{error_code::server_busy, "later"};
        filled.fail_if(std::move(outcome));
        CHECK(tracked::alive == 0); // the value is destroyed at once
        REQUIRE_FALSE(filled);
        CHECK(filled.error().code == error_code::server_busy);
        CHECK_FALSE(outcome); // NOLINT: its error was moved out
        CHECK(outcome.error().code == error_code::invalid_input);

        filled.fail_if(failure{error_code::internal_error, "another"});
        CHECK(filled.error().code == error_code::internal_error);
        filled.fail_if({});
        CHECK(filled.error().code == error_code::internal_error);
    }
    CHECK(tracked::alive == 0);
}

TEST_CASE("a result can hold a move-only type") {
    static_assert(!std::is_copy_constructible_v<std::unique_ptr<int>>);
    result<std::unique_ptr<int>> one{std::make_unique<int>(5)};
    auto two = std::move(one);
    REQUIRE(two);
    CHECK(**two == 5);
    two = result<std::unique_ptr<int>>{std::make_unique<int>(6)};
    std::unique_ptr<int> const out = std::move(two).value();
    CHECK(*out == 6);
}

TEST_CASE("a result can hold a type that cannot be assigned") {
    struct constant {
        int const number;
    };
    result<constant> one{constant{1}};
    result<constant> const two{constant{2}};
    one = two;
    CHECK(one->number == 2);
}

TEST_CASE("value() throws the error with code, status and message in what()") {
    auto const taken = bad("the entity exists");
    try {
        (void)taken.value();
        FAIL("value() did not throw");
    } catch (error const& thrown) {
        CHECK(thrown.code == error_code::entity_already_exists);
        CHECK(thrown.http_status == 409);
        CHECK(thrown.message == "the entity exists");
        CHECK(std::string{thrown.what()} == "EntityAlreadyExists (409): the entity exists");
    }
    CHECK_THROWS_WITH(bad("gone").value(), ContainsSubstring("EntityAlreadyExists (409): gone"));
    auto mutable_one = bad("gone");
    CHECK_THROWS_AS(mutable_one.value(), std::exception);
}

TEST_CASE("check() throws what value() throws and returns nothing") {
    auto const taken = bad("the entity exists");
    CHECK_THROWS_WITH(taken.check(), ContainsSubstring("EntityAlreadyExists (409): the entity exists"));
    result<std::string> const named = std::string{"a"};
    named.check(); // this file is compiled with warnings as errors
    CHECK(*named == "a");
    static_assert(std::is_void_v<decltype(named.check())>);

    result<void> done;
    done.check();
    done = failure{error_code::entity_already_exists, "gone"};
    CHECK_THROWS_AS(done.check(), error);
    result<std::string> from = bad("gone");
    result<std::string> const to = std::move(from);
    CHECK_THROWS_WITH(from.check(), ContainsSubstring("InvalidInput")); // NOLINT: tests the moved-from state
    CHECK_THROWS_AS(to.check(), error);
}

TEST_CASE("value_or() returns the fallback if there is no value") {
    CHECK(good("a").value_or("b") == "a");
    CHECK(bad("a").value_or("b") == "b");
    auto const kept = good("a");
    CHECK(kept.value_or("b") == "a");
    auto const missing = bad("a");
    CHECK(missing.value_or("b") == "b");
}

TEST_CASE("and_then() continues with a value and passes on an error") {
    int calls = 0;
    auto const length = [&](std::string text) -> result<std::size_t> {
        ++calls;
        if (text.empty()) { return failure{error_code::invalid_input, "empty"}; }
        return text.size();
    };
    CHECK(good("four").and_then(length).value() == 4);
    CHECK(good("").and_then(length).error().code == error_code::invalid_input);
    CHECK(calls == 2);
    CHECK(bad("first").and_then(length).error().message == "first");
    CHECK(calls == 2);
    auto const nothing = [](std::string) -> result<void> { return {}; };
    CHECK(good("x").and_then(nothing).has_value());
    CHECK_FALSE(bad("x").and_then(nothing).has_value());
}

TEST_CASE("transform() changes a value and passes on an error") {
    auto const size = [](std::string const& text) { return text.size(); };
    CHECK(good("four").transform(size).value() == 4);
    CHECK(bad("first").transform(size).error().message == "first");
}

TEST_CASE("an error can be moved into a result of a different type") {
    auto const outer = [](result<std::string> inner) -> result<int> {
        if (!inner) { return std::move(inner).as_failure(); }
        return static_cast<int>(inner->size());
    };
    CHECK(outer(good("abc")).value() == 3);
    CHECK(outer(bad("inner")).error().message == "inner");
}

TEST_CASE("an unused failure leaks nothing and can be edited before it is returned") {
    auto edited = refused();
    edited.error().attempts = 3;
    auto const kept = std::move(edited);
    { auto const dropped = refused("dropped"); }
    auto on_its_way = refused();
    on_its_way.error().operation_index = 4;
    result<int> const arrived = std::move(on_its_way);
    CHECK(arrived.error().operation_index == std::size_t{4});
}

TEST_CASE("an error is not swallowed when it is converted to a result of bool") {
    STATIC_REQUIRE_FALSE(std::is_convertible_v<result<void>, result<bool>>);
    STATIC_REQUIRE_FALSE(std::is_convertible_v<result<std::string>, result<bool>>);
    STATIC_REQUIRE(std::is_convertible_v<bool, result<bool>>);
    STATIC_REQUIRE(std::is_convertible_v<char const*, result<std::string>>);
    STATIC_REQUIRE(std::is_convertible_v<failure, result<bool>>);
}

TEST_CASE("a result of void is a success or an error") {
    result<void> done;
    CHECK(done);
    CHECK(done.has_value());
    CHECK_NOTHROW(done.value());
    result<void> const failed = refused("no");
    CHECK_FALSE(failed);
    CHECK_FALSE(failed.has_value());
    CHECK_THROWS_AS(failed.value(), error);
    auto copy = failed;
    CHECK(copy.error().message == "no");
    done = std::move(copy);
    CHECK(done.error().message == "no");
    result<int> const other = std::move(done).as_failure();
    CHECK(other.error().message == "no");
}

TEST_CASE("a result is no larger than its value plus one pointer and a flag") {
    STATIC_REQUIRE(sizeof(result<void>) == sizeof(void*));
    STATIC_REQUIRE(sizeof(result<void*>) <= 3 * sizeof(void*));
    STATIC_REQUIRE(std::is_nothrow_move_constructible_v<result<std::string>>);
    STATIC_REQUIRE_FALSE(std::is_nothrow_move_constructible_v<result<tracked>>);
}

TEST_CASE("a failed result is still failed after a move, and its error becomes InvalidInput") {
    auto const check = [](auto const& left) {
        CHECK_FALSE(left.has_value());
        CHECK(left.error().code == error_code::invalid_input);
        CHECK_THROWS_AS(left.value(), error);
    };
    result<void> nothing = failure{error_code::server_busy, "later"};
    result<void> const taken = std::move(nothing);
    check(nothing); // NOLINT: tests the moved-from state
    CHECK(taken.error().code == error_code::server_busy);
    result<void> const copy = nothing;
    check(copy);
    result<std::string> const passed_on = std::move(nothing).as_failure();
    check(passed_on);

    result<std::string> text = failure{error_code::server_busy, "later"};
    result<int> const other = std::move(text).as_failure();
    CHECK(other.error().code == error_code::server_busy);
    check(text); // NOLINT
    result<void> const again = std::move(text).as_failure();
    check(again);
    check(std::move(text).transform([](std::string const& all) { return all.size(); }));
    CHECK(std::move(text).value_or("else") == "else");

    // A failure that was moved from, and one made from a success.
    failure once{error_code::server_busy, "later"};
    result<void> const first = std::move(once);
    result<void> const second = std::move(once); // NOLINT
    CHECK(first.error().code == error_code::server_busy);
    check(second);
    result<void> const of_success = result<int>{3}.as_failure();
    check(of_success);

    text = std::string{"a value again"};
    CHECK(*text == "a value again");
    nothing = {};
    CHECK(nothing.has_value());
}
