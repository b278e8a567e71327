// SPDX-License-Identifier: MIT
// Copyright (c) 2026 the entitable authors
#pragma once

#include <entitable/client/companion_writer.hpp>
#include <entitable/client/table_core.hpp>
#include <entitable/core/row/system_rows.hpp>
#include <entitable/core/shared.hpp>
#include <entitable/core/text.hpp>
#include <entitable/core/transport/run.hpp>
#include <entitable/core/transport/transport.hpp>
#include <entitable/core/try.hpp>
#include <entitable/work/sync/detail/partition_sync.hpp>
#include <entitable/work/sync/synchronize.hpp>

#include <algorithm>
#include <functional>
#include <map>
#include <optional>
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

/// The versions that the last transaction of a store has made, by row key.
struct made_versions : counted {
    std::map<std::string, etag, std::less<>> of{};
};

/// Passes requests on, and notes the versions that each transaction makes.
struct noting_store {
    using is_transport = void;
    any_store below;
    shared<made_versions> made;

    [[nodiscard]] entitable::profile profile() const { return below.profile(); }
    template <table_request Request>
        requires(!std::same_as<Request, read_entity> && !std::same_as<Request, read_entities>)
    [[nodiscard]] result<response_of<Request>> execute(Request const& request, call& context) const {
        auto answered = below.execute(request, context);
        if constexpr (std::same_as<Request, transact>) {
            if (answered && answered->results.size() == request.changes.size()) {
                for (std::size_t at = 0; at < request.changes.size(); ++at) {
                    made->of.insert_or_assign(
                        std::string{request.changes[at].entity.row_key()}, answered->results[at].etag);
                }
            }
        }
        return answered;
    }
};

/// One side of tables with indexes and sums: each transaction of rows also writes their companions, on that side.
class maintained_side {
public:
    using is_transport = void; ///< opts in to `transport`

    /// `current`: the synchronisation under way.
    maintained_side(any_store below, companion_writer const& of, bool local,
        std::optional<partition_sync> const& current, call_options how)
        : below_(std::move(below)),
          made_(shared<made_versions>::make()),
          writer_(of.through(any_store{noting_store{below_, made_}}, std::move(how))),
          local_(local),
          current_(&current) {}

    [[nodiscard]] entitable::profile profile() const { return below_.profile(); }
    template <table_request Request>
        requires(!std::same_as<Request, read_entity> && !std::same_as<Request, read_entities>)
    [[nodiscard]] result<response_of<Request>> execute(Request const& request, call& context) const {
        if constexpr (std::same_as<Request, transact>) {
            bool const has_entity = std::any_of(request.changes.begin(), request.changes.end(),
                [](mutation const& each) { return !system_row::is_one(each.entity.row_key()); });
            if (has_entity) { return write(request); }
        }
        return below_.execute(request, context);
    }

private:
    [[nodiscard]] result<transact::response> write(transact const& request) const {
        made_->of.clear();
        auto answered = writer_->write_known(
            request, [&](std::string_view row_key) { return (*current_)->known_row(local_, row_key); });
        if (!answered) { return answered; }
        for (std::size_t at = 0; at < request.changes.size(); ++at) {
            auto const found = made_->of.find(request.changes[at].entity.row_key());
            written& one = answered->results[at];
            if (one.etag.empty() && found != made_->of.end()) { one.etag = found->second; }
        }
        return answered;
    }

    any_store below_;
    shared<made_versions> made_;
    shared<companion_writer> writer_;
    bool local_;
    std::optional<partition_sync> const* current_;
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

/// Refuses calls and tables that cannot be synchronised.
inline result<void> check_synchronisation(
    table_core const& local, table_core const& cloud, sync_options const& options) {
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
    for (table_core const* side : {&local, &cloud}) {
        if (side->type() != nullptr) {
            return failure{error_code::not_supported,
                text::joined({"synchronize takes the table \"", side->name(),
                    "\" with all its types, not the entities of one type"})};
        }
    }
    if ((local.writer() == nullptr) != (cloud.writer() == nullptr)) {
        return failure{error_code::invalid_input, "one of the tables was moved from"};
    }
    return {};
}
/// The limits for the rows of a side.
inline profile limits_of_side(table_core const& side) {
    return side.writer() != nullptr ? side.writer()->limits() : side.store().profile();
}

ENTITABLE_DECL result<sync_report> synchronize_tables(
    table_core const& local, table_core const& cloud, sync_options const& options) {
    ENTITABLE_CHECK(check_synchronisation(local, cloud, options));
    profile const limits_here = limits_of_side(local);
    profile const limits_there = limits_of_side(cloud);
    // Here a row, a row that a policy adds, their base and the state; there a row and the receipt.
    ENTITABLE_CHECK(check_operations("local", limits_here.max_operations, 4));
    ENTITABLE_CHECK(check_operations("cloud's", limits_there.max_operations, 2));
    std::set<std::string> partitions{options.partitions.begin(), options.partitions.end()};
    if (options.whole_table) {
        ENTITABLE_TRY(partitions,
            partitions_of_both(table_core{local.store(), local.name(), options.calls},
                table_core{cloud.store(), cloud.name(), options.calls}));
    }
    // A name that repeats would make a push that was lost look applied, and hide a restored file: names have no seed.
    fresh_ids ids{0};
    random_source delays_from{options.seed != 0 ? options.seed : ids.random().bits()};
    sync_report report;
    std::optional<partition_sync> current; // a synchronisation is neither copied nor moved
    any_store const& there = cloud.store();
    any_store here{sent_once{local.store()}};
    any_store there_once{sent_once{there}};
    if (local.writer() != nullptr) {
        here = any_store{maintained_side{here, *local.writer(), true, current, options.calls}};
        there_once = any_store{maintained_side{there_once, *cloud.writer(), false, current, options.calls}};
    }
    shared<companion_writer> log;
    if (cloud.writer() != nullptr && cloud.writer()->is_logged()) {
        log = cloud.writer()->through(there, options.calls);
    }
    std::string const* last = nullptr;
    std::function<void()> const watch = [&] {
        options.watch({report.partitions, partitions.size(), report.pulled, report.pushed, report.conflicts.size(),
            report.held.size(), report.failed.size(), *last});
    };
    std::function<void()> const* const shown = options.watch ? &watch : nullptr;
    for (std::string const& partition_key : partitions) {
        last = &partition_key;
        if (options.calls.cancellation.cancelled()) {
            report.failed.push_back({partition_key, error{error_code::cancelled, "the synchronisation was cancelled"}});
            continue;
        }
        current.emplace(synced_partition{local.name(), cloud.name(), partition_key, &options.conflicts,
                            options.allow_many_removals, options.max_attempts, options.delays, limits_here,
                            limits_there, &ids, &delays_from, log.get(), local.writer(), shown},
            report);
        auto running = current->run();
        current->end(entitable::run(running, options.calls, *options.time, here, there, there_once));
        if (shown != nullptr) { watch(); }
    }
    return report;
}

} // namespace detail
ENTITABLE_END_NAMESPACE
