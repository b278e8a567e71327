// SPDX-License-Identifier: MIT
// Copyright (c) 2026 the entitable authors
#pragma once

/// \file
/// `filter`: a condition on properties as plain data, in postfix order. This table defines the meaning of absent properties, the same for
/// every backend (source: "Querying tables and entities"; `not` of a missing property was seen on the emulator only):
///
///     a comparison ==, !=, <, <=, >, >= with a property that is absent or has a different type    false
///     == < <= > >= with a NaN on either side                                                    false
///     != with a NaN on either side                                                              true
///     not x                                                                                     the opposite of x

#if !defined(ENTITABLE_IMPORTED)
#include <entitable/core/function_ref.hpp>
#include <entitable/core/row/row.hpp>
#include <entitable/core/value.hpp>

#include <cstdint>
#include <string>
#include <vector>

ENTITABLE_BEGIN_NAMESPACE

/// Operator of a node.
enum class filter_operator : std::uint8_t {
    equal,         ///< eq
    not_equal,     ///< ne
    less,          ///< lt
    less_equal,    ///< le
    greater,       ///< gt
    greater_equal, ///< ge
    all_of,        ///< both of the two preceding conditions
    any_of,        ///< at least one of the two preceding conditions
    negation,      ///< negates the preceding condition
};

/// Whether the operator compares a property; all others are connectives.
[[nodiscard]] constexpr bool is_comparison(filter_operator operation) noexcept {
    return operation <= filter_operator::greater_equal;
}

/// Whether a comparison holds for operands in this order.
[[nodiscard]] constexpr bool holds(filter_operator comparison, ordering order) noexcept {
    switch (comparison) {
        case filter_operator::equal: return order == ordering::equal;
        case filter_operator::not_equal: return order != ordering::equal;
        case filter_operator::less: return order == ordering::less;
        case filter_operator::less_equal: return order == ordering::less || order == ordering::equal;
        case filter_operator::greater: return order == ordering::greater;
        case filter_operator::greater_equal: return order == ordering::greater || order == ordering::equal;
        default: return false;
    }
}

/// One node: a comparison of the property `name` with `operand`, or a connective.
struct filter_node {
    filter_operator operation{}; ///< operator of the node
    std::string name;            ///< property name, in a comparison
    value operand;               ///< right side of the comparison

    friend bool operator==(filter_node const&, filter_node const&) = default;
};

/// A condition; with no nodes it accepts every row. The names PartitionKey, RowKey and Timestamp are the system
/// properties.
struct filter {
    std::vector<filter_node> nodes; ///< nodes in postfix order: operands before their connective

    [[nodiscard]] bool empty() const noexcept { return nodes.empty(); } ///< whether it accepts every row
    /// Number of comparisons. The service allows 15 in a query.
    ENTITABLE_LAZY [[nodiscard]] std::size_t comparisons() const noexcept;
    /// Formats as readable text: `age >= 50 && !(name == "John")`; "a malformed filter of 3 nodes"; empty without nodes.
    ENTITABLE_LAZY [[nodiscard]] std::string to_string() const;

    friend bool operator==(filter const&, filter const&) = default;
};

/// Whether `row` satisfies one comparison.
ENTITABLE_LAZY [[nodiscard]] bool satisfies(
    row_view const& row, filter_operator comparison, std::string_view name, value_view operand) noexcept;

/// Whether `row` satisfies `condition`, which must be well formed (see `validate`).
ENTITABLE_LAZY [[nodiscard]] bool satisfies(row_view const& row, filter const& condition);

namespace detail {

/// Evaluates a postfix sequence of nodes; `leaf(node)` evaluates a comparison.
template <class Nodes, class Leaf>
[[nodiscard]] bool evaluate_postfix(Nodes const& nodes, Leaf&& leaf) {
    std::string stack; // contains one character per pending result
    for (auto const& node : nodes) {
        if (node.operation == filter_operator::negation) {
            stack.back() = stack.back() == 0 ? 1 : 0;
        } else if (!is_comparison(node.operation)) {
            bool const right = stack.back() != 0;
            stack.pop_back();
            bool const left = stack.back() != 0;
            stack.back() = (node.operation == filter_operator::all_of ? left && right : left || right) ? 1 : 0;
        } else {
            stack.push_back(leaf(node) ? 1 : 0);
        }
    }
    return stack.empty() || stack.back() != 0;
}

/// Renders a postfix sequence of `count` nodes; `leaf(index)` returns the text of a comparison.
ENTITABLE_LAZY [[nodiscard]] std::string render_postfix(std::size_t count,
    function_ref<filter_operator(std::size_t)> operation_of, function_ref<std::string(std::size_t)> leaf);

} // namespace detail

/// Returns `==`, `<=` and so on.
[[nodiscard]] constexpr std::string_view to_string(filter_operator operation) noexcept {
    constexpr std::string_view words[] = {"==", "!=", "<", "<=", ">", ">=", "&&", "||", "!"};
    return words[static_cast<std::size_t>(operation)];
}

ENTITABLE_END_NAMESPACE

#if !defined(ENTITABLE_SEPARATE_COMPILATION)
#include <entitable/core/request/impl/filter.ipp>
#endif

#endif
