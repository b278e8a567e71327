// SPDX-License-Identifier: MIT
// Copyright (c) 2026 the entitable authors

#include "refusals.hpp"
#include <entitable/core/request/validate.hpp>

#include <support/catch.hpp>
#include <support/utf8.hpp>

#include <limits>
#include <string>

using namespace entitable;
using namespace entitable_test;

namespace {

using op = filter_operator;
constexpr profile limits = storage_profile();
filter_node const leaf{op::equal, "age", value_view{std::int32_t{1}}};
filter_node const not_node{op::negation, {}, {}};
filter_node const and_node{op::all_of, {}, {}};
filter_node const or_node{op::any_of, {}, {}};

query_entities asking(filter condition, key_range range = {}) {
    query_entities request;
    request.table = "table";
    request.filter = std::move(condition);
    request.range = std::move(range);
    return request;
}

filter conjunction(std::size_t comparisons) {
    filter made{{leaf}};
    for (std::size_t index = 1; index < comparisons; ++index) {
        made.nodes.push_back(leaf);
        made.nodes.push_back(and_node);
    }
    return made;
}

result<void> checked(filter condition) { return validate(asking(std::move(condition)), limits); }

} // namespace

TEST_CASE("a page has 1 to 1000 rows or tables") {
    auto const sizes = [](auto request) {
        for (std::uint32_t const good : {1U, 2U, 1000U}) {
            request.page_size = good;
            CHECK(validate(request, limits));
        }
        for (std::uint32_t const bad : {0U, 1001U, 0xFFFFFFFFU}) {
            request.page_size = bad;
            check_refused(
                validate(request, limits), error_code::invalid_input, "page_size", std::to_string(bad), "1000");
        }
    };
    sizes(asking({}));
    sizes(list_tables{});
}

TEST_CASE("a filter is well formed if every operator has its operands and one result remains") {
    CHECK(checked({}));
    CHECK(checked({{leaf}}));
    CHECK(checked({{leaf, not_node}}));
    CHECK(checked({{leaf, not_node, not_node}}));
    CHECK(checked({{leaf, leaf, and_node}}));
    CHECK(checked({{leaf, leaf, or_node, not_node, leaf, and_node}}));
    for (auto const& broken : {filter{{not_node}}, filter{{and_node}}, filter{{leaf, and_node}},
             filter{{leaf, or_node}}, filter{{and_node, leaf}}, filter{{leaf, leaf, and_node, and_node}},
             filter{{leaf, leaf}}, filter{{leaf, leaf, leaf, and_node}}, filter{{leaf, {static_cast<op>(9), {}, {}}}},
             filter{{leaf, leaf, {static_cast<op>(200), {}, {}}}}}) {
        check_refused(checked(broken), error_code::invalid_input, "filter", "malformed filter");
    }
}

TEST_CASE("a query has at most 15 comparisons, including those of its keys") {
    CHECK(checked(conjunction(15)));
    check_refused(checked(conjunction(16)), error_code::invalid_input, "16", "15", "comparisons");
    key_range const range{key_interval::only("p"), {key_bound::including("a"), key_bound::excluding("b")}};
    CHECK(validate(asking(conjunction(12), range), limits));
    check_refused(validate(asking(conjunction(13), range), limits), error_code::invalid_input, "16", "15");
    CHECK(validate(asking(conjunction(10'000), range), local_profile()));
}

TEST_CASE("a filter may use only valid property names and the system properties") {
    auto const about = [](std::string name) {
        return checked({{{op::equal, std::move(name), value_view{std::int32_t{1}}}}});
    };
    CHECK(about("PartitionKey"));
    CHECK(about("RowKey"));
    CHECK(about("Timestamp"));
    CHECK(about(std::string(255, 'n')));
    check_refused(about(""), error_code::property_name_invalid);
    check_refused(about("odata.etag"), error_code::property_name_invalid, "odata.etag");
    check_refused(about("a eq 1 or b"), error_code::property_name_invalid);
    check_refused(about(std::string(256, 'n')), error_code::property_name_too_long, "256", "255");
}

TEST_CASE("a filter may compare only with storable values") {
    auto const with = [](value_view operand) { return checked({{{op::less, "field", operand}}}); };
    CHECK(with("O'Brien"));
    CHECK(with(""));
    CHECK(with(std::numeric_limits<double>::quiet_NaN()));
    CHECK(with(date_time{date_time::max_ticks}));
    check_refused(with(date_time{date_time::max_ticks + 1}), error_code::out_of_range_input, "field", "9999");
    check_refused(with(date_time{-1}), error_code::out_of_range_input, "field", "1601");
    check_refused(with("secret\xFF"), error_code::invalid_input, "field", "UTF-8");
    CHECK_THAT(with("secret\xFF").error().to_string(), !ContainsSubstring("secret"));
}

TEST_CASE("the bounds of a key range must be UTF-8 and may contain any character") {
    auto const within = [](key_range range) { return validate(asking({}, std::move(range)), limits); };
    CHECK(within({key_interval::only("a/b#?\x7F"), {key_bound::including(""), key_bound::excluding(utf8(0x80))}}));
    auto const broken = key_bound::including("secret\xFF");
    for (auto const& range : {key_range{{broken, {}}, {}}, key_range{{{}, broken}, {}}, key_range{{}, {broken, {}}},
             key_range{{}, {{}, broken}}}) {
        check_refused(within(range), error_code::invalid_input, "UTF-8", "byte 6");
        check_kept_apart(within(range), "secret");
    }
}
