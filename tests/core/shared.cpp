// SPDX-License-Identifier: MIT
// Copyright (c) 2026 the entitable authors

#include <entitable/core/shared.hpp>

#include <support/catch.hpp>

using namespace entitable;

namespace {

struct base : counted {
    virtual ~base() = default;
};

struct noted final : base {
    int* deaths;
    explicit noted(int& counter) : deaths(&counter) {}
    ~noted() override { ++*deaths; }
};

} // namespace

TEST_CASE("the last owner destroys the shared object") {
    int deaths = 0;
    {
        auto const first = shared<noted>::make(deaths);
        {
            auto const second = first;
            CHECK(second.get() == first.get());
        }
        CHECK(deaths == 0);
    }
    CHECK(deaths == 1);
}

TEST_CASE("moving an owner transfers ownership and changes nothing else") {
    int deaths = 0;
    auto first = shared<noted>::make(deaths);
    auto* const object = first.get();
    auto second = std::move(first);
    CHECK(second.get() == object);
    first = second;
    second = shared<noted>{};
    CHECK_FALSE(second);
    CHECK(deaths == 0);
    first = shared<noted>::make(deaths);
    CHECK(deaths == 1);
    first = {};
    CHECK(deaths == 2);
}

TEST_CASE("an owner can be assigned to itself") {
    int deaths = 0;
    auto one = shared<noted>::make(deaths);
    auto& alias = one;
    one = alias;
    one = std::move(alias);
    REQUIRE(one);
    CHECK(deaths == 0);
    CHECK(one->deaths == &deaths);
    CHECK((*one).deaths == &deaths);
}

TEST_CASE("an empty owner can be copied, moved and destroyed") {
    shared<noted> none;
    auto copy = none;
    auto const moved = std::move(copy);
    none = moved;
    CHECK_FALSE(none);
    CHECK(none.get() == nullptr);
}

TEST_CASE("an object that is shared through a base with a virtual destructor is destroyed completely") {
    int deaths = 0;
    { shared<base> const one{new noted(deaths)}; }
    CHECK(deaths == 1);
}
