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
    key_component const& component, key_part part, std::size_t index, bool last, std::string text) {
    predicate_nodes nodes(1, key_comparison(filter_operator::greater_equal, component, part, index, std::move(text)));
    predicate_node& node = nodes.front();
    node.subject = predicate_subject::prefix;
    // A shorter text and the separator behind it can begin so, too.
    std::string_view const prefix = node.operand.view().as_string();
    node.exact = last || prefix.find(component.separator().front()) == std::string_view::npos;
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
