// SPDX-License-Identifier: MIT
// Copyright (c) 2026 the entitable authors
#pragma once

#include <entitable/client/table_core.hpp>
#include <entitable/core/random.hpp>
#include <entitable/core/request/detail/was_beaten.hpp>
#include <entitable/core/request/page_cursor.hpp>
#include <entitable/core/row/system_rows.hpp>
#include <entitable/core/text.hpp>
#include <entitable/core/transport/contention.hpp>
#include <entitable/core/try.hpp>
#include <entitable/work/sync/detail/sync_rows.hpp>
#include <entitable/work/sync/receipts.hpp>

#include <set>

ENTITABLE_BEGIN_NAMESPACE
namespace detail {

/// Removes the receipts of one partition that are older than an age. False if a device was faster.
inline result<bool> expire_once(table_core const& cloud, std::string const& partition_key,
    std::chrono::nanoseconds older_than, clock& time, receipt_expiry& done) {
    call context{cloud.options(), time};
    query_entities all;
    all.table = cloud.name();
    all.range.partition = key_interval::only(partition_key);
    all.range.row.lower = key_bound::including(std::string{system_row::synced});
    all.range.row.upper = key_bound::excluding(std::string{"~!sync\""}); // the next after the prefix
    struct found_receipt {
        date_time written;
        mutation removal;
    };
    std::vector<found_receipt> found;
    for (page_cursor pages{std::move(all)}; pages.more();) {
        ENTITABLE_TRY(auto const some, pages.take(cloud.store().execute(pages.request(), context)));
        for (std::size_t index = 0; index < some.rows.size(); ++index) {
            row_view const each = some.rows[index];
            if (!is_receipt_key(each.row_key)) { continue; }
            found.push_back({each.timestamp(), mutation::remove(row{partition_key, each.row_key, {}}, each.etag())});
        }
    }
    date_time const now = context.server_date != date_time{} ? context.server_date : time.now();
    date_time const limit{now.ticks - older_than.count() / 100};
    std::vector<mutation> removals;
    for (found_receipt& each : found) {
        if (each.written < limit) { removals.push_back(std::move(each.removal)); }
    }
    std::uint64_t const kept = found.size() - removals.size();
    std::size_t const most = cloud.store().profile().max_operations;
    for (std::size_t at = 0; at < removals.size();) {
        transact part{cloud.name(), {}};
        // The mark comes with the first removals: a device must not take a removed receipt for one that never was.
        part.changes.push_back(mutation::insert_or_replace(row_builder{partition_key, expired_receipts_key()}.build()));
        while (at < removals.size() && part.changes.size() < most) {
            part.changes.push_back(std::move(removals[at++]));
        }
        std::uint64_t const count = part.changes.size() - 1;
        auto const removed = cloud.store().execute(part, context);
        if (!removed) {
            if (removed.error().effect == effect::none && was_beaten(removed.error())) { return false; }
            return failure{removed.error()};
        }
        done.removed += count;
    }
    done.kept += kept;
    return true;
}

ENTITABLE_DECL result<receipt_expiry> expire_receipts_of(
    table_core const& cloud, std::chrono::nanoseconds older_than, receipt_options const& options) {
    if (options.partitions.empty() && !options.whole_table) {
        return failure{error_code::invalid_input,
            "expire_receipts needs partitions: name them in receipt_options::partitions, or set whole_table"};
    }
    if (!options.calls.operation_id.empty()) {
        return failure{
            error_code::invalid_input, "expire_receipts sends several writes, which cannot share an operation id"};
    }
    if (options.max_attempts < 1) {
        return failure{error_code::out_of_range_input, "max_attempts of expire_receipts must be at least 1"};
    }
    ENTITABLE_CHECK(options.delays.validate());
    if (cloud.store().profile().max_operations < 2) {
        return failure{error_code::not_supported, "expire_receipts needs transactions of 2 operations"};
    }
    table_core const called{cloud.store(), cloud.name(), options.calls};
    std::set<std::string> partitions{options.partitions.begin(), options.partitions.end()};
    if (options.whole_table) {
        ENTITABLE_TRY(auto const found, called.partitions(true));
        for (std::string const& each : found) {
            if (!system_row::is_one(each)) { partitions.insert(each); }
        }
    }
    random_source random{options.seed != 0
            ? options.seed
            : static_cast<std::uint64_t>(options.time->steady().time_since_epoch().count())};
    receipt_expiry done;
    for (std::string const& partition_key : partitions) {
        for (contention rivals{options.max_attempts, options.delays};;) {
            ENTITABLE_TRY(bool const ended, expire_once(called, partition_key, older_than, *options.time, done));
            if (ended) { break; }
            error why{error_code::update_condition_not_satisfied, "a device pushed while its receipt was removed"};
            if (rivals.is_last()) { return rivals.lost(why); }
            call context{options.calls, *options.time};
            ENTITABLE_CHECK(rivals.wait(random.unit(), context, *options.time));
        }
        ++done.partitions;
    }
    return done;
}

} // namespace detail
ENTITABLE_END_NAMESPACE
