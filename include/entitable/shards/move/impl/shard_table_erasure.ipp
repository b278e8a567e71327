// SPDX-License-Identifier: MIT
// Copyright (c) 2026 the entitable authors
#pragma once

#include <entitable/core/request/batch_packer.hpp>
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
    constexpr std::size_t most_refusals = 50;
    query_entities asked{table, {}, {}, {"PartitionKey", "RowKey"}, page_size, {}};
    batch_packer packer{std::move(table), storage_profile()};
    std::size_t refusals = 0; // consecutive
    while (!partitions.empty()) {
        asked.range.partition = partitions.back();
        auto found = co_await ask(asked, {.place = place});
        if (!found && found.error().code == error_code::table_not_found) { co_return {}; }
        if (!found) { co_return std::move(found).as_failure(); }
        asked.continuation.reset(); // the rows of this page are erased: the next page begins at the same place
        if (found->rows.empty()) {  // an empty page is not always the last page
            asked.continuation = std::move(found->continuation);
            if (!asked.continuation) { partitions.pop_back(); }
            continue;
        }
        ENTITABLE_CO_CHECK(add_removals(packer, found->rows));
        while (auto const batch = packer.take()) {
            auto const done = co_await ask(*batch, {.place = place});
            if (done) {
                refusals = 0;
                erased += done->results.size();
                continue;
            }
            if (done.error().code == error_code::table_not_found) { co_return {}; }
            bool const met =
                done.error().code == error_code::resource_not_found || done.error().effect == effect::unknown;
            if (!met || ++refusals == most_refusals) { co_return failure{done.error()}; }
            while (packer.take()) {
            } // others erase the same rows, or the response was lost: a query shows the remaining rows
            co_await delay_next{std::chrono::milliseconds{refusals < 10 ? 1 << refusals : 1000}};
        }
    }
    co_return {};
}

} // namespace detail
ENTITABLE_END_NAMESPACE
