// SPDX-License-Identifier: MIT
// Copyright (c) 2026 the entitable authors

#include <entitable/client/mapping/field.hpp>

#include <support/catch.hpp>

#include <string>

using namespace entitable;

namespace {

struct runner {
    std::string event;
    std::optional<std::int32_t> age;
};

} // namespace

TEST_CASE("a key field is an empty class with its entity, value and codec types") {
    using field = key_field<runner, key_part::partition, component<&runner::event>>;
    STATIC_REQUIRE(std::is_empty_v<field>);
    STATIC_REQUIRE(std::is_same_v<field::entity_type, runner>);
    STATIC_REQUIRE(std::is_same_v<field::value_type, std::string>);
    STATIC_REQUIRE(std::is_same_v<field::codec, key_codec<std::string>>);
}

TEST_CASE("a property field has its entity, its value type and its stored name") {
    constexpr property_field<runner, &runner::age> field{"Age"};
    STATIC_REQUIRE(field.name == "Age");
    STATIC_REQUIRE(std::is_same_v<decltype(field)::entity_type, runner>);
    STATIC_REQUIRE(std::is_same_v<decltype(field)::value_type, std::optional<std::int32_t>>);
}
