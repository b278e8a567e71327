// SPDX-License-Identifier: MIT
// Copyright (c) 2026 the entitable authors
#pragma once

#include <entitable/advice/workload.hpp>

#include <algorithm>

ENTITABLE_BEGIN_NAMESPACE
namespace detail {

ENTITABLE_DECL std::vector<asked_node> asked_nodes(predicate_nodes const& nodes, key_layout partition, key_layout row) {
    std::vector<asked_node> out;
    for (predicate_node const& each : nodes) {
        asked_node made{each.operation, asked_node::test::value, each.name, each.operand};
        if (!is_comparison(each.operation)) {
            made.member.clear();
        } else if (each.subject == predicate_subject::nothing) {
            made.is = asked_node::test::never;
        } else if (each.on_key()) {
            key_component const& component = (each.part == key_part::partition ? partition : row)[each.index];
            made.is = component.is == key_component::kind::bucket ? asked_node::test::always
                : each.subject == predicate_subject::prefix       ? asked_node::test::prefix
                                                                  : asked_node::test::value;
        }
        out.push_back(std::move(made));
    }
    return out;
}

/// Whether postfix nodes make one condition, or are empty.
[[nodiscard]] ENTITABLE_DECL bool is_expression(std::vector<asked_node> const& nodes) {
    std::size_t depth = 0;
    for (asked_node const& each : nodes) {
        std::size_t const operands = is_comparison(each.operation) ? 0
            : each.operation == filter_operator::negation          ? 1
                                                                   : 2;
        if (depth < operands) { return false; }
        depth = depth - operands + 1;
    }
    return nodes.empty() || depth == 1;
}

[[nodiscard]] ENTITABLE_DECL failure bad_rate(std::string_view of, std::string_view what) {
    return failure{error_code::out_of_range_input,
        std::string{what} + " of '" + std::string{of} + "' in the workload is negative, not a number, or too large"};
}

[[nodiscard]] ENTITABLE_DECL bool is_rate(double value) { return value >= 0 && value <= 1e12; }

} // namespace detail

ENTITABLE_DECL std::string asked_query::to_string() const {
    if (nodes.empty()) { return "all entities"; }
    if (!detail::is_expression(nodes)) { return "no condition"; }
    return detail::render_postfix(
        nodes.size(), [&](std::size_t index) { return nodes[index].operation; },
        [&](std::size_t index) {
            asked_node const& node = nodes[index];
            switch (node.is) {
                case asked_node::test::always: return std::string{"true"};
                case asked_node::test::never: return std::string{"false"};
                case asked_node::test::prefix: return node.member + " starts with " + node.operand.to_string();
                case asked_node::test::value: break;
            }
            return node.member + " " + std::string{entitable::to_string(node.operation)} + " " +
                node.operand.to_string();
        });
}

ENTITABLE_DECL double workload::writes_per_second() const noexcept {
    double all = 0;
    for (asked_writes const& each : writes_) { all += each.rate.per_second; }
    return all;
}

ENTITABLE_DECL double workload::largest_transaction() const noexcept {
    double most = 1;
    for (asked_writes const& each : writes_) {
        if (!each.rate.together.empty()) { continue; }
        most = each.rate.per_transaction > most ? each.rate.per_transaction : most;
    }
    return most;
}

ENTITABLE_DECL result<void> workload::validate() const {
    for (asked_query const& each : queries_) {
        char const* const wrong = !detail::is_rate(each.rate.per_second) ? "the rate"
            : !detail::is_rate(each.rate.priority)                       ? "the priority"
            : !detail::is_rate(each.rate.zipf) || each.rate.zipf > 10    ? "the exponent"
            : each.rate.latency < std::chrono::nanoseconds{}             ? "the latency"
                                                                         : nullptr;
        if (wrong != nullptr) { return detail::bad_rate(each.name, wrong); }
        if (!detail::is_expression(each.nodes)) {
            return failure{
                error_code::invalid_input, "the query '" + each.name + "' in the workload is not a valid condition"};
        }
    }
    for (asked_writes const& each : writes_) {
        char const* const wrong = !detail::is_rate(each.rate.per_second) ? "the rate"
            : !detail::is_rate(each.rate.priority)                       ? "the priority"
            : !(each.rate.per_transaction >= 1 && each.rate.per_transaction <= 100)
            ? "the number of entities in a transaction"
            : nullptr;
        if (wrong != nullptr) { return detail::bad_rate(each.name, wrong); }
        std::vector<std::string> const& shared = each.rate.together.names();
        for (auto name = shared.begin(); name != shared.end(); ++name) {
            if (name->empty() || std::find(shared.begin(), name, *name) != name) {
                return failure{error_code::invalid_input,
                    "the writes '" + each.name + "' in the workload share " +
                        (name->empty() ? "a member that ENTITABLE does not list" : "the member '" + *name + "' twice")};
            }
        }
    }
    return {};
}

ENTITABLE_END_NAMESPACE
