// SPDX-License-Identifier: MIT
// Copyright (c) 2026 the entitable authors
#pragma once

#include <entitable/client/query/comparison.hpp>

ENTITABLE_BEGIN_NAMESPACE
namespace detail {

ENTITABLE_LAZY_BODY predicate_value property_comparison(
    std::string_view name, filter_operator operation, value_view const& operand) {
    predicate_nodes nodes(1);
    nodes[0].operation = operation;
    nodes[0].name = name;
    nodes[0].operand = operand;
    return predicate_value{std::move(nodes)};
}

ENTITABLE_LAZY_BODY predicate_nodes presence(std::string_view name, value_view of_its_type, bool there) {
    predicate_nodes nodes(2);
    nodes[0].operation = filter_operator::equal;
    nodes[1].operation = filter_operator::not_equal;
    for (predicate_node& node : nodes) {
        node.name = name;
        node.operand = of_its_type;
    }
    predicate_node either;
    either.operation = filter_operator::any_of;
    nodes.push_back(std::move(either));
    return there ? nodes : negated(std::move(nodes));
}

ENTITABLE_LAZY_BODY predicate_nodes key_comparison(
    filter_operator operation, key_component const& component, key_part part, std::size_t index, key_operand operand) {
    predicate_nodes nodes(1);
    predicate_node& node = nodes.front();
    node.operation = operation;
    node.subject = predicate_subject::component;
    node.part = part;
    node.index = static_cast<std::uint8_t>(index);
    node.optional = component.optional;
    node.name = component.name;
    node.operand = value_view{std::string_view{operand.text}};
    if (operand.has_text) { return nodes; }
    switch (operation) {
        case filter_operator::equal: node.subject = predicate_subject::nothing; break;
        case filter_operator::not_equal:
            if (node.optional) {
                node.operand = value_view{absent_key_text}; // every value that is present differs from this value
            } else {
                node.subject = predicate_subject::nothing;
                nodes.resize(2);
                nodes.back().operation = filter_operator::negation;
            }
            break;
        // No stored text equals the operand's, but a key may begin with it and the separator: the bounds must exclude these.
        case filter_operator::greater: node.operation = filter_operator::greater_equal; break;
        case filter_operator::less_equal: node.operation = filter_operator::less; break;
        default: break;
    }
    if (is_range(operation) && !operand.has_place) { node.subject = predicate_subject::unplaced; }
    return nodes;
}

/// Reverses a comparison, for components whose texts are in reverse order (`descending`).
[[nodiscard]] constexpr filter_operator mirrored(filter_operator operation) noexcept {
    switch (operation) {
        case filter_operator::less: return filter_operator::greater;
        case filter_operator::less_equal: return filter_operator::greater_equal;
        case filter_operator::greater: return filter_operator::less;
        case filter_operator::greater_equal: return filter_operator::less_equal;
        default: return operation;
    }
}

/// `x <= 300` of 8 unsigned bits is `x <= 255`, and `x < -1` is `x < 0`: compares with the limit that is closest to the
/// operand. The caller handles equality.
[[nodiscard]] constexpr filter_operator beside_the_end(filter_operator operation, int place) noexcept {
    bool const less = operation == filter_operator::less || operation == filter_operator::less_equal;
    if (place < 0) { return less ? filter_operator::less : filter_operator::greater_equal; }
    return less ? filter_operator::less_equal : filter_operator::greater;
}

ENTITABLE_LAZY_BODY key_operand operand_of(operand_source const& source) {
    key_operand operand;
    operand.has_text = operand.has_place = source.append(operand.text, source.value);
    if (!operand.has_text && source.append_operand != nullptr) {
        operand.text.clear();
        source.append_operand(operand.text, source.value);
        operand.has_place = true;
    }
    return operand;
}

ENTITABLE_LAZY_BODY predicate_value key_comparison(filter_operator operation, int place, bool reversed,
    key_component const& component, key_part part, std::size_t index, operand_source const& source) {
    key_operand operand = operand_of(source);
    if (place != 0) {
        operand.has_text = operand.has_text && is_range(operation);
        operation = is_range(operation) ? beside_the_end(operation, place) : operation;
    }
    return predicate_value{
        key_comparison(reversed ? mirrored(operation) : operation, component, part, index, std::move(operand))};
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
