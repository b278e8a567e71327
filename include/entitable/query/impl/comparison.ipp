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
    node.on_key = true;
    node.part = part;
    node.index = static_cast<std::uint8_t>(index);
    node.optional = component.optional;
    node.name = component.name;
    node.operand = value_view{std::string_view{text}};
    return node;
}

} // namespace detail
ENTITABLE_END_NAMESPACE
