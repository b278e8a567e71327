// SPDX-License-Identifier: MIT
// Copyright (c) 2026 the entitable authors
#pragma once

#include <entitable/client/detail/held_rows.hpp>
#include <entitable/client/detail/row_transaction.hpp>

ENTITABLE_BEGIN_NAMESPACE
namespace detail {

ENTITABLE_LAZY_BODY bool row_transaction::has_to_confirm() const noexcept {
    for (held_row const* const each : rows_) {
        held_row const& one = *each;
        if (one.read) { return reads_ > 1; }
    }
    return false; // reads that failed, or queries that found nothing
}

ENTITABLE_LAZY_BODY query_entities row_transaction::confirmation(profile const& limits) const {
    query_entities asked;
    asked.table = table_;
    asked.range.partition = key_interval::only(partition_key_);
    std::size_t names = 0;
    std::size_t size = 0;
    std::string const* first = nullptr;
    std::string const* last = nullptr;
    for (held_row const* const each : rows_) {
        held_row const& one = *each;
        if (one.read) {
            std::string const& row_key = one.row_key;
            // The rows are in byte order, the service in UTF-16 order.
            first = first == nullptr || compare_lower(key_bound::including(row_key), key_bound::including(*first)) < 0
                ? &row_key
                : first;
            last = last == nullptr || compare_upper(key_bound::including(*last), key_bound::including(row_key)) < 0
                ? &row_key
                : last;
            asked.filter.nodes.push_back({filter_operator::equal, "RowKey", value_view{row_key}});
            if (++names > 1) { asked.filter.nodes.push_back({filter_operator::any_of, {}, {}}); }
            size += 3 * row_key.size() + 16;
        }
    }
    asked.range.row = {key_bound::including(*first), key_bound::including(*last)};
    bool const short_enough = limits.max_filter_size == 0 || size < limits.max_filter_size / 2;
    bool const few = limits.max_comparisons == 0 || names + 3 <= limits.max_comparisons;
    if (!short_enough || !few) { asked.filter.nodes.clear(); }
    asked.select = {"PartitionKey", "RowKey"};
    asked.page_size = static_cast<std::uint32_t>(limits.max_page_size);
    return asked;
}

ENTITABLE_LAZY_BODY result<bool> row_transaction::confirmed(query_entities::response const& found) const {
    if (found.continuation) {
        return failure{error_code::query_too_complex,
            "this body read more rows in several requests than fit on one page, so they cannot be confirmed: read them "
            "with one where(...), or write"};
    }
    std::size_t there = 0;
    for (std::size_t index = 0; index < found.rows.size(); ++index) {
        row_view const each = found.rows[index];
        held_row const* const at = known(each.row_key);
        if (at == nullptr || !at->read) {
            continue; // found in the searched range, but not read by the body
        }
        if (!at->there || at->version != each.etag()) { return false; }
        ++there;
    }
    std::size_t expected = 0;
    for (held_row const* const each : rows_) {
        held_row const& one = *each;
        expected += one.found() ? 1 : 0;
    }
    return there == expected;
}

} // namespace detail
ENTITABLE_END_NAMESPACE
