// SPDX-License-Identifier: MIT
// Copyright (c) 2026 the entitable authors

#include <entitable/cloud/wire/detail/escape.hpp>
#include <entitable/cloud/wire/detail/odata_filter.hpp>

#include <support/odata_parser.hpp>
#include <support/runners.hpp>
#include <support/vectors.hpp>

#include <cmath>
#include <limits>

using namespace entitable;
using namespace entitable_test;

namespace {

std::string literal(value_view operand) {
    std::string out;
    return detail::append_odata_literal(out, operand) ? out : "none";
}

filter_node is(std::string name, filter_operator comparison, value_view operand) {
    return {comparison, std::move(name), operand};
}
filter_node const also{filter_operator::all_of, {}, {}};
filter_node const instead{filter_operator::any_of, {}, {}};
filter_node const opposite{filter_operator::negation, {}, {}};
filter_node const a = is("A", filter_operator::equal, 1);
filter_node const b = is("B", filter_operator::less, 2);
filter_node const c = is("C", filter_operator::not_equal, 3);
filter_node const none = is("D", filter_operator::less, std::nan(""));

std::string wrote(filter const& condition, key_range const& range = {}) {
    std::string out;
    auto const said = detail::append_odata_filter(out, range, condition, service::storage);
    return (said == detail::rendered::whole ? "" : "part: ") + out;
}

} // namespace

TEST_CASE("constants are written in filters") {
    CHECK(literal("") == "''");
    CHECK(literal("a' or PartitionKey ne '") == "'a'' or PartitionKey ne '''");
    CHECK(literal(-7) == "-7");
    CHECK(literal(INT64_MIN) == "-9223372036854775808L");
    CHECK(literal(2.0) == "2.0");
    CHECK(literal(-0.5) == "-0.5");
    CHECK(literal(1e20) == "100000000000000000000.0");
    CHECK(literal(1e-7) == "0.0000001");
    CHECK(literal(true) == "true");
    CHECK(
        literal(date_time::parse("2020-06-01T12:00:00.1234567Z").value()) == "datetime'2020-06-01T12:00:00.1234567Z'");
    CHECK(literal(
              {edm_type::guid, std::string_view{"\xC9\xDA\x64\x55\x21\x3D\x42\xC9\x9A\x79\x3E\x91\x49\xA5\x78\x33"}}) ==
        "guid'c9da6455-213d-42c9-9a79-3e9149a57833'");
    CHECK(literal({edm_type::binary, std::string_view{"\x01\x02\xFF"}}) == "X'0102ff'");
    for (double const number : {5e-324, -1.7976931348623157e308, 0.1, 123456789.125}) {
        CHECK(std::strtod(literal(number).c_str(), nullptr) == number);
        CHECK(literal(number).find('e') == std::string::npos);
    }
    CHECK(literal(std::nan("")) == "none");
    CHECK(literal(std::numeric_limits<double>::infinity()) == "none");
}

TEST_CASE("key ranges and conditions are written as text") {
    CHECK(wrote({}) == "");
    key_range range;
    range.partition = key_interval::only("a");
    CHECK(wrote({}, range) == "PartitionKey eq 'a'");
    range.row = {key_bound::including("1"), key_bound::excluding("2")};
    CHECK(wrote({}, range) == "PartitionKey eq 'a' and RowKey ge '1' and RowKey lt '2'");
    CHECK(wrote({{a}}, range) == "PartitionKey eq 'a' and RowKey ge '1' and RowKey lt '2' and A eq 1");
    CHECK(wrote({{a, b, instead}}, range) ==
        "PartitionKey eq 'a' and RowKey ge '1' and RowKey lt '2' and (A eq 1 or B lt 2)");
    range.row = {key_bound::excluding(""), {}};
    range.partition = {{}, key_bound::including("O'")};
    CHECK(wrote({}, range) == "PartitionKey le 'O''' and RowKey gt ''");
    CHECK(wrote({{a, b, instead, c, also}}) == "(A eq 1 or B lt 2) and C ne 3");
    CHECK(wrote({{a, b, c, also, instead}}) == "A eq 1 or (B lt 2 and C ne 3)");
    CHECK(wrote({{a, b, also, c, also}}) == "A eq 1 and B lt 2 and C ne 3");
    CHECK(wrote({{a, opposite, b, also, opposite}}) == "not ((not (A eq 1)) and B lt 2)");
}

TEST_CASE("a condition that cannot be written in OData is omitted only if that widens the filter") {
    CHECK(wrote({{none}}) == "part: ");
    CHECK(wrote({{none, opposite}}) == "part: ");
    CHECK(wrote({{a, none, also}}) == "part: A eq 1");
    CHECK(wrote({{a, none, also, opposite}}) == "part: ");
    CHECK(wrote({{a, none, instead}}) == "part: ");
    CHECK(wrote({{a, none, also, b, instead}}) == "part: A eq 1 or B lt 2");
    CHECK(wrote({{a, none, instead, b, also}}) == "part: B lt 2");
    CHECK(wrote({{none, none, also, b, c, instead, also}}) == "part: B lt 2 or C ne 3");
    key_range range;
    range.partition = key_interval::only("a");
    CHECK(wrote({{none}}, range) == "part: PartitionKey eq 'a'");
    CHECK(
        wrote({{none, none, also, b, c, instead, also}}, range) == "part: PartitionKey eq 'a' and (B lt 2 or C ne 3)");
}

TEST_CASE("vectors: constants and filters are written") {
    vectors const all{"filters.json"};
    if (!all) { return; }
    std::size_t literals = 0;
    for (auto const each : all.list("literals")) {
        std::string const expected = text_of(each, "literal");
        CAPTURE(expected);
        auto const read = odata_parser::parse("V eq " + expected);
        REQUIRE(read);
        CHECK(literal(read->nodes.front().operand) == expected);
        ++literals;
    }
    CHECK(literals >= 27);
    std::size_t same = 0;
    std::size_t count = 0;
    for (auto const each : all.list("filters")) {
        std::string const given = text_of(each, "filter");
        CAPTURE(given);
        std::string query = "$filter=";
        detail::append_url_escaped(query, given);
        CHECK(query == text_of(each, "query"));
        if (text_of(each, "id") == "constant-left") {
            continue; // a form that is not sent
        }
        auto const read = odata_parser::parse(given);
        REQUIRE(read);
        std::string const written = wrote(*read);
        auto const again = odata_parser::parse(written);
        REQUIRE(again);
        CHECK(*again == *read);
        same += written == given ? 1U : 0U;
        ++count;
    }
    CHECK(count >= 42);
    CHECK(same >= 33); // the others have times with fewer digits, other parentheses or "binary"
}

TEST_CASE("a filter from the planner stays within the profile's limit for URLs") {
    using line = fields<entitable_test::result_line>;
    using of = mapping<entitable_test::result_line>;
    std::size_t longest = 0;
    auto const check = [&](predicate_nodes const& asked) {
        profile const limits = azurite_profile();
        auto const plan = make_plan(asked, access_path::table, of::partition_layout, of::row_layout, limits).value();
        for (key_range const& range : plan.ranges) {
            std::string text;
            CHECK(detail::append_odata_filter(text, range, plan.server, service::storage) == detail::rendered::whole);
            std::string url;
            detail::append_url_escaped(url, text);
            CHECK(url.size() <= limits.max_filter_size);
            longest = longest < url.size() ? url.size() : longest;
        }
    };
    for (std::string const part : {"x", "'", " ", "\u00E9", "\u4E16", "\U0001F600", "%"}) {
        for (std::size_t const count : {1U, 20U, 100U, 250U, 400U, 512U, 2000U}) {
            std::string text;
            for (std::size_t index = 0; index < count; ++index) { text += part; }
            check((line::remark == text).nodes());
            check((line::series == text && line::remark >= text && !(line::remark < text)).nodes());
            check((line::series == text && line::year == 1 && line::place == 1 && line::note == text &&
                line::remark != text)
                    .nodes());
            check((line::series == text && line::year == 1 && line::place == 1 && between(line::note, text, text + "x"))
                    .nodes());
            check((in(line::remark, {text, text + "a", text + "b"}) || line::remark == "c").nodes());
        }
    }
    CHECK(longest > azurite_profile().max_filter_size / 2);
}
