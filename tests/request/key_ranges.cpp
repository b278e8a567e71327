// SPDX-License-Identifier: MIT
// Copyright (c) 2026 the entitable authors

// The key ranges of a condition contain each row that satisfies it, in order and disjoint; exact ones contain no other.

#include <entitable/core/request/detail/key_ranges.hpp>
#include <entitable/testing/rows.hpp>

#include <support/catch.hpp>

#include <random>

using namespace entitable;
using detail::key_ranges_of;

namespace {

filter_node key(std::string name, filter_operator operation, std::string_view operand) {
    return {operation, std::move(name), value{value_view{operand}}};
}
filter_node connective(filter_operator operation) { return {operation, {}, {}}; }

std::string shown(filter const& condition) {
    auto const found = key_ranges_of(condition);
    std::string text = found.exact ? "exactly" : "in";
    for (key_range const& each : found.ranges) { text += " [" + each.to_string() + "]"; }
    return text;
}

} // namespace

TEST_CASE("a condition is converted to key ranges") {
    auto const equal = filter_operator::equal;
    auto const both = connective(filter_operator::all_of);
    auto const either = connective(filter_operator::any_of);
    filter_node const other = key("A", equal, "x");
    CHECK(shown({}) == "exactly [all keys]");
    CHECK(shown({{other}}) == "in [all keys]");
    CHECK(shown({{key("PartitionKey", equal, "p"), key("RowKey", equal, "r"), both}}) ==
        "exactly [PartitionKey == \"p\" && RowKey == \"r\"]");
    CHECK(shown({{key("PartitionKey", equal, "p"), other, both}}) == "in [PartitionKey == \"p\"]");
    CHECK(shown({{key("PartitionKey", equal, "q"), key("PartitionKey", equal, "p"), either}}) ==
        "exactly [PartitionKey == \"p\"] [PartitionKey == \"q\"]");
    CHECK(shown({{key("PartitionKey", equal, "q"), other, either}}) == "in [all keys]");
    CHECK(shown({{key("PartitionKey", equal, "q"), key("PartitionKey", equal, "p"), both}}) == "exactly");
    CHECK(shown({{key("PartitionKey", filter_operator::not_equal, "q"), connective(filter_operator::negation)}}) ==
        "exactly [PartitionKey == \"q\"]");
    CHECK(shown({{key("RowKey", filter_operator::less, "b"), connective(filter_operator::negation)}}) ==
        "exactly [RowKey >= \"b\"]");
    CHECK(shown({{{equal, "PartitionKey", value{value_view{std::int32_t{1}}}}}}) == "exactly");
}

TEST_CASE("random conditions: key ranges lose no row, and exact ranges contain no additional row") {
    std::mt19937_64 random{7};
    auto const below = [&](std::size_t limit) { return static_cast<std::size_t>(random() % limit); };
    char const* const keys[] = {"", "a", "b", "c", "d"};
    std::size_t exact = 0;
    std::size_t several = 0;
    for (int round = 0; round < 600; ++round) {
        filter condition;
        std::size_t depth = 0;
        for (std::size_t count = 1 + below(6); count > 0; --count) {
            std::size_t const subject = below(7);
            std::string const name = subject == 0 ? "A" : subject % 2 == 0 ? "PartitionKey" : "RowKey";
            condition.nodes.push_back(key(name, static_cast<filter_operator>(below(6)), keys[below(5)]));
            ++depth;
            if (below(4) == 0) { condition.nodes.push_back(connective(filter_operator::negation)); }
            if (depth > 1 && below(2) == 0) {
                condition.nodes.push_back(
                    connective(below(2) == 0 ? filter_operator::all_of : filter_operator::any_of));
                --depth;
            }
        }
        for (; depth > 1; --depth) {
            condition.nodes.push_back(connective(below(2) == 0 ? filter_operator::all_of : filter_operator::any_of));
        }
        auto const found = key_ranges_of(condition);
        CAPTURE(condition.to_string(), shown(condition));
        exact += found.exact ? 1U : 0U;
        several += found.ranges.size() > 1 ? 1U : 0U;
        std::size_t last = 0; // the position of the previous row's range, in key order
        for (char const* const partition : keys) {
            for (char const* const at : keys) {
                row const each = testing::make_row(partition, at, {{"A", std::string_view{"b"}}});
                std::size_t in = 0;
                for (std::size_t index = 0; index < found.ranges.size(); ++index) {
                    if (found.ranges[index].contains(partition, at)) {
                        ++in;
                        CHECK(index >= last);
                        last = index;
                    }
                }
                CHECK(in <= 1);
                if (satisfies(each.view(), condition)) {
                    CHECK(in == 1);
                } else if (found.exact) {
                    CHECK(in == 0);
                }
            }
        }
    }
    CHECK(exact > 50);
    CHECK(several > 8);
}
