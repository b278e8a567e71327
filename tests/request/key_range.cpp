// SPDX-License-Identifier: MIT
// Copyright (c) 2026 the entitable authors

#include <entitable/core/request/key_range.hpp>

#include <support/catch.hpp>
#include <support/utf8.hpp>

#include <string>
#include <vector>

using namespace entitable;
using entitable_test::utf16;
using entitable_test::utf8;

namespace {

using kind = key_bound::kind;

std::vector<std::string> const& edges() {
    static std::vector<std::string> const all = {"", "a", "ab", "b", utf8(0x1F600), utf8(0xFF5E)};
    return all;
}

/// The edge values, and between any two of them at least one more.
std::vector<std::string> const& keys() {
    static std::vector<std::string> const all = [] {
        auto grown = edges();
        for (auto const& edge : edges()) { grown.push_back(edge + "!"); }
        return grown;
    }();
    return all;
}

std::vector<key_interval> const& intervals() {
    static std::vector<key_interval> const all = [] {
        std::vector<key_bound> bounds = {{}};
        for (auto const& edge : edges()) {
            bounds.push_back(key_bound::including(edge));
            bounds.push_back(key_bound::excluding(edge));
        }
        std::vector<key_interval> pairs;
        for (auto const& lower : bounds) {
            for (auto const& upper : bounds) { pairs.push_back({lower, upper}); }
        }
        return pairs;
    }();
    return all;
}

bool lies_in(key_interval const& interval, std::string const& key) {
    auto const lower = utf16(key).compare(utf16(interval.lower.key));
    auto const upper = utf16(key).compare(utf16(interval.upper.key));
    bool const above =
        interval.lower.end == kind::open || lower > 0 || (lower == 0 && interval.lower.end == kind::inclusive);
    bool const below =
        interval.upper.end == kind::open || upper < 0 || (upper == 0 && interval.upper.end == kind::inclusive);
    return above && below;
}

} // namespace

TEST_CASE("an interval contains the keys between its bounds in UTF-16 order") {
    std::size_t wrong = 0;
    for (auto const& interval : intervals()) {
        for (auto const& key : keys()) { wrong += interval.contains(key) != lies_in(interval, key) ? 1U : 0U; }
    }
    CHECK(wrong == 0);
}

TEST_CASE("an interval is empty if no key lies in it") {
    for (auto const& interval : intervals()) {
        bool any = false;
        for (auto const& key : keys()) { any = any || lies_in(interval, key); }
        CAPTURE(interval.to_string("key"));
        CHECK(interval.is_empty() == !any);
    }
}

TEST_CASE("an intersection contains exactly the keys that are in both intervals") {
    std::size_t wrong = 0;
    for (auto const& left : intervals()) {
        for (auto const& right : intervals()) {
            auto const both = intersection(left, right);
            for (auto const& key : keys()) {
                wrong += both.contains(key) != (lies_in(left, key) && lies_in(right, key)) ? 1U : 0U;
            }
        }
    }
    CHECK(wrong == 0);
}

TEST_CASE("bounds are ordered by the keys they admit") {
    for (auto const& left : intervals()) {
        for (auto const& right : intervals()) {
            int const lower = compare_lower(left.lower, right.lower);
            int const upper = compare_upper(left.upper, right.upper);
            bool fine = compare_lower(right.lower, left.lower) == -lower || lower * lower != 1;
            fine = fine &&
                ((lower == 0) ==
                    (left.lower == right.lower || (left.lower.end == kind::open && right.lower.end == kind::open)));
            fine = fine &&
                ((upper == 0) ==
                    (left.upper == right.upper || (left.upper.end == kind::open && right.upper.end == kind::open)));
            for (auto const& key : keys()) {
                bool const in_left = lies_in({left.lower, {}}, key);
                bool const in_right = lies_in({right.lower, {}}, key);
                fine = fine && (lower > 0 || in_left || !in_right) && (lower < 0 || in_right || !in_left);
                bool const under_left = lies_in({{}, left.upper}, key);
                bool const under_right = lies_in({{}, right.upper}, key);
                fine = fine && (upper < 0 || under_left || !under_right) && (upper > 0 || under_right || !under_left);
            }
            if (!fine) {
                CAPTURE(left.to_string("left"), right.to_string("right"), lower, upper);
                FAIL("bounds in the wrong order");
            }
        }
    }
}

TEST_CASE("a range contains a row if both keys lie in their intervals") {
    key_range const range{key_interval::only("p"), {key_bound::including("b"), key_bound::excluding("d")}};
    CHECK(range.contains("p", "b"));
    CHECK(range.contains("p", "c"));
    CHECK_FALSE(range.contains("p", "d"));
    CHECK_FALSE(range.contains("p", "a"));
    CHECK_FALSE(range.contains("q", "c"));
    CHECK_FALSE(range.contains("", "c"));
    CHECK(key_range{}.contains("", ""));
    CHECK(key_range{}.contains("p", "r"));
    CHECK_FALSE(key_range{}.is_empty());
    CHECK((key_range{{}, {{}, key_bound::excluding("")}}).is_empty());
    CHECK((key_range{{key_bound::including("b"), key_bound::including("a")}, {}}).is_empty());
}

TEST_CASE("a point contains only one key") {
    CHECK(key_interval::only("a").is_point());
    CHECK(key_interval::only("").is_point());
    CHECK_FALSE(key_interval{}.is_point());
    CHECK(key_interval{}.is_all());
    CHECK_FALSE(key_interval::only("").is_all());
    CHECK_FALSE((key_interval{key_bound::including("a"), key_bound::including("b")}).is_point());
    CHECK_FALSE((key_interval{key_bound::including("a"), key_bound::excluding("a")}).is_point());
    CHECK((key_range{key_interval::only("p"), key_interval::only("r")}).is_point());
    CHECK_FALSE((key_range{key_interval::only("p"), {}}).is_point());
}

TEST_CASE("a range counts the comparisons that are needed to express it") {
    CHECK(key_range{}.comparisons() == 0);
    CHECK((key_range{key_interval::only("p"), {}}).comparisons() == 1);
    CHECK((key_range{key_interval::only("p"), key_interval::only("r")}).comparisons() == 2);
    CHECK((key_range{key_interval::only("p"), {key_bound::including("a"), {}}}).comparisons() == 2);
    CHECK((key_range{key_interval::only("p"), {key_bound::including("a"), key_bound::excluding("b")}}).comparisons() ==
        3);
    CHECK((key_range{{key_bound::including("a"), key_bound::excluding("a")}, {}}).comparisons() == 2);
}

TEST_CASE("a range is printed as readable text") {
    CHECK(key_range{}.to_string() == "all keys");
    CHECK((key_range{key_interval::only("p"), {}}).to_string() == "PartitionKey == \"p\"");
    CHECK((key_range{key_interval::only("p"), {key_bound::including("a"), key_bound::excluding("b")}}).to_string() ==
        "PartitionKey == \"p\" && RowKey >= \"a\" && RowKey < \"b\"");
    CHECK((key_range{{key_bound::excluding("a"), {}}, {}}).to_string() == "PartitionKey > \"a\"");
    CHECK((key_range{{}, {{}, key_bound::including("z\n")}}).to_string() == "RowKey <= \"z\\x0a\"");
}
