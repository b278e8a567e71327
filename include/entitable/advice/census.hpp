// SPDX-License-Identifier: MIT
// Copyright (c) 2026 the entitable authors
#pragma once

/// \file
/// `take_census`: what is in a sample. Sizes of partitions and how uneven they are, the values of each member, which keys grow
/// with time, and which runs of keys the service may serve as one range.

#include <entitable/advice/heat_map.hpp>

#include <optional>
#include <string>
#include <utility>
#include <vector>

ENTITABLE_BEGIN_NAMESPACE

/// Numbers of rows from one power of two to the next, and how many partitions have them.
struct size_class {
    std::uint64_t least{};      ///< rows
    std::uint64_t most{};       ///< rows
    std::uint64_t partitions{}; ///< how many
};

/// How the rows of a table are spread over partitions.
struct partition_facts {
    std::uint64_t count{};           ///< partitions
    double mean{};                   ///< rows of one
    std::uint64_t median{};          ///< rows: as many partitions have no more as have no less
    std::uint64_t of_90_percent{};   ///< rows: 90 of 100 partitions have no more
    std::uint64_t of_99_percent{};   ///< rows: 99 of 100 partitions have no more
    std::uint64_t largest{};         ///< rows of the largest
    std::uint64_t largest_bytes{};   ///< bytes of the one with most bytes
    std::string largest_key;         ///< its partition key
    double largest_share{};          ///< of all rows, 0 to 1
    double gini{};                   ///< 0: all are the same; near 1: one has nearly all (C. Gini, 1912)
    std::vector<size_class> classes; ///< by size, without gaps
    /// The share of the rows that the largest partitions have: at index k of n those of the largest k/(n-1) of the partitions.
    std::vector<double> lorenz;
};

/// A value and the share of rows that have it.
struct frequent_value {
    std::string text; ///< for a person, cut short
    double share{};   ///< of the rows of the sample, 0 to 1
    double error{};   ///< of the share, see `table_sample::error_of`
};

/// What is known of a member.
struct member_facts {
    std::string name;                                    ///< as in the sample
    sample_column::place at{};                           ///< where it stands
    std::vector<std::pair<edm_type, std::size_t>> types; ///< with how many rows of the sample have it
    double present{};                                    ///< share of the rows that have a value
    std::size_t distinct{};                              ///< values in the sample
    double distinct_estimate{};                          ///< values in the table
    double distinct_most{};                              ///< values in the table at the most
    bool unique{};                                       ///< every row of the sample has one, and no two the same
    std::vector<frequent_value> frequent;                ///< the most frequent ones
    /// How far it grows with the time of writing: rank correlation, -1 to 1. Nothing where times are not known.
    std::optional<double> growth;
    /// It is text made of digits, of different lengths: "111" stands before "2".
    bool unpadded_numbers{};
};

/// Neighbouring partitions of one entity each, which the service may serve as one range.
struct key_run {
    std::string first;     ///< its first partition key
    std::string last;      ///< its last partition key
    std::uint64_t keys{};  ///< how many
    bool takes_appends{};  ///< it is the end of the table, and keys grow: every new one goes there
    bool takes_prepends{}; ///< it is the beginning of the table, and keys fall: every new one goes there
};

/// What is there.
struct census {
    key_declaration declared;          ///< the keys
    std::uint64_t rows{};              ///< seen
    std::uint64_t bytes{};             ///< of these, in the service's measure
    std::size_t kept{};                ///< rows of the sample
    bool whole{};                      ///< these are all
    bool cut_short{};                  ///< there are more rows, which nobody has looked at
    double error_of_half{};            ///< how far a share of a half may be off (95 %)
    partition_facts partitions;        ///< of all rows seen
    std::vector<member_facts> members; ///< of the rows of the sample
    /// How far partition keys grow with the time of writing: rank correlation, -1 to 1.
    std::optional<double> key_growth;
    std::vector<key_run> runs; ///< the longest, at most 10, of two keys at the least
    heat_map writes{{}};       ///< rows of the sample by key and time of writing

    /// Null when there is no such member.
    [[nodiscard]] member_facts const* find(std::string_view name) const noexcept;
    /// For a terminal.
    [[nodiscard]] std::string to_string() const;
};

/// Looks at a sample. 10^6 rows take about a second.
[[nodiscard]] census take_census(table_sample const& sample);

namespace detail {

/// The facts of partitions with so many rows each; `largest_key` and bytes are the caller's.
[[nodiscard]] partition_facts facts_of_sizes(std::vector<std::uint64_t> rows);

} // namespace detail
ENTITABLE_END_NAMESPACE

#if !defined(ENTITABLE_SEPARATE_COMPILATION)
#include <entitable/advice/impl/census.ipp>
#endif
