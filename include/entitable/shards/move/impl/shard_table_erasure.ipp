// SPDX-License-Identifier: MIT
// Copyright (c) 2026 the entitable authors
#pragma once

#include <entitable/core/request/batch_packer.hpp>
#include <entitable/core/request/page_cursor.hpp>
#include <entitable/core/transport/contention.hpp>
#include <entitable/core/try.hpp>
#include <entitable/shards/move/detail/shard_table_erasure.hpp>

ENTITABLE_BEGIN_NAMESPACE
namespace detail {

/// Adds the removal of each row of a page.
inline result<void> add_removals(batch_packer& to, page const& rows) {
    for (std::size_t index = 0; index < rows.size(); ++index) {
        row_view const each = rows[index];
        ENTITABLE_CHECK(to.add(mutation::remove(row{each.partition_key, each.row_key, {}}, any_etag)));
    }
    return {};
}

ENTITABLE_DECL resumable<void> erase_keys(std::string table, std::vector<key_interval> partitions,
    std::uint32_t page_size, std::size_t place, std::uint64_t& erased) {
    query_entities keys_of_all{table, {}, {}, {}, page_size, {}};
    keys_of_all.select = {"PartitionKey", "RowKey"};
    page_cursor pages{std::move(keys_of_all)};
    batch_packer packer{std::move(table), storage_profile()};
    contention refusals{most_resends, resend_backoff}; // consecutive
    while (!partitions.empty()) {
        pages.request().range.partition = partitions.back();
        auto const found = pages.take(co_await ask(pages.request(), {.place = place}));
        if (!found && found.error().code == error_code::table_not_found) { co_return {}; }
        if (!found) { co_return failure{found.error()}; }
        if (found->rows.empty() && pages.more()) { continue; } // an empty page is not always the last one
        pages.restart(); // the rows of this page are erased: the next one begins where it did
        if (found->rows.empty()) { partitions.pop_back(); }
        ENTITABLE_CO_CHECK(add_removals(packer, found->rows));
        while (auto const batch = packer.take()) {
            auto const done = co_await ask(*batch, {.place = place});
            if (done) {
                refusals.restart();
                erased += done->results.size();
                continue;
            }
            if (done.error().code == error_code::table_not_found) { co_return {}; }
            bool const met =
                done.error().code == error_code::resource_not_found || done.error().effect == effect::unknown;
            if (!met || refusals.is_last()) { co_return failure{done.error()}; }
            while (packer.take()) {
            } // others erase the same rows, or the response was lost: a query shows the remaining rows
            co_await delay_next{refusals.delay(0)};
        }
    }
    co_return {};
}

} // namespace detail
ENTITABLE_END_NAMESPACE
