// SPDX-License-Identifier: MIT
// Copyright (c) 2026 the entitable authors
#pragma once

/// \file
/// Formats a request in one line, for the reports of the conformance suite.

#include <entitable/core/request/kinds.hpp>
#include <entitable/core/text.hpp>

ENTITABLE_BEGIN_NAMESPACE
namespace testing::conformance {

/// Formats keys: `"p" / "r"`.
[[nodiscard]] inline std::string shown_keys(std::string_view partition_key, std::string_view row_key) {
    auto const shown_key = [](std::string_view key) { return text::printable(text::shortened(key)); };
    return text::joined({"\"", shown_key(partition_key), "\" / \"", shown_key(row_key), "\""});
}

/// Formats a change, for example `merge "p" / "r" if W/"..."`.
[[nodiscard]] inline std::string asked(mutation const& change) {
    std::string text{to_string(change.kind)};
    text += ' ' + shown_keys(change.entity.partition_key(), change.entity.row_key());
    if (change.needs_existing() && !change.condition.any()) {
        text += " if " + text::printable(text::shortened(change.condition.version().to_string()));
    }
    return text;
}

/// Formats a request, for example `get_entity "p" / "r" of Orders`.
[[nodiscard]] inline std::string asked(create_table const& request) {
    return "create_table " + text::printable(request.table);
}
[[nodiscard]] inline std::string asked(delete_table const& request) {
    return "delete_table " + text::printable(request.table);
}
[[nodiscard]] inline std::string asked(list_tables const& request) {
    return "list_tables in pages of " + std::to_string(request.page_size) +
        (request.continuation ? ", a later page" : "");
}
[[nodiscard]] inline std::string asked(get_entity const& request) {
    return "get_entity " + shown_keys(request.partition_key, request.row_key) + " of " +
        text::printable(request.table) + (request.select.empty() ? "" : ", some properties");
}
[[nodiscard]] inline std::string asked(read_entity const& request) {
    return "read_entity " + shown_keys(request.partition_key, request.row_key) + " of " +
        text::printable(request.table);
}
[[nodiscard]] inline std::string asked(write_entity const& request) {
    return "write_entity " + asked(request.change) + " of " + text::printable(request.table);
}
[[nodiscard]] inline std::string asked(transact const& request) {
    return "transact of " + std::to_string(request.changes.size()) + " operations in " +
        text::printable(request.table) +
        (request.changes.empty() ? "" : ", the first: " + asked(request.changes.front()));
}
[[nodiscard]] inline std::string asked(query_entities const& request) {
    std::string const range = request.range.to_string();
    std::size_t const few = 8; // nodes of a filter that fit in a line
    return "query_entities of " + text::printable(request.table) + (range.empty() ? "" : " where ") +
        text::printable(range) +
        (request.filter.empty()                     ? ""
                : request.filter.nodes.size() > few ? ", a long filter"
                                                    : ", filter " + text::printable(request.filter.to_string())) +
        ", pages of " + std::to_string(request.page_size) + (request.select.empty() ? "" : ", some properties") +
        (request.continuation ? ", a later page" : "");
}

} // namespace testing::conformance
ENTITABLE_END_NAMESPACE
