// SPDX-License-Identifier: MIT
// Copyright (c) 2026 the entitable authors

#include <entitable/cloud/wire/filter_text.hpp>

#include <support/catch.hpp>

using namespace entitable;

TEST_CASE("parse_filter reads the conditions of the service, and returns the library's own errors") {
    CHECK(parse_filter("")->empty());
    CHECK(parse_filter("Age ge 50 and not (Name eq 'it''s')")->to_string() == "Age >= 50 && !(Name == \"it's\")");
    auto const malformed = parse_filter("Age ge");
    REQUIRE(!malformed);
    CHECK(malformed.error().code == error_code::invalid_input);
    CHECK_THAT(malformed.error().message, entitable_test::ContainsSubstring("position"));
    CHECK(parse_filter(std::string(33 * 1024, ' ') + "A eq 1").error().code == error_code::invalid_input);
    auto const arithmetic = parse_filter("A add 1 eq 2");
    REQUIRE(!arithmetic);
    CHECK(parse_filter("startswith(A, 'x')").error().code == error_code::not_implemented);
}
