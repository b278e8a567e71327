// SPDX-License-Identifier: MIT
// Copyright (c) 2026 the entitable authors
#pragma once

#include <entitable/client/detail/migration_mark.hpp>
#include <entitable/core/row/system_rows.hpp>
#include <entitable/core/text.hpp>

ENTITABLE_BEGIN_NAMESPACE
namespace detail {

ENTITABLE_LAZY_BODY std::string mark_row_key(
    std::string_view name, former_property const& former, key_layout row_layout) {
    std::string_view const literal =
        !row_layout.empty() && row_layout[0].literal() ? row_layout[0].name : std::string_view{};
    return text::joined({system_row::migrated, name, "!", former.name.empty() ? name : former.name, "!",
        to_string(former.type), "!", to_string(former.current), "!", literal});
}

ENTITABLE_LAZY_BODY query_entities marks_request(std::string_view table) {
    query_entities asked;
    asked.table = table;
    asked.range.partition = key_interval::only(std::string{system_row::migrated});
    asked.select = {"PartitionKey", "RowKey"};
    return asked;
}

ENTITABLE_LAZY_BODY bool former_watch::all_in(page const& marks) const {
    for (std::string const& each : wanted) {
        bool found = false;
        for (std::size_t index = 0; index < marks.size() && !found; ++index) { found = marks[index].row_key == each; }
        if (!found) { return false; }
    }
    return true;
}

ENTITABLE_LAZY_BODY shared<former_watch> watch_for(
    query_parts const& asked, predicate_nodes const& condition, profile const& limits, shared<known_names> known) {
    std::vector<std::string> wanted;
    for (predicate_node const& node : condition) {
        if (node.former != nullptr) { wanted.push_back(mark_row_key(node.name, *node.former, asked.row_layout)); }
    }
    if (wanted.empty()) { return {}; }
    auto plan =
        make_plan(without_former(condition), asked.plan.access, asked.partition_layout, asked.row_layout, limits);
    // A position in one plan must be a position in the other.
    if (!plan || plan->ranges.size() != asked.plan.ranges.size()) { return {}; }
    auto watch = shared<former_watch>::make();
    watch->migrated = {asked.table, *std::move(plan), asked.partition_layout, asked.row_layout, asked.type};
    watch->request = marks_request(asked.table);
    watch->done.store(known && known->have(wanted), memory_order::relaxed);
    watch->wanted = std::move(wanted);
    watch->known = std::move(known);
    return watch;
}

} // namespace detail
ENTITABLE_END_NAMESPACE
