// SPDX-License-Identifier: MIT
// Copyright (c) 2026 the entitable authors
#pragma once

/// \file
/// `scorer`: scores many declarations on one sample and one workload. Work that does not depend on the declaration is done once.

#include <entitable/advice/detail/prepared_query.hpp>
#include <entitable/advice/key_score.hpp>

#include <map>

ENTITABLE_BEGIN_NAMESPACE
namespace detail {

/// Rows grouped by their values in some columns.
struct row_groups {
    std::vector<std::uint32_t> of_row; ///< the group of each row
    std::vector<std::uint32_t> sizes;  ///< rows of each group
};

/// The part of a table that an alternative reads under a declaration.
struct narrowed {
    access_path access{access_path::table};
    std::vector<int> fixed;          ///< columns with one value, a prefix of the keys
    std::vector<std::size_t> bounds; ///< leaves that bound the next column
    double buckets{1};               ///< ranges that are queried concurrently
    bool one_partition{};
    std::string unordered;
};

/// The load of each partition, in the order of the keys.
struct partition_loads {
    std::vector<double> loads;      ///< entities a second; without the writes, if keys increase over time
    std::vector<std::string> keys;  ///< readable text
    std::vector<std::string> heads; ///< text of the first members, which were asked for
    std::vector<double> rows;       ///< estimated rows of the table
    double growth{};
};

/// Used by one thread at a time.
class scorer {
public:
    scorer(table_sample const& sample, workload const& load, service_targets const& targets);

    [[nodiscard]] key_score score(key_declaration const& declared);
    [[nodiscard]] partition_loads loads_of(key_declaration const& declared);
    /// Returns the load for each combination of values of some members, under a declaration. Includes all writes.
    [[nodiscard]] partition_loads loads_by(
        key_declaration const& declared, std::vector<std::string> const& members, std::size_t heads);
    /// Whether these members identify each row of the sample.
    [[nodiscard]] bool is_unique(std::vector<std::string> const& members);
    /// Returns the partitions that result from these members as the partition key.
    [[nodiscard]] partition_facts partitions_of(std::vector<std::string> const& members);
    /// Returns the rank correlation of a member with the time of writing; 0 if unknown.
    [[nodiscard]] double growth_of(std::string const& member);
    [[nodiscard]] std::vector<prepared_query> const& queries() const noexcept { return queries_; }
    [[nodiscard]] table_sample const& sample() const noexcept { return *sample_; }
    /// The share of the table's rows that are examined.
    [[nodiscard]] double fraction() const noexcept { return fraction_; }

    /// Returns for each value of a member, in the order of `loads_by`, the number of examined rows that satisfy some conditions of a query.
    [[nodiscard]] std::vector<double> rows_of_values(
        std::string const& member, prepared_query const& query, std::vector<std::size_t> const& leaves) const;
    /// Returns the column of a member; -1 if no row has it.
    [[nodiscard]] int column_of_member(std::string_view member) const noexcept { return column_of(member); }

private:
    [[nodiscard]] int column_of(std::string_view member) const noexcept;
    [[nodiscard]] std::vector<int> columns_of(std::vector<declared_component> const& components) const;
    [[nodiscard]] row_groups const& groups(std::vector<int> columns);
    [[nodiscard]] narrowed narrow(
        prepared_query const& query, asked_alternative const& alternative, key_declaration const& declared) const;
    void score_query(prepared_query const& query, key_declaration const& declared, row_groups const& partitions,
        std::vector<double>& loads, key_score& into);
    [[nodiscard]] double mean_rows(prepared_query const& query, asked_alternative const& alternative,
        std::vector<int> const& fixed, std::vector<std::size_t> const& bounds, double per_second,
        row_groups const* partitions, std::vector<double>* loads, double* most = nullptr);
    /// Counts the groups of rows with the same values in some members that are in one partition. Uses all rows of the sample.
    [[nodiscard]] together_score together(asked_writes const& writes, std::vector<int> const& partition);
    [[nodiscard]] row_groups const& all_groups(std::vector<int> columns, bool with_absent);
    void add_writes(row_groups const& partitions, std::vector<double>& loads) const;
    [[nodiscard]] double growth_of(key_declaration const& declared);
    [[nodiscard]] std::string key_text(std::vector<int> const& columns, std::size_t row) const;
    /// Scales `count` rows to the table, if one of these rows was selected deliberately.
    [[nodiscard]] double rows_behind(double count) const noexcept { return 1 + (count - 1) / fraction_; }

    table_sample const* sample_;
    workload const* load_;
    service_targets targets_;
    std::vector<std::size_t> rows_; ///< the examined rows of the sample
    std::vector<char> latest_;      ///< for each of these rows: 1 if it is one of the most recently written rows
    double fraction_{1};
    std::vector<prepared_query> queries_;
    std::map<std::vector<int>, row_groups> groups_;
    std::map<std::pair<std::vector<int>, bool>, row_groups> all_groups_; ///< of all rows of the sample
    std::map<std::string, double> growth_;
};

} // namespace detail
ENTITABLE_END_NAMESPACE

#if !defined(ENTITABLE_SEPARATE_COMPILATION)
#include <entitable/advice/impl/partition_loads.ipp>
#include <entitable/advice/impl/scorer.ipp>
#include <entitable/advice/impl/written_together.ipp>
#endif
