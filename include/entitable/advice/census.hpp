// SPDX-License-Identifier: MIT
// Copyright (c) 2026 the entitable authors
#pragma once

/// \file
/// `take_census`: statistics of a sample. Sizes of partitions and their skew, the values of each member, the keys that increase over time,
/// and the runs of keys that the service may serve as one range.

#include <entitable/advice/heat_map.hpp>

#include <optional>
#include <string>
#include <utility>
#include <vector>

ENTITABLE_BEGIN_NAMESPACE

/// A bin of the histogram of partition sizes, from one power of two to the next.
struct size_class {
    std::uint64_t least{};      ///< minimum rows of a partition
    std::uint64_t most{};       ///< maximum rows of a partition
    std::uint64_t partitions{}; ///< number of partitions
};

/// The distribution of a table's rows over partitions.
struct partition_facts {
    std::uint64_t count{};           ///< number of partitions
    double mean{};                   ///< mean rows of a partition
    std::uint64_t median{};          ///< median of the rows: half of the partitions have at most this many
    std::uint64_t of_90_percent{};   ///< 90th percentile of the rows: 90 of 100 partitions have at most this many
    std::uint64_t of_99_percent{};   ///< 99th percentile of the rows: 99 of 100 partitions have at most this many
    std::uint64_t largest{};         ///< rows of the partition with the most rows
    std::uint64_t largest_bytes{};   ///< bytes of the partition with the most bytes
    std::string largest_key;         ///< PartitionKey of the largest partition
    double largest_share{};          ///< share of all rows in the largest partition, 0 to 1
    double gini{};                   ///< 0: equal partitions; near 1: nearly all rows in one partition (C. Gini, 1912)
    std::vector<size_class> classes; ///< classes by size, without gaps
    /// The Lorenz curve: at index k of n, the share of rows in the largest k/(n-1) of the partitions.
    std::vector<double> lorenz;
};

/// A value and the share of rows with this value.
struct frequent_value {
    std::string text; ///< readable text, shortened
    double share{};   ///< share of the rows of the sample, 0 to 1
    double error{};   ///< error of the share, see `table_sample::error_of`
};

/// The statistics of a member.
struct member_facts {
    std::string name;                                    ///< name as in the sample
    sample_column::place at{};                           ///< whether the member is a property, or in a key
    std::vector<std::pair<edm_type, std::size_t>> types; ///< stored types, each with its number of rows in the sample
    double present{};                                    ///< the share of rows that have a value, 0 to 1
    std::size_t distinct{};                              ///< number of different values in the sample
    double distinct_estimate{};                          ///< estimated number of different values in the table
    double distinct_most{};                              ///< the upper bound of that estimate
    bool unique{};                                       ///< every row of the sample has a different value
    std::vector<frequent_value> frequent;                ///< the most frequent values
    /// The member's rank correlation with the time of writing, -1 to 1. Absent if times are unknown.
    std::optional<double> growth;
    /// Whether its text contains numbers of different lengths: "111" sorts before "2".
    bool unpadded_numbers{};
};

/// Neighbouring partitions with one entity each, which the service may serve as one range.
struct key_run {
    std::string first;     ///< first PartitionKey of the range
    std::string last;      ///< last PartitionKey of the range
    std::uint64_t keys{};  ///< number of keys
    bool takes_appends{};  ///< set for the last run of the table if keys increase over time: it gets every new entity
    bool takes_prepends{}; ///< set for the first run of the table if keys decrease over time: it gets every new entity
};

/// The statistics of a table.
struct census {
    key_declaration declared;          ///< declaration of the keys
    std::uint64_t rows{};              ///< rows read
    std::uint64_t bytes{};             ///< size of these rows, as the service measures them
    std::size_t kept{};                ///< rows of the sample
    bool whole{};                      ///< whether the sample contains all rows
    bool cut_short{};                  ///< whether the table contains more rows, which were not read
    double error_of_half{};            ///< the error of a share of 50 %, in 95 of 100 samples
    partition_facts partitions;        ///< partitions of all rows read
    std::vector<member_facts> members; ///< members of the rows of the sample
    /// The rank correlation of partition keys with the time of writing, -1 to 1. Absent if times are unknown.
    std::optional<double> key_growth;
    std::vector<key_run> runs; ///< the longest runs, at most 10, each of at least two keys
    heat_map writes{{}};       ///< rows of the sample by key and time of writing

    /// Returns the member with this name; null if there is none.
    [[nodiscard]] member_facts const* find(std::string_view name) const noexcept;
    /// Returns the census as text for a terminal.
    [[nodiscard]] std::string to_string() const;
};

/// Takes the census of a sample. Cost: a few passes over its rows.
[[nodiscard]] census take_census(table_sample const& sample);

namespace detail {

/// Returns the statistics of partitions with these numbers of rows; the caller fills in `largest_key` and bytes.
[[nodiscard]] partition_facts facts_of_sizes(std::vector<std::uint64_t> rows);

} // namespace detail
ENTITABLE_END_NAMESPACE

#if !defined(ENTITABLE_SEPARATE_COMPILATION)
#include <entitable/advice/impl/census.ipp>
#endif
