// SPDX-License-Identifier: MIT
// Copyright (c) 2026 the entitable authors
#pragma once

#include <entitable/client/query/clauses.hpp>
#include <entitable/client/query/impl/comparison.ipp>
#include <entitable/client/query/impl/predicate.ipp>
#include <entitable/core/request/part_hash.hpp>
#include <entitable/core/text.hpp>

ENTITABLE_BEGIN_NAMESPACE
namespace detail {

ENTITABLE_LAZY_BODY std::size_t& distinct_alternatives::slot_of(predicate_node const& comparison) {
    part_hash hash{0};
    hash.add(comparison.operation, {}, comparison.operand);
    for (std::size_t at = static_cast<std::size_t>(hash.value());; ++at) {
        std::size_t& slot = slots_[at & (slots_.size() - 1)];
        bool const same = slot != 0 && nodes_[slot - 1].operand == comparison.operand &&
            nodes_[slot - 1].subject == comparison.subject;
        if (slot == 0 || same) { return slot; }
    }
}

ENTITABLE_LAZY_BODY void distinct_alternatives::add(predicate_nodes equality) {
    if (slots_.size() <= 2 * count_) {
        std::vector<std::size_t> before(slots_.empty() ? 16 : 2 * slots_.size());
        std::swap(slots_, before);
        for (std::size_t const number : before) {
            if (number != 0) { slot_of(nodes_[number - 1]) = number; }
        }
    }
    std::size_t& slot = slot_of(equality.front());
    if (slot == 0) {
        slot = nodes_.size() + 1;
        ++count_;
        add_alternative(nodes_, std::move(equality));
    }
}

ENTITABLE_LAZY_BODY predicate_nodes distinct_alternatives::nodes() && {
    return nodes_.empty() ? nothing() : std::move(nodes_);
}

ENTITABLE_LAZY_BODY predicate_nodes key_prefix(
    key_component const& component, key_part part, std::size_t index, bool last, key_operand prefix) {
    // A shorter text and the separator after it can also begin with the prefix.
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
