// SPDX-License-Identifier: MIT
// Copyright (c) 2026 the entitable authors
#pragma once

#include <entitable/core/load/detail/bulk_run.hpp>
#include <entitable/core/request/detail/was_beaten.hpp>
#include <entitable/shards/fleet/detail/stored_rows.hpp>

ENTITABLE_BEGIN_NAMESPACE
namespace detail {

ENTITABLE_DECL result<rows_content> fill_with_rows(
    stored_rows& from, any_store const& to, std::string table, clock& time, std::uint64_t* written) {
    rows_content read;
    auto const source = [&](bulk_item& item) -> bulk_input {
        auto next = from.next();
        if (!next) {
            item.why.emplace(next.error());
            return bulk_input::stopped;
        }
        if (!*next) { return bulk_input::end; }
        read.add(**next);
        item.change = mutation::insert(row{(*next)->partition_key, (*next)->row_key, (*next)->payload});
        return bulk_input::row;
    };
    bulk_options options;
    options.time = &time;
    options.max_refused = 0;
    options.wait_budget = std::chrono::seconds{30};
    bulk_run load{to, std::move(table), {}, bulk_mode::insert, source, nullptr, options};
    ENTITABLE_TRY(auto const report, load.run());
    ENTITABLE_CHECK(report.all());
    if (written != nullptr) { *written = report.written; }
    return read;
}

ENTITABLE_DECL result<rows_content> content_in(any_store const& from, std::string table) {
    stored_rows rows{from, std::move(table)};
    rows_content read;
    for (;;) {
        ENTITABLE_TRY(auto const each, rows.next());
        if (!each) { return read; }
        read.add(*each);
    }
}

ENTITABLE_DECL result<void> drop_if_there(any_store const& from, std::string table) {
    call context;
    auto const dropped = from.execute(delete_table{std::move(table)}, context);
    if (!dropped && !is_absent(dropped)) { return failure{dropped.error()}; }
    return {};
}

} // namespace detail
ENTITABLE_END_NAMESPACE
