// SPDX-License-Identifier: MIT
// Copyright (c) 2026 the entitable authors
#pragma once

#include <entitable/core/text.hpp>
#include <entitable/request/filter.hpp>

ENTITABLE_BEGIN_NAMESPACE

ENTITABLE_DECL std::size_t filter::comparisons() const noexcept {
    std::size_t count = 0;
    for (auto const& node : nodes) {
        count += is_comparison(node.operation) ? 1U : 0U;
    }
    return count;
}

ENTITABLE_DECL std::string filter::to_string() const {
    return detail::render_postfix(nodes, [](filter_node const& node) {
        return node.name + " " + std::string{entitable::to_string(node.operation)} + " " + node.operand.to_string();
    });
}

ENTITABLE_DECL bool satisfies(
    row_view const& row, filter_operator comparison, std::string_view name, value_view operand) noexcept {
    std::optional<value_view> stored;
    if (name == "PartitionKey") {
        stored = value_view{row.partition_key};
    } else if (name == "RowKey") {
        stored = value_view{row.row_key};
    } else if (name == "Timestamp") {
        stored = value_view{row.timestamp()};
    } else {
        stored = row.find(name);
    }
    return stored && stored->type() == operand.type() && holds(comparison, compare_values(*stored, operand));
}

ENTITABLE_DECL bool satisfies(row_view const& row, filter const& condition) {
    return detail::evaluate_postfix(condition.nodes,
        [&](filter_node const& node) { return satisfies(row, node.operation, node.name, node.operand); });
}

ENTITABLE_END_NAMESPACE
