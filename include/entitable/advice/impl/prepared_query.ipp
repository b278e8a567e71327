// SPDX-License-Identifier: MIT
// Copyright (c) 2026 the entitable authors
#pragma once

#include <entitable/advice/detail/prepared_query.hpp>

#include <algorithm>

ENTITABLE_BEGIN_NAMESPACE
namespace detail {

inline constexpr std::size_t most_alternatives = 1'000;

[[nodiscard]] ENTITABLE_DECL asked_leaf leaf_of(
    asked_node const& node, table_sample const& sample, std::vector<std::size_t> const& rows) {
    asked_leaf leaf;
    leaf.rows.assign(rows.size(), node.is == asked_node::test::always ? 1 : 0);
    if (node.is == asked_node::test::always || node.is == asked_node::test::never) { return leaf; }
    sample_column const* const found = sample.find(node.member);
    bool const prefix = node.is == asked_node::test::prefix;
    leaf.equality = !prefix && node.operation == filter_operator::equal;
    leaf.range = prefix || is_range(node.operation);
    leaf.text = node.operand.view().type() == edm_type::string ? std::string{node.operand.view().bytes()}
                                                               : node.operand.to_string();
    if (found == nullptr) { return leaf; }
    leaf.column = static_cast<int>(found - sample.columns().data());
    sample_column const& column = *found;
    std::vector<char> satisfies(column.values.size());
    for (std::uint32_t code = 0; code < column.values.size(); ++code) {
        value_view const value = column.value(code);
        bool const good = prefix
            ? value.type() == edm_type::string && value.bytes().starts_with(node.operand.view().bytes())
            : holds(node.operation, compare_values(value, node.operand)) && value.type() == node.operand.type();
        satisfies[code] = good ? 1 : 0;
    }
    for (std::size_t index = 0; index < rows.size(); ++index) {
        std::uint32_t const code = column.codes[rows[index]];
        leaf.rows[index] = code == sample_column::absent ? char{0} : satisfies[code];
    }
    return leaf;
}

/// Returns the alternatives of `left && right`.
[[nodiscard]] ENTITABLE_DECL std::vector<asked_alternative> both_of(
    std::vector<asked_alternative> const& left, std::vector<asked_alternative> const& right) {
    std::vector<asked_alternative> made;
    for (asked_alternative const& one : left) {
        for (asked_alternative const& other : right) {
            asked_alternative met = one;
            met.insert(met.end(), other.begin(), other.end());
            std::sort(met.begin(), met.end());
            met.erase(std::unique(met.begin(), met.end()), met.end());
            made.push_back(std::move(met));
            if (made.size() > most_alternatives) { return {asked_alternative{}}; }
        }
    }
    return made;
}

/// Decides what the constants of a query's equalities stand for.
[[nodiscard]] ENTITABLE_DECL asked_values values_asked_in(prepared_query const& query, std::size_t rows) {
    query_rate const& rate = query.asked->rate;
    if (rate.values != asked_values::automatic) { return rate.values; }
    bool other = false; ///< some condition is not an equality
    for (asked_alternative const& each : query.alternatives) {
        std::vector<std::size_t> equalities;
        for (std::size_t const leaf : each) {
            bool const equality = query.leaves[leaf].equality && query.leaves[leaf].column >= 0;
            other = other || !equality;
            if (equality) { equalities.push_back(leaf); }
        }
        bool exists = false;
        for (std::size_t row = 0; row < rows && !exists; ++row) {
            exists = std::all_of(equalities.begin(), equalities.end(),
                [&](std::size_t leaf) { return query.leaves[leaf].rows[row] != 0; });
        }
        if (!exists) { return asked_values::as_stored; }
    }
    return other && rate.zipf <= 0 ? asked_values::given : asked_values::as_stored;
}

ENTITABLE_DECL prepared_query prepare(
    asked_query const& query, table_sample const& sample, std::vector<std::size_t> const& rows) {
    prepared_query made;
    made.asked = &query;
    struct part {
        std::vector<asked_alternative> alternatives;
        std::vector<char> rows; ///< the rows that satisfy it, with the values in the predicate
    };
    std::vector<part> stack;
    for (asked_node const& node : query.nodes) {
        if (is_comparison(node.operation)) {
            asked_leaf leaf = leaf_of(node, sample, rows);
            std::vector<char> const satisfying = leaf.rows;
            bool const nothing = node.is == asked_node::test::always;
            made.leaves.push_back(std::move(leaf));
            stack.push_back({{nothing ? asked_alternative{} : asked_alternative{made.leaves.size() - 1}}, satisfying});
        } else if (node.operation == filter_operator::negation) {
            // A negated condition bounds no key: it only filters.
            part& operand = stack.back();
            for (char& each : operand.rows) { each = each == 0 ? 1 : 0; }
            asked_leaf leaf;
            leaf.rows = operand.rows;
            made.leaves.push_back(std::move(leaf));
            operand.alternatives = {{made.leaves.size() - 1}};
        } else {
            part const right = std::move(stack.back());
            stack.pop_back();
            part& left = stack.back();
            bool const all = node.operation == filter_operator::all_of;
            for (std::size_t index = 0; index < rows.size(); ++index) {
                left.rows[index] = static_cast<char>(
                    all ? left.rows[index] & right.rows[index] : left.rows[index] | right.rows[index]);
            }
            if (all) {
                left.alternatives = both_of(left.alternatives, right.alternatives);
            } else {
                left.alternatives.insert(left.alternatives.end(), right.alternatives.begin(), right.alternatives.end());
            }
        }
    }
    made.satisfied = stack.empty()
        ? rows.size()
        : static_cast<std::size_t>(std::count(stack.back().rows.begin(), stack.back().rows.end(), char{1}));
    made.alternatives = stack.empty() ? std::vector<asked_alternative>(1) : std::move(stack.back().alternatives);
    // Merges alternatives that only differ in parts without bounds, such as the buckets of a salted key.
    std::vector<asked_alternative> different;
    for (asked_alternative& each : made.alternatives) {
        if (std::find(different.begin(), different.end(), each) == different.end()) {
            different.push_back(std::move(each));
        }
        if (different.size() > most_alternatives) {
            different.assign(1, {});
            break;
        }
    }
    made.alternatives = std::move(different);
    made.values = values_asked_in(made, rows.size());
    return made;
}

} // namespace detail
ENTITABLE_END_NAMESPACE
