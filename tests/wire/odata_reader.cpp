// SPDX-License-Identifier: MIT
// Copyright (c) 2026 the entitable authors

#include <entitable/cloud/wire/detail/odata_filter.hpp>
#include <entitable/cloud/wire/detail/odata_reader.hpp>
#include <entitable/testing/rows.hpp>

#include <support/catch.hpp>
#include <support/draw.hpp>
#include <support/vectors.hpp>

using namespace entitable;
using namespace entitable_test;
using detail::read_odata_filter;

namespace {

/// A condition as readable text, or its error code.
std::string read(std::string_view text, detail::odata_limits const& limits = {}) {
    auto const made = read_odata_filter(text, limits);
    return made ? made->to_string() : made.error().server_message;
}

edm_type type_of(std::string_view constant) {
    auto const made = read_odata_filter("A eq " + std::string{constant});
    REQUIRE(made);
    REQUIRE(made->nodes.size() == 1);
    return made->nodes.front().operand.type();
}

} // namespace

TEST_CASE("conditions follow the grammar of the service") {
    CHECK(read("").empty());
    CHECK(read("A eq 1") == "A == 1");
    CHECK(read("A ne 1") == "A != 1");
    CHECK(read("A lt 1 and A le 2") == "A < 1 && A <= 2");
    CHECK(read("A gt 1 or A ge 2") == "A > 1 || A >= 2");
    CHECK(read("A eq 1 or B eq 2 and C eq 3") == "A == 1 || (B == 2 && C == 3)");
    CHECK(read("(A eq 1 or B eq 2) and C eq 3") == "(A == 1 || B == 2) && C == 3");
    CHECK(read("not A eq 1 and B eq 2") == "!(A == 1) && B == 2");
    CHECK(read("not (A eq 1 and not(B eq 2))") == "!(A == 1 && !(B == 2))");
    CHECK(read("1 lt A") == "A > 1");
    CHECK(read("'x' ge A") == "A <= \"x\"");
    CHECK(read("A") == "A == true");
    CHECK(read("not A or B") == "!(A == true) || B == true");
    CHECK(read("true") == "PartitionKey >= \"\"");
    CHECK(read("false") == "PartitionKey < \"\"");
    CHECK(read("  A   eq\t1 ") == "A == 1");
    CHECK(read("\xC3\xA4 eq 'it''s'") == "\xC3\xA4 == \"it's\"");
    CHECK(read("eqx eq 1") == "eqx == 1");
    CHECK(read("truely eq true") == "truely == true");
}

TEST_CASE("constants are read with their types") {
    CHECK(type_of("42") == edm_type::int32);
    CHECK(type_of("-2147483648") == edm_type::int32);
    CHECK(type_of("42L") == edm_type::int64);
    CHECK(type_of("-9223372036854775808L") == edm_type::int64);
    CHECK(type_of("1.0") == edm_type::float64);
    CHECK(type_of("1e3") == edm_type::float64);
    CHECK(type_of("-1.5E-3") == edm_type::float64);
    CHECK(type_of("7d") == edm_type::float64);
    CHECK(type_of("7.5f") == edm_type::float64);
    CHECK(type_of("7M") == edm_type::float64);
    CHECK(type_of("true") == edm_type::boolean);
    CHECK(type_of("datetime'2020-06-01T12:00:00.1234567Z'") == edm_type::date_time);
    CHECK(type_of("guid'C9DA6455-213d-42c9-9a79-3e9149a57833'") == edm_type::guid);
    CHECK(type_of("X'0aFf'") == edm_type::binary);
    CHECK(type_of("binary''") == edm_type::binary);
}

TEST_CASE("invalid conditions are refused") {
    for (std::string_view const text :
        {"(", ")", "()", "A eq", "eq 1", "A eq 1 and", "A eq 1 or or B eq 2", "A eq 1)", "(A eq 1", "A EQ 1", "A eq 'x",
            "A eq 1x", "A eq 1.", "A eq -", "A eq 1e", "A eq .5", "A eq null", "null eq A", "A == 1",
            "A eq datetime'2020'", "A eq datetime'1600-01-01T00:00:00Z'", "A eq guid'12'", "A eq X'0'", "A eq X'0g'",
            "A eq x'00'", "A eq time'00'", "A eq 9223372036854775808", "A eq 9223372036854775808L", "A eq 1e999",
            "A eq 1 B eq 2", "not", "A eq 1;", "A eq '\xFF'", "'a'", "1", "A eq 'a''", "A eq 1'", "and eq 1"}) {
        CAPTURE(text);
        CHECK(read(text) == "InvalidInput");
    }
    for (std::string_view const text : {"startswith(A,'a')", "A add 1 eq 2", "substringof('a',A) eq true", "A eq B",
             "1 eq 1", "tolower(A) eq 'a'", "1 add A eq 2"}) {
        CAPTURE(text);
        CHECK(read(text) == "NotImplemented");
    }
}

TEST_CASE("the size of a condition is limited") {
    std::string deep;
    for (int level = 0; level < 64; ++level) { deep = "(" + deep; }
    std::string close(64, ')');
    CHECK(read(deep + "A eq 1" + close) == "A == 1");
    CHECK(read("(" + deep + "A eq 1)" + close) == "InvalidInput");
    std::string negated = "A eq 1";
    for (int level = 0; level < 65; ++level) { negated = "not " + negated; }
    CHECK(read(negated) == "InvalidInput");
    std::string many = "A eq 1";
    for (int number = 0; number < 511; ++number) { many += " or A eq 1"; }
    CHECK(read(many) != "InvalidInput");
    CHECK(read(many + " or A eq 1") == "InvalidInput");
    CHECK(read("A eq '" + std::string(40'000, 'x') + "'") == "InvalidInput");
}

TEST_CASE("a written filter is read back unchanged") {
    filter all;
    std::string const bytes("\0\xFF'", 3);
    for (value_view const& operand : {value_view{"it's"}, value_view{""}, value_view{std::int32_t{-7}},
             value_view{std::int64_t{1} << 40}, value_view{std::int64_t{3}}, value_view{1.0}, value_view{5e-324},
             value_view{1e300}, value_view{false}, value_view{date_time{1}}, value_view{edm_type::binary, bytes},
             value_view{edm_type::guid, std::string_view{"0123456789abcdef"}}}) {
        all.nodes.push_back({filter_operator::greater, "P", value{operand}});
        if (all.nodes.size() > 1) {
            all.nodes.push_back(
                {all.nodes.size() % 4 == 0 ? filter_operator::any_of : filter_operator::all_of, {}, {}});
        }
        all.nodes.push_back({filter_operator::negation, {}, {}});
    }
    std::string text;
    CHECK(detail::append_odata_filter(text, {}, all, service::storage) == detail::rendered::whole);
    auto const back = read_odata_filter(text);
    REQUIRE(back);
    CHECK(back->to_string() == all.to_string());
    CHECK(back->nodes.size() == all.nodes.size());
}

TEST_CASE("invalid filters of the golden vectors are refused") {
    vectors const all{"filters.json"};
    if (!all) { return; }
    for (auto const each : all.list("errors")) {
        std::string const text = text_of(each, "filter");
        CAPTURE(text);
        std::string const service = text_of(each, "service");
        std::string const word = read(text);
        CHECK((service.find(word) != std::string::npos || service.find("no match") != std::string::npos));
    }
    for (auto const each : all.list("filters")) {
        CAPTURE(text_of(each, "filter"));
        CHECK(read_odata_filter(text_of(each, "filter")));
    }
    for (auto const each : all.list("literals")) {
        CHECK("Edm." + text_of(each, "type") == to_string(type_of(text_of(each, "literal"))));
    }
}
