// SPDX-License-Identifier: MIT
// Copyright (c) 2026 the entitable authors
#pragma once

#include <entitable/advice/measured/sample_table.hpp>
#include <entitable/core/request/page_cursor.hpp>
#include <entitable/core/row/system_rows.hpp>
#include <entitable/core/try.hpp>

ENTITABLE_BEGIN_NAMESPACE
namespace detail {

ENTITABLE_DECL result<table_sample> read_sample(
    any_store const& through, std::string table, sample_builder builder, sample_table_options const& options) {
    query_entities asked;
    asked.table = std::move(table);
    std::uint64_t left = options.read_at_most == 0 ? ~std::uint64_t{} : options.read_at_most;
    page_cursor pages{std::move(asked)};
    while (pages.more() && left > 0) {
        pages.request().page_size = static_cast<std::uint32_t>(left < 1000 ? left : 1000);
        call context{options.calls};
        ENTITABLE_TRY(auto const read, pages.take(through.execute(pages.request(), context)));
        for (std::size_t index = 0; index < read.rows.size() && left > 0; ++index) {
            builder.add(read.rows[index]);
            left -= system_row::is_one(read.rows[index].row_key) ? 0U : 1U;
        }
    }
    return std::move(builder).finish(pages.more());
}

} // namespace detail
ENTITABLE_END_NAMESPACE
