// SPDX-License-Identifier: MIT
// Copyright (c) 2026 the entitable authors
#pragma once

#include <entitable/core/request/detail/was_beaten.hpp>
#include <entitable/core/request/page_cursor.hpp>
#include <entitable/core/text.hpp>
#include <entitable/core/transport/sweep.hpp>
#include <entitable/core/try.hpp>

ENTITABLE_BEGIN_NAMESPACE
namespace detail {

/// The time before which a row is old.
ENTITABLE_DECL date_time sweep_bound(date_time now, std::chrono::nanoseconds retention) noexcept {
    std::int64_t const age = retention.count() / 100;
    return {now.ticks > age ? now.ticks - age : 0};
}

/// The operation rows that were written before a time.
ENTITABLE_DECL query_entities operation_rows_before(
    std::string table, std::optional<std::string> const& partition_key, date_time bound) {
    query_entities made;
    made.table = std::move(table);
    if (partition_key) { made.range.partition = key_interval::only(*partition_key); }
    std::string behind{operation_row::row_key_prefix};
    ++behind.back();
    made.range.row = {
        key_bound::including(std::string{operation_row::row_key_prefix}), key_bound::excluding(std::move(behind))};
    made.filter.nodes.push_back({filter_operator::less, "Timestamp", value{value_view{bound}}});
    return made;
}

ENTITABLE_DECL resumable<std::size_t> sweep_pages(
    std::string table, sweep_options options, std::chrono::seconds late, call const& context) {
    bool const bounded = late != profile::unbounded;
    if (options.retention < std::chrono::nanoseconds{} || (bounded && options.retention < late)) {
        co_return failure{error_code::out_of_range_input,
            text::joined({"the retention of operation rows must be at least the longest delay of an attempt: ",
                std::to_string(bounded ? late.count() : 0), " s"})};
    }
    page_cursor pages{
        operation_rows_before(table, options.partition_key, sweep_bound(options.time->now(), options.retention))};
    write_entity removing{std::move(table), {}};
    std::size_t removed = 0;
    while (pages.more()) {
        ENTITABLE_CO_TRY(auto const found, pages.take(co_await ask(pages.request())));
        date_time const served = context.server_date;
        for (row_view const each : found.rows) {
            // If this program's clock is fast, the filter accepts too many rows.
            bool const old = served == date_time{} || each.timestamp() < sweep_bound(served, options.retention);
            if (!old || !operation_row::is_one(each)) { continue; }
            removing.change = mutation::remove(row{each.partition_key, each.row_key, {}}, each.etag());
            auto const done = co_await ask(removing);
            // Another sweep may have removed the row, and a new write may use the id again.
            if (!done && !was_beaten(done.error(), rival_change::changed_or_removed)) {
                co_return failure{done.error()};
            }
            removed += done ? 1U : 0U;
        }
    }
    co_return removed;
}

} // namespace detail
ENTITABLE_END_NAMESPACE
