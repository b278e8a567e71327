// SPDX-License-Identifier: MIT
// Copyright (c) 2026 the entitable authors
#pragma once

/// \file
/// `score_keys`: the cost of a workload under a declaration of keys, estimated from a sample, and `compare<A, B>`: the costs under the
/// declarations of two types. `service_targets`: the published targets of a service, and further assumptions. The model:
///
///     examined      the rows whose keys match the members that the query fixes, in order, up to the first member that it does not fix
///     requests      one for each key range, and one for each further page of 1,000 entities: the minimum number
///     seconds       requests x seconds_per_request + examined x seconds_per_row (`service_targets`)
///     load          examined rows a second; a partition's load is that of its rows; writes go to the latest 5 % of the rows
///     hottest       the load of the busiest partition; or all writes, if keys increase or decrease over time, because one server
///                   serves the end of the table

#include <entitable/advice/census.hpp>
#include <entitable/advice/workload.hpp>
#include <entitable/client/query/access_path.hpp>
#include <entitable/core/config.hpp>

#include <cstdint>

ENTITABLE_BEGIN_NAMESPACE

/// Targets of a service, and the model of a query's cost. The targets are published ("Scalability and performance targets for Table
/// storage"); the two times are not: they are assumptions for ranking designs; a stress test measures the real values.
struct service_targets {
    double partition_rate{2'000};      ///< entities a second of one partition (500 in the first edition of the page)
    double account_rate{20'000};       ///< entities a second of one account
    double partition_bytes{};          ///< maximum bytes of one partition; 0: no separate limit
    std::uint32_t page_rows{1'000};    ///< maximum entities in one response
    std::uint32_t batch_rows{100};     ///< maximum entities in one transaction
    double seconds_per_request{0.005}; ///< assumed: one request and its response
    double seconds_per_row{20e-6};     ///< assumed: one entity that the service examines
};

/// Azure Table Storage.
[[nodiscard]] constexpr service_targets storage_targets() noexcept { return {}; }
/// The Table API of Cosmos DB: a logical partition holds 20 GB ("Azure Cosmos DB service quotas"); its rate is in request units, so the
/// 10,000 request units a second of a physical partition are counted as point reads of 1 KiB.
[[nodiscard]] constexpr service_targets cosmos_targets() noexcept {
    service_targets made;
    made.partition_rate = 10'000;
    made.account_rate = 1e9;
    made.partition_bytes = 20e9;
    return made;
}

/// The cost of one query.
struct query_score {
    std::string name;     ///< name of the query
    access_path access{}; ///< worst access path of the alternatives
    double ranges{};      ///< key ranges that are queried
    double partitions{};  ///< partitions that are visited
    double examined{};    ///< rows that the service examines
    double returned{};    ///< rows that the service returns
    double
        most_returned{}; ///< rows that it returns for the values with the most rows; the same as `returned` for a query as written
    double requests{}; ///< the minimum number of requests
    double seconds{};  ///< estimated seconds under the service model
    double load{};     ///< rows examined in a second, by all queries with this name together
    double latency{};  ///< latency limit in seconds; 0: none
    /// Members whose constants are placeholders: the figures are a mean over their stored values (`asked_values`). If there are none, the figures
    /// are those of the query as written.
    std::vector<std::string> averaged;
    std::string unordered; ///< a key member with a range condition and unordered values in the key; may be empty

    /// Returns the share of the examined rows that are returned, 0 to 1; 1 if no row is examined.
    [[nodiscard]] double selectivity() const noexcept { return examined <= 0 ? 1.0 : returned / examined; }
    /// Returns the requests beyond the first of each range: each is a continuation token.
    [[nodiscard]] double continuations() const noexcept { return requests - ranges; }
    /// Returns what the figures describe: "as written", or "mean over event, distance".
    [[nodiscard]] std::string figures_of() const;
    /// Whether the result certainly arrives in one page, however much the table grows: the query reads a single row.
    [[nodiscard]] bool never_continues() const noexcept { return access == access_path::point && ranges <= 1; }
    /// Returns the seconds until the largest result exceeds a page, if results grow as the table does: 0 if it does now, infinity if there are
    /// no writes or the query reads a single row.
    [[nodiscard]] double seconds_of_one_page(
        double page_rows, double rows_of_table, double writes_per_second) const noexcept;
    /// Whether the query takes longer than its latency limit, under the model.
    [[nodiscard]] bool misses_latency() const noexcept { return latency > 0 && seconds > latency; }
};

/// Writes whose entities share members (`write_rate::together`), under a declaration. The rows of the sample with the same values form a
/// group; groups of one row are not counted, and neither are rows without a value. In a sample of a larger table groups are incomplete: then
/// `whole` is at most too high.
struct together_score {
    std::string name;                 ///< name of the writes
    std::vector<std::string> members; ///< the shared members
    std::uint64_t groups{};           ///< groups of at least 2 rows
    std::uint64_t
        whole{}; ///< groups that can be one transaction: all rows in one partition, and no more than a transaction may have
    std::uint64_t largest{};  ///< rows of the largest group
    double entities{1};       ///< entities of one transaction: as given, or the mean rows of a group
    double partitions_each{}; ///< mean number of partitions of a group

    /// Returns in how many of 100 groups all rows can be one transaction, 0 to 100; 100 without groups.
    [[nodiscard]] double of_100() const noexcept {
        return groups == 0 ? 100.0 : 100.0 * static_cast<double>(whole) / static_cast<double>(groups);
    }
    /// Whether every group can be one transaction.
    [[nodiscard]] bool always() const noexcept { return whole == groups; }
    /// Returns the mean number of requests for the entities of one transaction: one if they can be one transaction, otherwise one each.
    [[nodiscard]] double requests() const noexcept { return of_100() / 100 + (1 - of_100() / 100) * entities; }
};

/// The cost of a workload under a declaration.
struct key_score {
    key_declaration declared;             ///< declaration of the keys
    bool unique{};                        ///< whether no two rows of the sample have the same keys
    partition_facts partitions;           ///< estimated for the whole table
    std::vector<query_score> queries;     ///< scores in the order of the workload
    double hottest{};                     ///< entities a second of the busiest partition, or of the end of the table
    std::string hottest_key;              ///< PartitionKey of the busiest partition
    double total{};                       ///< entities a second of the table
    double growth{};                      ///< rank correlation of the order of partitions and time; 0 if unknown
    bool transactions{true};              ///< whether the entities of one transaction can be in one partition
    std::vector<together_score> together; ///< the writes with shared members, in the order of the workload
    double cost{};                        ///< seconds of service time per second, weighted by priority
    bool fits{};                          ///< within the targets of a partition and an account

    /// Returns the score as text for a terminal.
    [[nodiscard]] std::string to_string() const;
};

/// Estimates the cost of a workload under a declaration. At most 100,000 rows of the sample are used, evenly spread.
[[nodiscard]] key_score score_keys(table_sample const& sample, workload const& load, key_declaration const& declared,
    service_targets const& targets = storage_targets());

/// Two declarations under one workload.
struct key_comparison {
    key_score one;   ///< score of the first declaration
    key_score other; ///< score of the second declaration

    /// Returns the comparison as text for a terminal.
    [[nodiscard]] std::string to_string() const;
};

/// Compares two declarations by names of members.
[[nodiscard]] key_comparison compare_keys(table_sample const& sample, workload const& load, key_declaration const& one,
    key_declaration const& other, service_targets const& targets = storage_targets());

/// Compares the keys of two types whose members have the names used in the sample and the workload.
template <mapped_entity One, mapped_entity Other>
[[nodiscard]] key_comparison compare(
    table_sample const& sample, workload const& load, service_targets const& targets = storage_targets()) {
    return compare_keys(sample, load, declaration_of<One>(), declaration_of<Other>(), targets);
}

ENTITABLE_END_NAMESPACE

#if !defined(ENTITABLE_SEPARATE_COMPILATION)
#include <entitable/advice/impl/key_score.ipp>
#endif
