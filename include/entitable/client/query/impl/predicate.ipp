// SPDX-License-Identifier: MIT
// Copyright (c) 2026 the entitable authors
#pragma once

#include <entitable/client/query/predicate.hpp>
#include <entitable/core/text.hpp>

ENTITABLE_BEGIN_NAMESPACE

ENTITABLE_LAZY_BODY std::string predicate_node::to_string() const {
    switch (subject) {
        case predicate_subject::nothing: return "false";
        case predicate_subject::prefix: return text::joined({name, " starts with ", operand.to_string()});
        default: break;
    }
    std::string shown = name;
    if (former != nullptr) {
        shown += former->name.empty() ? " (formerly " : text::joined({" (formerly ", former->name});
        if (former->convert != nullptr) {
            shown += text::joined({(former->name.empty() ? "" : " as "), entitable::to_string(former->type)});
        }
        shown += ')';
    }
    return text::joined({shown, " ", entitable::to_string(operation), " ", operand.to_string()});
}

namespace detail {

ENTITABLE_LAZY_BODY predicate_nodes joined(predicate_nodes left, predicate_nodes right, filter_operator operation) {
    if (left.empty() || right.empty()) { return left.empty() ? std::move(right) : std::move(left); }
    left.reserve(left.size() + right.size() + 1);
    for (predicate_node& node : right) { left.push_back(std::move(node)); }
    predicate_node connective;
    connective.operation = operation;
    left.push_back(std::move(connective));
    return left;
}

ENTITABLE_LAZY_BODY predicate_nodes with_former(predicate_nodes nodes, former_property const& former) {
    for (predicate_node& node : nodes) {
        if (is_comparison(node.operation) && node.subject == predicate_subject::property) { node.former = &former; }
    }
    return nodes;
}

ENTITABLE_LAZY_BODY predicate_nodes without_former(predicate_nodes nodes) {
    for (predicate_node& node : nodes) { node.former = nullptr; }
    return nodes;
}

ENTITABLE_DECL predicate_value::predicate_value(predicate_nodes nodes) : nodes_(std::move(nodes)) {}
ENTITABLE_DECL predicate_value::predicate_value(predicate_value const& other) = default;
ENTITABLE_DECL predicate_value::predicate_value(predicate_value&& other) noexcept = default;
ENTITABLE_DECL predicate_value::~predicate_value() = default;

ENTITABLE_LAZY_BODY predicate_value joined_values(
    predicate_value& left, predicate_value& right, filter_operator operation) {
    return predicate_value{joined(std::move(left).nodes(), std::move(right).nodes(), operation)};
}

ENTITABLE_LAZY_BODY void add_alternative(predicate_nodes& all, predicate_nodes next) {
    bool const first = all.empty();
    for (predicate_node& node : next) { all.push_back(std::move(node)); }
    if (!first) {
        predicate_node connective;
        connective.operation = filter_operator::any_of;
        all.push_back(std::move(connective));
    }
}

ENTITABLE_LAZY_BODY predicate_nodes nothing() {
    predicate_nodes nodes(1);
    nodes.front().subject = predicate_subject::nothing;
    return nodes;
}

ENTITABLE_LAZY filter_operator opposite(filter_operator operation) noexcept {
    switch (operation) {
        case filter_operator::equal: return filter_operator::not_equal;
        case filter_operator::not_equal: return filter_operator::equal;
        case filter_operator::less: return filter_operator::greater_equal;
        case filter_operator::less_equal: return filter_operator::greater;
        case filter_operator::greater: return filter_operator::less_equal;
        case filter_operator::greater_equal: return filter_operator::less;
        case filter_operator::all_of: return filter_operator::any_of;
        case filter_operator::any_of: return filter_operator::all_of;
        case filter_operator::negation: return filter_operator::negation;
    }
    return operation;
}

ENTITABLE_LAZY_BODY predicate_nodes negated(predicate_nodes nodes) {
    predicate_nodes out;
    out.reserve(nodes.size() * 2);
    for (std::size_t index = 0; index < nodes.size(); ++index) {
        predicate_node& node = nodes[index];
        if (!is_comparison(node.operation)) {
            node.operation = opposite(node.operation); // De Morgan
            out.push_back(std::move(node));
            continue;
        }
        if (node.subject == predicate_subject::component && !node.optional) {
            node.operation = opposite(node.operation); // always present and totally ordered
            out.push_back(std::move(node));
            continue;
        }
        // `not` directly follows its comparison; two negations cancel.
        bool const was_negated = index + 1 < nodes.size() && nodes[index + 1].operation == filter_operator::negation;
        out.push_back(std::move(node));
        if (was_negated) {
            ++index;
        } else {
            predicate_node negation;
            negation.operation = filter_operator::negation;
            out.push_back(std::move(negation));
        }
    }
    return out;
}

} // namespace detail
ENTITABLE_END_NAMESPACE
