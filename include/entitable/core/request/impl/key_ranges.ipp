// SPDX-License-Identifier: MIT
// Copyright (c) 2026 the entitable authors
#pragma once

#include <entitable/core/request/detail/key_ranges.hpp>

#include <utility>

ENTITABLE_BEGIN_NAMESPACE
namespace detail {

[[nodiscard]] inline bool stands_before(key_range const& left, key_range const& right) noexcept {
    int order = compare_lower(left.partition.lower, right.partition.lower);
    order = order != 0 ? order : compare_upper(left.partition.upper, right.partition.upper);
    order = order != 0 ? order : compare_lower(left.row.lower, right.row.lower);
    return order < 0;
}

/// Uses heap sort, because `<algorithm>` would cost more compile time.
ENTITABLE_LAZY void sort_ranges(std::vector<key_range>& ranges) {
    auto const sift = [&](std::size_t root, std::size_t end) {
        for (std::size_t child = 2 * root + 1; child < end; root = child, child = 2 * root + 1) {
            child += child + 1 < end && stands_before(ranges[child], ranges[child + 1]) ? 1U : 0U;
            if (!stands_before(ranges[root], ranges[child])) { return; }
            std::swap(ranges[root], ranges[child]);
        }
    };
    for (std::size_t root = ranges.size() / 2; root > 0; --root) { sift(root - 1, ranges.size()); }
    for (std::size_t end = ranges.size(); end > 1; --end) {
        std::swap(ranges[0], ranges[end - 1]);
        sift(0, end - 1);
    }
}

/// Merges `range` into `before` if they share rows or are not in key order; the result is the smallest range that contains both.
ENTITABLE_LAZY bool absorb(key_range& before, key_range const& range, bool& exact) {
    if (intersection(before.partition, range.partition).is_empty()) { return false; }
    bool const one_partition = before.partition.is_point() && before.partition == range.partition;
    if (one_partition && intersection(before.row, range.row).is_empty()) { return false; }
    auto const hull = [](key_interval const& left, key_interval const& right) {
        return key_interval{compare_lower(left.lower, right.lower) <= 0 ? left.lower : right.lower,
            compare_upper(left.upper, right.upper) >= 0 ? left.upper : right.upper};
    };
    if (!(before == range)) {
        exact = exact && one_partition;
        before = {hull(before.partition, range.partition), hull(before.row, range.row)};
    }
    return true;
}

ENTITABLE_LAZY_BODY void make_disjoint(std::vector<key_range>& ranges, bool& exact) {
    sort_ranges(ranges);
    std::size_t kept = 0;
    for (std::size_t index = 0; index < ranges.size(); ++index) {
        if (kept == 0 || !absorb(ranges[kept - 1], ranges[index], exact)) {
            std::swap(ranges[kept++], ranges[index]);
            continue;
        }
        // A grown range may reach its predecessors.
        while (kept > 1 && absorb(ranges[kept - 2], ranges[kept - 1], exact)) { --kept; }
    }
    while (ranges.size() > kept) { ranges.pop_back(); }
}

// ---- key ranges of a filter ----

/// Both sides of a condition: the key ranges of the rows that satisfy it, and of those that do not.
struct both_sides {
    ranges_of_filter in;
    ranges_of_filter out;
};

ENTITABLE_LAZY ranges_of_filter all_keys(bool exact) { return {std::vector<key_range>(1), exact}; }

/// Limits the number of ranges.
ENTITABLE_LAZY void tidy(ranges_of_filter& all) {
    constexpr std::size_t most = 100;
    make_disjoint(all.ranges, all.exact);
    if (all.ranges.size() > most) {
        key_range whole = all.ranges.front();
        for (key_range const& each : all.ranges) {
            for (auto const part : {&key_range::partition, &key_range::row}) {
                key_interval& held = whole.*part;
                key_interval const& other = each.*part;
                held = {compare_lower(held.lower, other.lower) <= 0 ? held.lower : other.lower,
                    compare_upper(held.upper, other.upper) >= 0 ? held.upper : other.upper};
            }
        }
        all = {std::vector<key_range>(1, whole), false};
    }
}

ENTITABLE_LAZY ranges_of_filter ranges_of_both(ranges_of_filter const& left, ranges_of_filter const& right) {
    ranges_of_filter made;
    made.exact = left.exact && right.exact;
    for (key_range const& ours : left.ranges) {
        for (key_range const& theirs : right.ranges) {
            key_range common{intersection(ours.partition, theirs.partition), intersection(ours.row, theirs.row)};
            if (!common.is_empty()) { made.ranges.push_back(std::move(common)); }
        }
    }
    tidy(made);
    return made;
}

ENTITABLE_LAZY ranges_of_filter ranges_of_either(ranges_of_filter left, ranges_of_filter const& right) {
    left.exact = left.exact && right.exact;
    for (key_range const& each : right.ranges) { left.ranges.push_back(each); }
    tidy(left);
    return left;
}

/// Returns the key ranges for one interval of the partition key or of the row key.
ENTITABLE_LAZY ranges_of_filter only_in(bool partition, key_interval keys) {
    ranges_of_filter made = all_keys(true);
    (partition ? made.ranges.front().partition : made.ranges.front().row) = std::move(keys);
    if (made.ranges.front().is_empty()) { made.ranges.clear(); }
    return made;
}

ENTITABLE_LAZY both_sides sides_of(filter_node const& comparison) {
    bool const partition = comparison.name == "PartitionKey";
    if (!partition && comparison.name != "RowKey") { return {all_keys(false), all_keys(false)}; }
    if (comparison.operand.type() != edm_type::string) { // a key is always text
        return {{}, all_keys(true)};
    }
    std::string const key{comparison.operand.view().as_string()};
    key_interval const below = key_interval::until(key_bound::excluding(key));
    key_interval const up_to = key_interval::until(key_bound::including(key));
    key_interval const above{key_bound::excluding(key), {}};
    key_interval const from{key_bound::including(key), {}};
    switch (comparison.operation) {
        case filter_operator::equal: return {only_in(partition, key_interval::only(key)), all_keys(false)};
        case filter_operator::not_equal: return {all_keys(false), only_in(partition, key_interval::only(key))};
        case filter_operator::less: return {only_in(partition, below), only_in(partition, from)};
        case filter_operator::less_equal: return {only_in(partition, up_to), only_in(partition, above)};
        case filter_operator::greater: return {only_in(partition, above), only_in(partition, up_to)};
        default: return {only_in(partition, from), only_in(partition, below)};
    }
}

ENTITABLE_LAZY_BODY ranges_of_filter key_ranges_of(filter const& condition) {
    std::vector<both_sides> stack;
    for (filter_node const& node : condition.nodes) {
        if (is_comparison(node.operation)) {
            stack.push_back(sides_of(node));
        } else if (node.operation == filter_operator::negation) {
            std::swap(stack.back().in, stack.back().out);
        } else {
            both_sides const right = std::move(stack.back());
            stack.pop_back();
            both_sides& left = stack.back();
            bool const both = node.operation == filter_operator::all_of;
            left = both
                ? both_sides{ranges_of_both(left.in, right.in), ranges_of_either(std::move(left.out), right.out)}
                : both_sides{ranges_of_either(std::move(left.in), right.in), ranges_of_both(left.out, right.out)};
        }
    }
    return stack.empty() ? all_keys(true) : std::move(stack.back().in);
}

} // namespace detail
ENTITABLE_END_NAMESPACE
