// SPDX-License-Identifier: MIT
// Copyright (c) 2026 the entitable authors
#pragma once

#include <entitable/advice/detail/ranking.hpp>
#include <entitable/advice/detail/scorer.hpp>

#include <algorithm>
#include <cmath>
#include <numeric>

ENTITABLE_BEGIN_NAMESPACE
namespace detail {

ENTITABLE_DECL void scorer::add_writes(row_groups const& partitions, std::vector<double>& loads) const {
    double const writes = load_->writes_per_second();
    double const latest = static_cast<double>(std::count(latest_.begin(), latest_.end(), char{1}));
    for (std::size_t row = 0; row < rows_.size(); ++row) {
        if (latest_[row] != 0) { loads[partitions.of_row[row]] += writes / latest; }
    }
}

ENTITABLE_DECL partition_loads scorer::loads_of(key_declaration const& declared) {
    partition_loads made;
    made.growth = growth_of(declared);
    std::vector<int> const columns = columns_of(declared.partition);
    row_groups const partitions = groups(columns);
    std::vector<double> loads(partitions.sizes.size());
    key_score unused;
    for (prepared_query const& each : queries_) { score_query(each, declared, partitions, loads, unused); }
    if (std::fabs(made.growth) <= growing) { add_writes(partitions, loads); }
    // Partitions in the order of their keys; a leading bucket is a hash.
    std::vector<std::size_t> row_of(partitions.sizes.size());
    for (std::size_t row = rows_.size(); row-- > 0;) { row_of[partitions.of_row[row]] = row; }
    std::vector<std::vector<std::uint32_t>> ranks;
    for (int const column : columns) {
        sample_column const& of = sample_->columns()[static_cast<std::size_t>(column)];
        std::vector<std::uint32_t> order(of.values.size());
        std::iota(order.begin(), order.end(), std::uint32_t{0});
        sort_by_value(of, order);
        std::vector<std::uint32_t> rank(order.size());
        for (std::size_t at = 0; at < order.size(); ++at) { rank[order[at]] = static_cast<std::uint32_t>(at); }
        std::vector<std::uint32_t> of_partition;
        bool const salted = ranks.empty() && !declared.partition.empty() && declared.partition[0].buckets > 0;
        for (std::size_t const row : row_of) {
            std::uint32_t const code = of.codes[rows_[row]];
            std::uint32_t const place = code == sample_column::absent ? ~std::uint32_t{} : rank[code];
            of_partition.push_back(salted ? static_cast<std::uint32_t>(mixed(place)) : place);
        }
        ranks.push_back(std::move(of_partition));
    }
    std::vector<std::size_t> order(loads.size());
    std::iota(order.begin(), order.end(), std::size_t{0});
    std::sort(order.begin(), order.end(), [&](std::size_t left, std::size_t right) {
        for (auto const& of : ranks) {
            if (of[left] != of[right]) { return of[left] < of[right]; }
        }
        return left < right;
    });
    for (std::size_t const partition : order) {
        made.loads.push_back(loads[partition]);
        made.keys.push_back(key_text(columns, row_of[partition]));
    }
    return made;
}

ENTITABLE_DECL std::vector<double> scorer::rows_of_values(
    std::string const& member, prepared_query const& query, std::vector<std::size_t> const& leaves) const {
    auto const found = groups_.find({column_of(member)});
    if (found == groups_.end()) { return {}; }
    std::vector<double> made(found->second.sizes.size());
    for (std::size_t row = 0; row < rows_.size(); ++row) {
        bool const inside = std::all_of(
            leaves.begin(), leaves.end(), [&](std::size_t leaf) { return query.leaves[leaf].rows[row] != 0; });
        made[found->second.of_row[row]] += inside ? 1 : 0;
    }
    return made;
}

ENTITABLE_DECL partition_loads scorer::loads_by(
    key_declaration const& declared, std::vector<std::string> const& members, std::size_t heads) {
    partition_loads made;
    std::vector<int> columns;
    for (std::string const& each : members) {
        if (int const column = column_of(each); column >= 0) { columns.push_back(column); }
    }
    made.growth = members.empty() ? 0 : growth_of(members.front());
    row_groups const by = groups(columns);
    made.loads.assign(by.sizes.size(), 0);
    key_score unused;
    for (prepared_query const& each : queries_) { score_query(each, declared, by, made.loads, unused); }
    add_writes(by, made.loads);
    std::vector<std::size_t> row_of(by.sizes.size());
    for (std::size_t row = rows_.size(); row-- > 0;) { row_of[by.of_row[row]] = row; }
    std::vector<int> const first(
        columns.begin(), columns.begin() + static_cast<std::ptrdiff_t>((std::min)(heads, columns.size())));
    for (std::size_t group = 0; group < row_of.size(); ++group) {
        made.keys.push_back(key_text(columns, row_of[group]));
        made.heads.push_back(key_text(first, row_of[group]));
        made.rows.push_back(by.sizes[group] / fraction_);
    }
    return made;
}

} // namespace detail
ENTITABLE_END_NAMESPACE
