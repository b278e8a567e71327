// SPDX-License-Identifier: MIT
// Copyright (c) 2026 the entitable authors

#include <entitable/client/mapping/component.hpp>

#include <support/catch.hpp>

#include <string>

using namespace entitable;

namespace {

struct base {
    std::int64_t id{};
};

class runner : public base {
public:
    std::string name;
    std::optional<std::int32_t> bib;

    std::string const& club() const noexcept { return club_; }
    void set_club(std::string club) { club_ = std::move(club); }
    double pace() const { return pace_; }
    void set_pace(double pace) { pace_ = pace; }
    std::string copied() const { return club_; }

private:
    std::string club_;
    double pace_{};
};

} // namespace

TEST_CASE("member_type is the type of a member, even in a base class or with accessors") {
    STATIC_REQUIRE(std::is_same_v<detail::member_type<&runner::name>, std::string>);
    STATIC_REQUIRE(std::is_same_v<detail::member_type<&runner::id>, std::int64_t>);
    STATIC_REQUIRE(std::is_same_v<detail::member_type<accessor_pair<&runner::club, &runner::set_club>{}>, std::string>);
    STATIC_REQUIRE(std::is_same_v<detail::member_type<accessor_pair<&runner::pace, &runner::set_pace>{}>, double>);
}

TEST_CASE("a getter is lasting if it returns a reference or a small value") {
    STATIC_REQUIRE(accessor_pair<&runner::club, &runner::set_club>::lasting);
    STATIC_REQUIRE(accessor_pair<&runner::pace, &runner::set_pace>::lasting);
    STATIC_REQUIRE_FALSE(accessor_pair<&runner::copied, &runner::set_club>::lasting);
}

TEST_CASE("a component describes its name and its codec") {
    constexpr key_component plain = component<&runner::name>::describe("name");
    STATIC_REQUIRE(plain.name == "name");
    STATIC_REQUIRE(plain.is == key_component::kind::member);
    STATIC_REQUIRE(plain.separator() == "__");
    STATIC_REQUIRE_FALSE(plain.optional);
    STATIC_REQUIRE(component<&runner::bib>::describe("bib").optional);
    constexpr key_component free = component<&runner::name, escaped_codec<std::string>>::describe("name");
    STATIC_REQUIRE(free.escaped);
    STATIC_REQUIRE(free.separator() == "!");
}

TEST_CASE("a salted component also describes its bucket") {
    using salted = salted_component<&runner::name, 16>;
    constexpr key_component bucket = salted::describe_bucket("name");
    STATIC_REQUIRE(bucket.is == key_component::kind::bucket);
    STATIC_REQUIRE(bucket.buckets == 16);
    STATIC_REQUIRE(salted::buckets == 16);
    STATIC_REQUIRE(salted::describe("name").is == key_component::kind::member);
    STATIC_REQUIRE(component<&runner::name>::buckets == 0);
}

TEST_CASE("a literal has no separator") {
    constexpr key_component text = literal_component("BIB:");
    STATIC_REQUIRE(text.literal());
    STATIC_REQUIRE(text.separator().empty());
}

TEST_CASE("each component has its position") {
    using name = component<&runner::name>;
    using bib = component<&runner::bib>;
    using all = components<void, name, bib>;
    STATIC_REQUIRE(all::size == 2);
    STATIC_REQUIRE(all::index_of<name> == 0);
    STATIC_REQUIRE(all::index_of<bib> == 1);
    STATIC_REQUIRE(all::index_of<component<&runner::id>> == 2);
    STATIC_REQUIRE(components<void>::size == 0);
}

TEST_CASE("names are distinct if no two are equal, not counting the placeholder") {
    constexpr std::string_view distinct[] = {{}, "age", "Age", "AGE", "name"};
    constexpr std::string_view repeated[] = {{}, "age", "name", "age"};
    constexpr std::string_view none[] = {{}};
    STATIC_REQUIRE(detail::names_are_distinct(distinct));
    STATIC_REQUIRE_FALSE(detail::names_are_distinct(repeated));
    STATIC_REQUIRE(detail::names_are_distinct(none));
}

TEST_CASE("three names are reserved for the system, in this spelling only") {
    constexpr std::string_view free[] = {{}, "partitionKey", "rowkey", "timestamp", "ETag", "PartitionKey2"};
    STATIC_REQUIRE(detail::no_name_is_reserved(free));
    for (std::string_view const name : {"PartitionKey", "RowKey", "Timestamp"}) {
        std::string_view const names[] = {{}, "age", name};
        CAPTURE(name);
        CHECK_FALSE(detail::no_name_is_reserved(names));
    }
}
