// SPDX-License-Identifier: MIT
// Copyright (c) 2026 the entitable authors
#pragma once

#include <entitable/bulk/detail/beyond_queries.hpp>
#include <entitable/core/request/page_cursor.hpp>
#include <entitable/core/row/system_row_kinds.hpp>
#include <entitable/core/text.hpp>
#include <entitable/core/try.hpp>

ENTITABLE_BEGIN_NAMESPACE
namespace detail {

ENTITABLE_DECL result<void> check_found_by_queries(
    any_store const& in, std::string_view table, call_options const& calls, clock& time) {
    query_entities asked;
    asked.table = table;
    asked.range.partition = {
        key_bound::including(std::string{system_row::prefix}), key_bound::excluding(std::string{system_row::end})};
    asked.select = {"PartitionKey", "RowKey"};
    page_cursor pages{std::move(asked)};
    while (pages.more()) {
        call context{calls, time};
        context.operation_id.clear(); // the id identifies one write
        ENTITABLE_TRY(auto const found, pages.take(in.execute(pages.request(), context)));
        for (std::size_t index = 0; index < found.rows.size(); ++index) {
            system_row::kind const* const kind = system_row::kind_of(found.rows[index].row_key);
            if (kind != nullptr && kind->owns_table) {
                return failure{error_code::not_supported,
                    text::joined({"the table \"", table, "\" holds ", kind->holds,
                        ", which queries do not return: use ", kind->keeper})};
            }
        }
    }
    return {};
}

ENTITABLE_DECL result<void> check_without_companions(
    any_store const& in, std::string_view table, call_options const& calls, clock& time) {
    query_entities asked;
    asked.table = table;
    asked.range.partition = key_interval::only(std::string{system_row::index});
    asked.select = {"PartitionKey", "RowKey", "State"};
    page_cursor pages{std::move(asked)};
    while (pages.more()) {
        call context{calls, time};
        context.operation_id.clear(); // the id identifies one write
        ENTITABLE_TRY(auto const found, pages.take(in.execute(pages.request(), context)));
        for (std::size_t index = 0; index < found.rows.size(); ++index) {
            row_view const each = found.rows[index];
            auto const state = each.find("State");
            bool const retired = state && state->type() == edm_type::string && state->as_string() == "retired";
            if (retired || !each.row_key.starts_with(system_row::index)) { continue; }
            return failure{error_code::not_supported,
                text::joined({"the table \"", table, "\" has the index or the sums \"",
                    text::printable(each.row_key.substr(system_row::index.size())),
                    "\", whose rows belong to the entities as they are stored: ",
                    "copy the entities with bulk_copy into a table that declares them"})};
        }
    }
    return {};
}

ENTITABLE_DECL result<void> check_not_wide(row_view found, std::string_view table, std::string_view instead) {
    auto const parts = found.find(system_row::wide_parts);
    if (!parts || parts->type() != edm_type::int32) { return {}; }
    return failure{error_code::not_supported,
        text::joined({"the table \"", table, "\" holds wide entities, whose parts queries do not return: ", instead})};
}

} // namespace detail
ENTITABLE_END_NAMESPACE
