// SPDX-License-Identifier: MIT
// Copyright (c) 2026 the entitable authors
#pragma once

#include <entitable/core/text.hpp>
#include <entitable/query/clauses.hpp>
#include <entitable/query/impl/comparison.ipp>
#include <entitable/query/impl/predicate.ipp>

ENTITABLE_BEGIN_NAMESPACE
namespace detail {

ENTITABLE_LAZY_BODY predicate_nodes key_prefix(
    key_component const& component, key_part part, std::size_t index, bool last, key_operand prefix) {
    // A shorter text and the separator behind it can begin so, too.
    bool const exact = last || prefix.text.find(component.separator().front()) == std::string::npos;
    predicate_nodes nodes = key_comparison(filter_operator::greater_equal, component, part, index, std::move(prefix));
    nodes.front().subject = predicate_subject::prefix;
    nodes.front().exact = exact;
    return nodes;
}

ENTITABLE_LAZY_BODY predicate_nodes property_prefix(std::string_view name, std::string_view prefix) {
    predicate_node node;
    node.operation = filter_operator::greater_equal;
    node.name = name;
    node.operand = value_view{prefix};
    predicate_nodes nodes(1, node);
    if (auto const successor = text::successor_of_prefix(prefix)) {
        node.operation = filter_operator::less;
        node.operand = value_view{std::string_view{*successor}};
        nodes = joined(std::move(nodes), predicate_nodes(1, node), filter_operator::all_of);
    }
    return nodes;
}

} // namespace detail
ENTITABLE_END_NAMESPACE
