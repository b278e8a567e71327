// SPDX-License-Identifier: MIT
// Copyright (c) 2026 the entitable authors

#include <entitable/core/function_ref.hpp>

#include <support/catch.hpp>

#include <memory>
#include <string>

using namespace entitable;

namespace {

int doubled(int number) { return 2 * number; }

int ask(function_ref<int(int)> function, int number) { return function(number); }

struct counter {
    int calls{};
    int operator()(int number) { return number + ++calls; }
};

} // namespace

TEST_CASE("a function reference calls its target by reference") {
    counter counted;
    function_ref<int(int)> const reference = counted;
    CHECK(reference(10) == 11);
    CHECK(reference(10) == 12);
    CHECK(counted.calls == 2);
    auto const copy = reference;
    CHECK(copy(10) == 13);
    CHECK(counted.calls == 3);
}

TEST_CASE("a function reference can be created from lambdas, constant objects and plain functions") {
    int const offset = 5;
    CHECK(ask([&](int number) { return number + offset; }, 1) == 6);
    auto const constant = [](int number) { return number - 1; };
    CHECK(ask(constant, 1) == 0);
    CHECK(ask(doubled, 4) == 8);
    CHECK(ask(&doubled, 4) == 8);
}

TEST_CASE("a function reference to void discards the return value") {
    int calls = 0;
    auto const counting = [&](int number) { return calls += number; };
    function_ref<void(int)> const reference = counting;
    reference(3);
    CHECK(calls == 3);
}

TEST_CASE("a function reference forwards references and move-only types") {
    std::string text = "a";
    auto const append = [](std::string& out, std::unique_ptr<int> number) {
        out += std::to_string(*number);
        return std::make_unique<int>(*number + 1);
    };
    function_ref<std::unique_ptr<int>(std::string&, std::unique_ptr<int>)> const reference = append;
    CHECK(*reference(text, std::make_unique<int>(7)) == 8);
    CHECK(text == "a7");
}

TEST_CASE("a function reference can only be created from a compatible callable") {
    using reference = function_ref<int(int)>;
    STATIC_REQUIRE(std::is_constructible_v<reference, int (*)(int)>);
    STATIC_REQUIRE(std::is_constructible_v<reference, counter&>);
    STATIC_REQUIRE_FALSE(std::is_constructible_v<reference, int (*)(int, int)>);
    STATIC_REQUIRE_FALSE(std::is_constructible_v<reference, std::string (*)(int)>);
    STATIC_REQUIRE_FALSE(std::is_constructible_v<reference, counter const&>);
    STATIC_REQUIRE_FALSE(std::is_constructible_v<reference, int>);
    STATIC_REQUIRE(sizeof(reference) == 2 * sizeof(void*));
}
