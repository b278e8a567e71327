// SPDX-License-Identifier: MIT
// Copyright (c) 2026 the entitable authors
#pragma once

#include <entitable/advice/key_declaration.hpp>

ENTITABLE_BEGIN_NAMESPACE
namespace detail {

[[nodiscard]] ENTITABLE_DECL std::string clause_text(
    std::string_view name, std::vector<declared_component> const& components) {
    std::string out{name};
    out += '(';
    for (std::size_t index = 0; index < components.size(); ++index) {
        declared_component const& each = components[index];
        out += index > 0 ? ", " : "";
        out += each.literal    ? "literal(\"" + each.member + "\")"
            : each.buckets > 0 ? "salted(" + each.member + ", " + std::to_string(each.buckets) + ")"
            : each.descending  ? "descending(" + each.member + ")"
            : each.escaped     ? "escaped(" + each.member + ")"
                               : each.member;
    }
    return out + ')';
}

} // namespace detail

ENTITABLE_DECL std::string key_declaration::to_string() const {
    declared_component constant;
    constant.member = "all";
    constant.literal = true;
    std::vector<declared_component> const one{constant};
    return detail::clause_text("partition_key", partition.empty() ? one : partition) + ", " +
        detail::clause_text("row_key", row.empty() ? one : row);
}

ENTITABLE_END_NAMESPACE
