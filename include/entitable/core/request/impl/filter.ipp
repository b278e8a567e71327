// SPDX-License-Identifier: MIT
// Copyright (c) 2026 the entitable authors
#pragma once

#include <entitable/core/request/filter.hpp>
#include <entitable/core/text.hpp>

ENTITABLE_BEGIN_NAMESPACE

ENTITABLE_LAZY_BODY std::size_t filter::comparisons() const noexcept {
    std::size_t count = 0;
    for (auto const& node : nodes) { count += is_comparison(node.operation) ? 1U : 0U; }
    return count;
}

namespace detail {

ENTITABLE_LAZY_BODY std::string render_postfix(std::size_t count,
    function_ref<filter_operator(std::size_t)> operation_of, function_ref<std::string(std::size_t)> leaf) {
    // `text` holds the finished parts; `parts` holds the start and the outermost operator of each.
    struct part {
        std::size_t start;
        filter_operator top;
    };
    std::string text;
    std::vector<part> parts;
    auto const bracket = [&](std::size_t start, std::size_t end, filter_operator top, filter_operator around) {
        if (is_comparison(top) || top == filter_operator::negation || top == around) { return end; }
        text.insert(start, 1, '(');
        text.insert(end + 1, 1, ')');
        return end + 2;
    };
    auto const malformed = [count] { return "a malformed filter of " + std::to_string(count) + " nodes"; };
    for (std::size_t index = 0; index < count; ++index) {
        filter_operator const operation = operation_of(index);
        std::size_t const operands = is_comparison(operation) ? 0 : operation == filter_operator::negation ? 1 : 2;
        if (parts.size() < operands) { return malformed(); }
        if (operands == 0) {
            parts.push_back({text.size(), operation});
            text += leaf(index);
        } else if (operation == filter_operator::negation) {
            text.insert(parts.back().start, "!(");
            text += ')';
            parts.back().top = operation;
        } else {
            part const right = parts.back();
            parts.pop_back();
            bracket(right.start, text.size(), right.top, operation);
            std::size_t const left_end = bracket(parts.back().start, right.start, parts.back().top, operation);
            text.insert(left_end, operation == filter_operator::all_of ? " && " : " || ");
            parts.back().top = operation;
        }
    }
    return parts.size() > 1 ? malformed() : text;
}

} // namespace detail

ENTITABLE_LAZY_BODY std::string filter::to_string() const {
    return detail::render_postfix(
        nodes.size(), [&](std::size_t index) { return nodes[index].operation; },
        [&](std::size_t index) {
            filter_node const& node = nodes[index];
            return text::joined({node.name, " ", entitable::to_string(node.operation), " ", node.operand.to_string()});
        });
}

ENTITABLE_LAZY_BODY bool satisfies(
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

ENTITABLE_LAZY_BODY bool satisfies(row_view const& row, filter const& condition) {
    return detail::evaluate_postfix(condition.nodes,
        [&](filter_node const& node) { return satisfies(row, node.operation, node.name, node.operand); });
}

ENTITABLE_END_NAMESPACE
