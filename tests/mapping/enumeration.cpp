// SPDX-License-Identifier: MIT
// Copyright (c) 2026 the entitable authors

#include <entitable/client/mapping/enumeration.hpp>

#include <support/catch.hpp>

using namespace entitable;

namespace enumeration_test {

enum class plain { one };
enum class strict { first, second, unnamed };
enum old_style : int { tall, tiny };

} // namespace enumeration_test

template <>
struct entitable::enum_names<enumeration_test::strict> {
    static constexpr entitable::enum_name<enumeration_test::strict> values[] = {
        {enumeration_test::strict::first, "first"}, {enumeration_test::strict::second, "der zweite \xC3\xBC"}};
};

template <>
struct entitable::enum_names<enumeration_test::old_style> {
    static constexpr entitable::enum_name<enumeration_test::old_style> values[] = {
        {enumeration_test::tall, "tall"}, {enumeration_test::tiny, "tiny"}};
    static constexpr auto unknown = enumeration_test::tiny;
};

using enumeration_test::old_style;
using enumeration_test::plain;
using enumeration_test::strict;

TEST_CASE("only an enumeration with declared names is a named_enumeration") {
    STATIC_REQUIRE(named_enumeration<strict>);
    STATIC_REQUIRE(named_enumeration<old_style>);
    STATIC_REQUIRE_FALSE(named_enumeration<plain>);
    STATIC_REQUIRE_FALSE(named_enumeration<int>);
}

TEST_CASE("a value has its declared name, even at compile time") {
    STATIC_REQUIRE(name_of(strict::first) == "first");
    STATIC_REQUIRE(name_of(strict::second) == "der zweite \xC3\xBC");
    STATIC_REQUIRE(name_of(enumeration_test::tall) == "tall");
}

TEST_CASE("a value without a declared name has no text") {
    STATIC_REQUIRE(name_of(strict::unnamed).empty());
    CHECK(name_of(static_cast<strict>(77)).empty());
}

TEST_CASE("a name is converted back to its value") {
    strict value{};
    CHECK(value_named("der zweite \xC3\xBC", value));
    CHECK(value == strict::second);
}

TEST_CASE("without a substitute an unknown name is refused, and the value is unchanged") {
    strict value = strict::second;
    CHECK_FALSE(value_named("third", value));
    CHECK_FALSE(value_named("First", value));
    CHECK_FALSE(value_named("", value));
    CHECK(value == strict::second);
}

TEST_CASE("with a substitute an unknown name is read as the substitute") {
    old_style value = enumeration_test::tall;
    CHECK(value_named("huge", value));
    CHECK(value == enumeration_test::tiny);
}
