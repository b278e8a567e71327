// SPDX-License-Identifier: MIT
// Copyright (c) 2026 the entitable authors

#include <entitable/core/cancellation.hpp>

#include <support/catch.hpp>

#include <thread>

using namespace entitable;

TEST_CASE("a token without a source is never cancelled") { CHECK_FALSE(cancellation_token{}.cancelled()); }

TEST_CASE("a source cancels all of its tokens, including tokens that are created later") {
    cancellation_source source;
    auto const before = source.token();
    auto const copy = before;
    CHECK_FALSE(before.cancelled());
    source.cancel();
    CHECK(before.cancelled());
    CHECK(copy.cancelled());
    CHECK(source.token().cancelled());
    source.cancel();
    CHECK(before.cancelled());
}

TEST_CASE("a source does not cancel the tokens of other sources") {
    cancellation_source one;
    cancellation_source const two;
    one.cancel();
    CHECK_FALSE(two.token().cancelled());
}

TEST_CASE("a token outlives its source") {
    cancellation_token quiet;
    cancellation_token loud;
    {
        cancellation_source first;
        quiet = first.token();
        cancellation_source second;
        loud = second.token();
        second.cancel();
    }
    CHECK_FALSE(quiet.cancelled());
    CHECK(loud.cancelled());
}

TEST_CASE("copies of a source share one state") {
    cancellation_source first;
    auto second = first;
    auto const token = first.token();
    second.cancel();
    CHECK(token.cancelled());
}

TEST_CASE("a source with a parent can be cancelled by itself or by its parent, and never cancels the parent") {
    cancellation_source parent;
    cancellation_source own{parent.token()};
    cancellation_source grandchild{own.token()};
    cancellation_source const quiet{cancellation_token{}};
    CHECK_FALSE(grandchild.token().cancelled());
    SECTION("by the parent") {
        parent.cancel();
        CHECK(own.token().cancelled());
        CHECK(grandchild.token().cancelled());
    }
    SECTION("by itself") {
        own.cancel();
        CHECK_FALSE(parent.token().cancelled());
        CHECK(grandchild.token().cancelled());
    }
    SECTION("the parent's token outlives the parent") {
        {
            cancellation_source short_lived;
            grandchild = cancellation_source{short_lived.token()};
            short_lived.cancel();
        }
        CHECK(grandchild.token().cancelled());
    }
    CHECK_FALSE(quiet.token().cancelled());
}

TEST_CASE("a cancellation is seen on another thread") {
    cancellation_source source;
    std::thread waiting{[token = source.token()] {
        while (!token.cancelled()) { std::this_thread::yield(); }
    }};
    source.cancel();
    waiting.join();
    CHECK(source.token().cancelled());
}
