// SPDX-License-Identifier: MIT
// Copyright (c) 2026 the entitable authors

#include "support/catch.hpp"
#include <entitable/core/try.hpp>

#include <map>
#include <memory>
#include <string>

using namespace entitable;

namespace {

result<std::unique_ptr<int>> boxed(int value) {
    if (value < 0) { return failure{error_code::out_of_range_input, "negative"}; }
    return std::make_unique<int>(value);
}

result<int> sum_of(int left, int right) {
    ENTITABLE_TRY(auto one, boxed(left)); // moved out: a unique_ptr has no copy
    ENTITABLE_TRY(auto const other, boxed(right));
    return *one + *other;
}

template <class Key, class Value>
result<std::map<Key, Value>> map_of(Key key, Value value) {
    return std::map<Key, Value>{{key, value}};
}

result<void> checks(int value) {
    ENTITABLE_CHECK(boxed(value));
    ENTITABLE_CHECK(map_of<int, int>(1, 2));
    if (value == 7)
        ENTITABLE_CHECK(boxed(-7));
    else
        ENTITABLE_CHECK(boxed(7));
    return {};
}

} // namespace

TEST_CASE("try: yields the value or returns the error") {
    CHECK(sum_of(1, 2).value() == 3);
    CHECK(sum_of(1, -2).error().message == "negative");
    CHECK(checks(1));
    CHECK(checks(-1).error().message == "negative");
    CHECK(checks(7).error().message == "negative");
    auto const commas = []() -> result<int> {
        ENTITABLE_TRY(auto map, map_of<std::string, int>("a", 2));
        return map.at("a");
    };
    CHECK(commas().value() == 2);
    // A named result stays unchanged.
    auto const copies = []() -> result<bool> {
        result<std::string> const named{std::string{"a long text that is not kept in place"}};
        ENTITABLE_TRY(std::string text, named);
        return text == *named && !named->empty();
    };
    CHECK(copies().value());
}

TEST_CASE("a result of void can be created from a result with a value") {
    auto const narrowed = [](int value) -> result<void> { return boxed(value); };
    CHECK(narrowed(1));
    CHECK(narrowed(-1).error().code == error_code::out_of_range_input);
    result<int> const kept{failure{error_code::invalid_input, "kept"}};
    result<void> const copied = kept;
    CHECK(copied.error().message == "kept");
    CHECK(kept.error().message == "kept");
}
