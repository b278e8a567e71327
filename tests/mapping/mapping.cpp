// SPDX-License-Identifier: MIT
// Copyright (c) 2026 the entitable authors

#include <entitable/client/mapping/mapping.hpp>

#include <support/catch.hpp>

#include <string>

namespace mapping_test {

struct runner {
    std::string event;
    std::string distance;
    std::int32_t bib{};
    std::string name;
};
ENTITABLE(runner,
    partition_key(event, distance),
    row_key(literal("BIB:"), width(bib, 5), escaped(name)))

struct salted_runner {
    std::string day;
    std::int32_t bib{};
};
ENTITABLE(salted_runner,
    partition_key(salted(day, 16)),
    row_key(bib))

struct derived : runner {};
struct plain {};

} // namespace mapping_test

using namespace entitable;
using namespace mapping_test;
using kind = key_component::kind;

TEST_CASE("a mapping is found by the type alone, but only if the declaration is complete") {
    STATIC_REQUIRE(mapped_entity<runner>);
    STATIC_REQUIRE_FALSE(mapped_entity<plain>);
    STATIC_REQUIRE_FALSE(mapped_entity<int>);
    STATIC_REQUIRE_FALSE(mapped_entity<std::string>);
    STATIC_REQUIRE(std::is_same_v<mapping<runner>::entitable_entity, runner>);
}

TEST_CASE("the layouts list the components in order, including literals and buckets") {
    constexpr key_layout partition{mapping<runner>::partition_layout};
    constexpr key_layout rows{mapping<runner>::row_layout};
    constexpr key_layout salted{mapping<salted_runner>::partition_layout};
    STATIC_REQUIRE(partition.size() == 2);
    STATIC_REQUIRE(partition[0].name == "event");
    STATIC_REQUIRE(partition[1].name == "distance");
    STATIC_REQUIRE(rows.size() == 3);
    STATIC_REQUIRE(rows[0].is == kind::literal);
    STATIC_REQUIRE(rows[0].name == "BIB:");
    STATIC_REQUIRE(rows[1].name == "bib");
    STATIC_REQUIRE(rows[2].escaped);
    STATIC_REQUIRE(salted.size() == 2);
    STATIC_REQUIRE(salted[0].is == kind::bucket);
    STATIC_REQUIRE(salted[0].buckets == 16);
    STATIC_REQUIRE(salted[1].is == kind::member);
    STATIC_REQUIRE(salted[1].name == "day");
}

TEST_CASE("components contain only members") {
    STATIC_REQUIRE(mapping<runner>::partition_components::size == 2);
    STATIC_REQUIRE(mapping<runner>::row_components::size == 2);
    STATIC_REQUIRE(mapping<salted_runner>::partition_components::size == 1);
    STATIC_REQUIRE(std::is_same_v<mapping<runner>::components_of<key_part::row>, mapping<runner>::row_components>);
    STATIC_REQUIRE(
        std::is_same_v<mapping<runner>::components_of<key_part::partition>, mapping<runner>::partition_components>);
}
