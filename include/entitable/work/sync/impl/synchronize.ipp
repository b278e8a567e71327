// SPDX-License-Identifier: MIT
// Copyright (c) 2026 the entitable authors
#pragma once

#include <entitable/client/table_core.hpp>
#include <entitable/core/text.hpp>
#include <entitable/core/transport/run.hpp>
#include <entitable/core/transport/transport.hpp>
#include <entitable/core/try.hpp>
#include <entitable/work/sync/detail/partition_sync.hpp>
#include <entitable/work/sync/synchronize.hpp>

#include <set>

ENTITABLE_BEGIN_NAMESPACE
namespace detail {

/// A store that no layer below repeats requests to.
struct sent_once {
    using is_transport = void;
    any_store below;

    [[nodiscard]] entitable::profile profile() const { return below.profile(); }
    template <table_request Request>
    [[nodiscard]] result<response_of<Request>> execute(Request const& request, call& context) const {
        retry const before = std::exchange(context.retry, retry::off);
        auto answered = below.execute(request, context);
        context.retry = before;
        return answered;
    }
};

/// The partitions of both tables, in order. Includes partitions whose rows were all removed.
inline result<std::set<std::string>> partitions_of_both(table_core const& local, table_core const& cloud) {
    std::set<std::string> all;
    for (table_core const* side : {&local, &cloud}) {
        ENTITABLE_TRY(auto const found, side->partitions(true));
        for (std::string const& each : found) {
            if (!system_row::is_one(each)) { all.insert(each); }
        }
    }
    return all;
}

inline result<void> check_operations(std::string_view which, std::size_t most, std::size_t needed) {
    if (most >= needed) { return {}; }
    return failure{error_code::not_supported,
        text::joined({"synchronize needs transactions of ", std::to_string(needed), " operations in the ", which,
            " store, which allows ", std::to_string(most)})};
}

ENTITABLE_DECL result<sync_report> synchronize_tables(any_store const& local, std::string const& local_table,
    any_store const& cloud, std::string const& cloud_table, sync_options const& options) {
    if (options.partitions.empty() && !options.whole_table) {
        return failure{error_code::invalid_input,
            "synchronize needs partitions: name them in sync_options::partitions, or set whole_table"};
    }
    if (!options.calls.operation_id.empty()) {
        return failure{
            error_code::invalid_input, "synchronize sends several writes, which cannot share an operation id"};
    }
    if (!options.conflicts) { return failure{error_code::invalid_input, "sync_options::conflicts is empty"}; }
    if (options.max_attempts < 1) {
        return failure{error_code::out_of_range_input, "max_attempts of synchronize must be at least 1"};
    }
    ENTITABLE_CHECK(options.delays.validate());
    // Here a row, a row that a policy adds, their base and the state; there a row and the receipt.
    ENTITABLE_CHECK(check_operations("local", local.profile().max_operations, 4));
    ENTITABLE_CHECK(check_operations("cloud's", cloud.profile().max_operations, 2));
    std::set<std::string> partitions{options.partitions.begin(), options.partitions.end()};
    if (options.whole_table) {
        ENTITABLE_TRY(partitions,
            partitions_of_both(
                table_core{local, local_table, options.calls}, table_core{cloud, cloud_table, options.calls}));
    }
    // A name that repeats would make a push that was lost look applied, and hide a restored file: names have no seed.
    fresh_ids ids{0};
    random_source delays_from{options.seed != 0 ? options.seed : ids.random().bits()};
    sync_report report;
    any_store const here{sent_once{local}};
    any_store const there_once{sent_once{cloud}};
    for (std::string const& partition_key : partitions) {
        partition_sync one{
            {local_table, cloud_table, partition_key, &options.conflicts, options.allow_many_removals,
                options.max_attempts, options.delays, local.profile(), cloud.profile(), &ids, &delays_from},
            report};
        auto running = one.run();
        one.end(entitable::run(running, options.calls, *options.time, here, cloud, there_once));
    }
    return report;
}

} // namespace detail
ENTITABLE_END_NAMESPACE
