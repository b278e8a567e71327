// SPDX-License-Identifier: MIT
// Copyright (c) 2026 the entitable authors
#pragma once

#include <entitable/core/request/key_range.hpp>
#include <entitable/core/text.hpp>

ENTITABLE_BEGIN_NAMESPACE

ENTITABLE_LAZY_BODY int compare_lower(key_bound const& left, key_bound const& right) noexcept {
    bool const left_open = left.end == key_bound::kind::open;
    bool const right_open = right.end == key_bound::kind::open;
    if (left_open || right_open) { return left_open && right_open ? 0 : left_open ? -1 : 1; }
    int const order = text::compare_utf16(left.key, right.key);
    if (order != 0 || left.end == right.end) { return order; }
    return left.end == key_bound::kind::inclusive ? -1 : 1;
}

ENTITABLE_LAZY_BODY int compare_upper(key_bound const& left, key_bound const& right) noexcept {
    bool const left_open = left.end == key_bound::kind::open;
    bool const right_open = right.end == key_bound::kind::open;
    if (left_open || right_open) { return left_open && right_open ? 0 : left_open ? 1 : -1; }
    int const order = text::compare_utf16(left.key, right.key);
    if (order != 0 || left.end == right.end) { return order; }
    return left.end == key_bound::kind::inclusive ? 1 : -1;
}

ENTITABLE_LAZY_BODY key_interval intersection(key_interval const& left, key_interval const& right) {
    return {compare_lower(left.lower, right.lower) >= 0 ? left.lower : right.lower,
        compare_upper(left.upper, right.upper) <= 0 ? left.upper : right.upper};
}

ENTITABLE_LAZY_BODY bool key_interval::is_empty() const noexcept {
    if (lower.end == key_bound::kind::open || upper.end == key_bound::kind::open) {
        // No key is less than the empty key.
        return upper.end == key_bound::kind::exclusive && upper.key.empty();
    }
    int const order = text::compare_utf16(lower.key, upper.key);
    bool const both_in = lower.end == key_bound::kind::inclusive && upper.end == key_bound::kind::inclusive;
    return order > 0 || (order == 0 && !both_in);
}

ENTITABLE_LAZY_BODY bool key_interval::contains(std::string_view key) const noexcept {
    if (lower.end != key_bound::kind::open) {
        int const order = text::compare_utf16(key, lower.key);
        if (order < 0 || (order == 0 && lower.end == key_bound::kind::exclusive)) { return false; }
    }
    if (upper.end != key_bound::kind::open) {
        int const order = text::compare_utf16(key, upper.key);
        if (order > 0 || (order == 0 && upper.end == key_bound::kind::exclusive)) { return false; }
    }
    return true;
}

ENTITABLE_LAZY_BODY std::size_t key_interval::comparisons() const noexcept {
    if (is_point()) { return 1; }
    return (lower.end == key_bound::kind::open ? 0U : 1U) + (upper.end == key_bound::kind::open ? 0U : 1U);
}

ENTITABLE_LAZY_BODY std::string key_interval::to_string(std::string_view name) const {
    std::string const start{name};
    if (is_point()) { return start + " == \"" + text::printable(lower.key) + '"'; }
    std::string out;
    if (lower.end != key_bound::kind::open) {
        out = start + (lower.end == key_bound::kind::inclusive ? " >= \"" : " > \"") + text::printable(lower.key) + '"';
    }
    if (upper.end != key_bound::kind::open) {
        out += out.empty() ? "" : " && ";
        out +=
            start + (upper.end == key_bound::kind::inclusive ? " <= \"" : " < \"") + text::printable(upper.key) + '"';
    }
    return out;
}

ENTITABLE_LAZY_BODY std::string key_range::to_string() const {
    std::string out = partition.to_string("PartitionKey");
    std::string const rows = row.to_string("RowKey");
    if (!out.empty() && !rows.empty()) { out += " && "; }
    out += rows;
    return out.empty() ? "all keys" : out;
}

ENTITABLE_END_NAMESPACE
