// SPDX-License-Identifier: MIT
// Copyright (c) 2026 the entitable authors
#pragma once

#include <entitable/query/comparison.hpp>

ENTITABLE_BEGIN_NAMESPACE
namespace detail {

ENTITABLE_LAZY_BODY predicate_node key_comparison(
    filter_operator operation, key_component const& component, key_part part, std::size_t index, std::string text) {
    predicate_node node;
    node.operation = operation;
    node.subject = predicate_subject::component;
    node.part = part;
    node.index = static_cast<std::uint8_t>(index);
    node.optional = component.optional;
    node.name = component.name;
    node.operand = value_view{std::string_view{text}};
    return node;
}

ENTITABLE_LAZY_BODY predicate_nodes in_buckets(predicate_nodes comparison, key_component const& bucket) {
    predicate_node node = comparison.front();
    std::string const operand{node.operand.view().as_string()};
    node.operation = filter_operator::equal;
    node.subject = predicate_subject::component;
    node.index = static_cast<std::uint8_t>(node.index - 1);
    predicate_nodes buckets;
    bool const one = comparison.front().operation == filter_operator::equal;
    for (std::size_t number = 0; number < (one ? 1U : bucket.buckets); ++number) {
        std::string text;
        if (one) {
            append_bucket(text, operand, bucket.buckets);
        } else {
            append_bucket_number(text, number, bucket.buckets);
        }
        node.operand = value_view{std::string_view{text}};
        add_alternative(buckets, predicate_nodes(1, node));
    }
    return joined(std::move(comparison), std::move(buckets), filter_operator::all_of);
}

} // namespace detail
ENTITABLE_END_NAMESPACE
