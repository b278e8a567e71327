// SPDX-License-Identifier: MIT
// Copyright (c) 2026 the entitable authors

#include <entitable/entitable.hpp>
#include <entitable/hana.hpp>
#include <entitable/memory.hpp>

#include <boost/hana.hpp>
#include <support/catch.hpp>

#include <string>
#include <vector>

namespace hana = boost::hana;

namespace hana_test {

struct registration {
    std::string event;
    std::string distance;
    std::int32_t bib{};
    std::string name;
    std::int32_t age{};
    entitable::etag version;
};
ENTITABLE(registration,
    partition_key(literal("R:"), event, distance),
    row_key(bib),
    properties(name, property(age, "Age"), etag(version)))

class guarded {
public:
    std::string key;
    [[nodiscard]] std::string const& club() const noexcept { return club_; }
    void set_club(std::string club) { club_ = std::move(club); }
    [[nodiscard]] double pace() const noexcept { return pace_; }
    void set_pace(double pace) noexcept { pace_ = pace; }

private:
    std::string club_;
    double pace_{};
};
ENTITABLE(guarded,
    partition_key(key),
    row_key(literal("one")),
    properties(accessors(club, club, set_club), accessors(pace, pace, set_pace)))

struct adapted {
    std::string event;
    std::int32_t bib{};
    std::string name;
    std::optional<std::int32_t> age;
};

struct defined {
    BOOST_HANA_DEFINE_STRUCT(defined, (std::string, name), (std::int32_t, bib), (bool, finished), (std::string, event));
};
ENTITABLE_HANA(defined,
    partition_key(event, name),
    row_key(width(bib, 5)))

/// Keys and nothing else.
struct adapted_keys {
    std::string event;
    std::int32_t bib{};
};

/// More members than Hana's macros accept.
struct sixty_members {
    std::string key;
    std::int32_t m00, m01, m02, m03, m04, m05, m06, m07, m08, m09, m10, m11, m12, m13, m14, m15, m16, m17, m18, m19,
        m20, m21, m22, m23, m24, m25, m26, m27, m28, m29, m30, m31, m32, m33, m34, m35, m36, m37, m38, m39, m40, m41,
        m42, m43, m44, m45, m46, m47, m48, m49, m50, m51, m52, m53, m54, m55, m56, m57, m58, m59;
};
ENTITABLE(sixty_members,
    partition_key(key),
    row_key(literal("one")),
    properties(m00, m01, m02, m03, m04, m05, m06, m07, m08, m09, m10, m11, m12, m13, m14, m15, m16, m17, m18, m19,
        m20, m21, m22, m23, m24, m25, m26, m27, m28, m29, m30, m31, m32, m33, m34, m35, m36, m37, m38, m39,
        m40, m41, m42, m43, m44, m45, m46, m47, m48, m49, m50, m51, m52, m53, m54, m55, m56, m57, m58, m59))

struct not_declared : registration {};
struct plain {};

} // namespace hana_test

BOOST_HANA_ADAPT_STRUCT(hana_test::adapted, event, bib, name, age);
BOOST_HANA_ADAPT_STRUCT(hana_test::adapted_keys, event, bib);

namespace hana_test {
ENTITABLE_HANA(adapted,
    partition_key(event),
    row_key(descending(bib)))
ENTITABLE_HANA(adapted_keys,
    partition_key(event),
    row_key(bib))
} // namespace hana_test

using namespace hana_test;
using namespace entitable;

namespace {

constexpr auto stored_age_name = BOOST_HANA_STRING("Age");
constexpr auto age_name = BOOST_HANA_STRING("age");
constexpr auto bib_name = BOOST_HANA_STRING("bib");
constexpr auto club_name = BOOST_HANA_STRING("club");
constexpr auto distance_name = BOOST_HANA_STRING("distance");
constexpr auto event_name = BOOST_HANA_STRING("event");
constexpr auto name_name = BOOST_HANA_STRING("name");

registration const john{"New York", "Full", 1234, "John", 55, etag{"\"1\""}};

/// The names that Hana gives to the members, in order.
template <class Struct>
std::vector<std::string> names_of() {
    std::vector<std::string> names;
    hana::for_each(
        hana::accessors<Struct>(), [&names](auto const& pair) { names.push_back(hana::first(pair).c_str()); });
    return names;
}

template <class Entity>
std::vector<std::string> stored_names() {
    return {std::begin(mapping<Entity>::property_names) + 1, std::end(mapping<Entity>::property_names)};
}

} // namespace

TEST_CASE("every entity models hana::Struct, and no other type does") {
    STATIC_REQUIRE(hana::Struct<registration>::value);
    STATIC_REQUIRE(hana::Struct<guarded>::value);
    STATIC_REQUIRE(hana::Struct<adapted>::value);
    STATIC_REQUIRE(hana::Struct<defined>::value);
    STATIC_REQUIRE_FALSE(hana::Struct<plain>::value);
    STATIC_REQUIRE_FALSE(hana::Struct<not_declared>::value);
    STATIC_REQUIRE_FALSE(hana::Struct<int>::value);
    STATIC_REQUIRE_FALSE(hana::Struct<std::string>::value);
}

TEST_CASE("the members are the keys and the properties in order, under their stored names") {
    CHECK(names_of<registration>() == std::vector<std::string>{"event", "distance", "bib", "name", "Age"});
    CHECK(names_of<guarded>() == std::vector<std::string>{"key", "club", "pace"});
    STATIC_REQUIRE(decltype(hana::keys(john) ==
        hana::make_tuple(event_name, distance_name, bib_name, name_name, stored_age_name))::value);
}

TEST_CASE("members() returns the values of all members") {
    CHECK((hana::members(john) ==
        hana::make_tuple(std::string{"New York"}, std::string{"Full"}, 1234, std::string{"John"}, 55)));
}

TEST_CASE("for_each() visits names and values") {
    std::string seen;
    hana::for_each(john, hana::fuse([&seen](auto name, auto const& value) {
        seen += name.c_str();
        if constexpr (std::is_same_v<std::remove_cvref_t<decltype(value)>, std::string>) {
            seen += "=" + value + " ";
        } else {
            seen += "=" + std::to_string(value) + " ";
        }
    }));
    CHECK(seen == "event=New York distance=Full bib=1234 name=John Age=55 ");
}

TEST_CASE("at_key() reads a member and writes it through a reference") {
    CHECK(hana::at_key(john, name_name) == "John");
    CHECK(hana::at_key(john, stored_age_name) == 55);
    registration changed = john;
    hana::at_key(changed, bib_name) = 7;
    CHECK(changed.bib == 7);
    STATIC_REQUIRE(std::is_same_v<decltype(hana::at_key(changed, bib_name)), std::int32_t&>);
    STATIC_REQUIRE(decltype(hana::contains(john, age_name))::value == false);
}

TEST_CASE("equal() compares stored members and not the ETag") {
    registration other = john;
    other.version = etag{"\"2\""};
    CHECK(hana::equal(john, other));
    other.age = 56;
    CHECK_FALSE(hana::equal(john, other));
    CHECK(hana::not_equal(john, other));
}

TEST_CASE("a value with accessors is also a member") {
    guarded one;
    one.key = "k";
    one.set_club("Runners");
    one.set_pace(4.25);
    CHECK(hana::at_key(one, club_name) == "Runners");
    CHECK((hana::members(one) == hana::make_tuple(std::string{"k"}, std::string{"Runners"}, 4.25)));
}

TEST_CASE("an entity with more members than Hana's macros accept also models hana::Struct") {
    sixty_members one{};
    one.m00 = 1;
    one.m59 = 2;
    std::int32_t sum = 0;
    std::size_t count = 0;
    hana::for_each(hana::members(one), [&](auto const& value) {
        ++count;
        if constexpr (std::is_same_v<std::remove_cvref_t<decltype(value)>, std::int32_t>) { sum += value; }
    });
    CHECK(count == 61);
    CHECK(sum == 3);
}

TEST_CASE("a struct adapted for Hana becomes an entity when its keys are named") {
    STATIC_REQUIRE(mapped_entity<adapted>);
    STATIC_REQUIRE(mapped_entity<defined>);
    CHECK(stored_names<adapted>() == std::vector<std::string>{"name", "age"});
    CHECK(stored_names<defined>() == std::vector<std::string>{"finished"});
    CHECK(stored_names<adapted_keys>().empty());
    auto const stored = to_row(adapted{"New York", 1, "John", 55}).value();
    CHECK(stored.partition_key() == "New York");
    CHECK(stored.row_key() == "2147483646");
    CHECK(stored.view().find("age")->as_int32() == 55);
    adapted read;
    REQUIRE(from_row(stored.view(), read));
    CHECK(hana::equal(read, adapted{"New York", 1, "John", 55}));
    defined other;
    other.event = "New York";
    other.name = "John";
    other.bib = 1234;
    other.finished = true;
    auto const row = to_row(other).value();
    CHECK(row.partition_key() == "New York__John");
    CHECK(row.row_key() == "01234");
    defined back;
    REQUIRE(from_row(row.view(), back));
    CHECK(hana::equal(back, other));
}

TEST_CASE("an adapted entity is stored, read and queried like any other") {
    memory_backend store;
    table<adapted> runners{store, "runners"};
    runners.create_if_absent().value();
    runners.insert({"New York", 1, "John", 55}).value();
    runners.insert({"New York", 2, "Mary", std::nullopt}).value();
    CHECK(runners.get("New York", 1).value().name == "John");
    using r = fields<adapted>;
    std::vector<std::string> names;
    for (auto const& runner : runners.where(r::event == "New York" && field_of<&adapted::age> >= 50)) {
        names.push_back(runner.name);
    }
    CHECK(names == std::vector<std::string>{"John"});
}

TEST_CASE("field_of() selects a property of any entity by member pointer") {
    STATIC_REQUIRE(field_of<&adapted::age>.name == "age");
    STATIC_REQUIRE(field_of<&registration::age>.name == "Age");
    STATIC_REQUIRE(std::is_same_v<decltype(field_of<&registration::age>), decltype(fields<registration>::age)>);
}
