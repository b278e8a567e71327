// SPDX-License-Identifier: MIT
// Copyright (c) 2026 the entitable authors
#pragma once

/// \file
/// `key_score`: the cost of a workload under a declaration of keys, estimated from a sample. The model:
///
///     examined      the rows whose keys match the members that the query fixes, in order, up to the first member that it does not fix
///     requests      one for each key range, and one for each further page of 1,000 entities: the minimum number
///     seconds       requests x seconds_per_request + examined x seconds_per_row (`service_targets`)
///     load          examined rows a second; a partition's load is that of its rows; writes go to the latest 5 % of the rows
///     hottest       the load of the busiest partition; or all writes, if keys increase or decrease over time, because one server
///                   serves the end of the table

#include <entitable/advice/census.hpp>
#include <entitable/client/query/access_path.hpp>

ENTITABLE_BEGIN_NAMESPACE

/// The cost of one query.
struct query_score {
    std::string name;      ///< name of the query
    access_path access{};  ///< worst access path of the alternatives
    double ranges{};       ///< key ranges that are queried
    double partitions{};   ///< partitions that are visited
    double examined{};     ///< rows that the service examines
    double returned{};     ///< rows that the service returns
    double requests{};     ///< the minimum number of requests
    double seconds{};      ///< estimated seconds under the service model
    double load{};         ///< rows examined in a second, by all queries with this name together
    double latency{};      ///< latency limit in seconds; 0: none
    std::string unordered; ///< a key member with a range condition and unordered values in the key; may be empty

    /// Returns the share of the examined rows that are returned, 0 to 1; 1 if no row is examined.
    [[nodiscard]] double selectivity() const noexcept { return examined <= 0 ? 1.0 : returned / examined; }
    /// Returns the requests beyond the first of each range: each is a continuation token.
    [[nodiscard]] double continuations() const noexcept { return requests - ranges; }
    /// Whether the query takes longer than its latency limit, under the model.
    [[nodiscard]] bool misses_latency() const noexcept { return latency > 0 && seconds > latency; }
};

/// The cost of a workload under a declaration.
struct key_score {
    key_declaration declared;         ///< declaration of the keys
    bool unique{};                    ///< whether no two rows of the sample have the same keys
    partition_facts partitions;       ///< estimated for the whole table
    std::vector<query_score> queries; ///< scores in the order of the workload
    double hottest{};                 ///< entities a second of the busiest partition, or of the end of the table
    std::string hottest_key;          ///< PartitionKey of the busiest partition
    double total{};                   ///< entities a second of the table
    double growth{};                  ///< rank correlation of the order of partitions and time; 0 if unknown
    bool transactions{true};          ///< whether the entities of one transaction can be in one partition
    double cost{};                    ///< seconds of service time per second, weighted by priority
    bool fits{};                      ///< within the targets of a partition and an account

    /// Returns the score as text for a terminal.
    [[nodiscard]] std::string to_string() const;
};

ENTITABLE_END_NAMESPACE

#if !defined(ENTITABLE_SEPARATE_COMPILATION)
#include <entitable/advice/impl/key_score.ipp>
#endif
