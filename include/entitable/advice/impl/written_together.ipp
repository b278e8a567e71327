// SPDX-License-Identifier: MIT
// Copyright (c) 2026 the entitable authors
#pragma once

#include <entitable/advice/detail/scorer.hpp>

#include <algorithm>

ENTITABLE_BEGIN_NAMESPACE
namespace detail {

ENTITABLE_DECL row_groups const& scorer::all_groups(std::vector<int> columns, bool with_absent) {
    auto const [place, is_new] = all_groups_.try_emplace({columns, with_absent});
    row_groups& made = place->second;
    if (!is_new) { return made; }
    made.of_row.assign(sample_->size(), 0);
    std::uint32_t count = sample_->size() == 0 ? 0 : 1;
    for (int const column : columns) {
        std::vector<std::uint32_t> const& codes = sample_->columns()[static_cast<std::size_t>(column)].codes;
        pair_numbers numbers{sample_->size()};
        for (std::size_t row = 0; row < sample_->size(); ++row) {
            std::uint32_t& group = made.of_row[row];
            bool const counts = with_absent || (codes[row] != sample_column::absent && group != dictionary::none);
            group = counts ? numbers.number_of(group, codes[row]) : dictionary::none;
        }
        count = numbers.size();
    }
    made.sizes.assign(count, 0);
    for (std::uint32_t const group : made.of_row) {
        if (group != dictionary::none) { ++made.sizes[group]; }
    }
    return made;
}

ENTITABLE_DECL together_score scorer::together(asked_writes const& writes, std::vector<int> const& partition) {
    together_score made;
    made.name = writes.name;
    made.members = writes.rate.together.names();
    std::vector<int> columns;
    for (std::string const& each : made.members) { columns.push_back(column_of(each)); }
    // A member that no row has: there are no groups.
    bool const missing = std::find(columns.begin(), columns.end(), -1) != columns.end();
    made.entities = writes.rate.per_transaction;
    if (missing || sample_->size() == 0) { return made; }
    row_groups const& shared = all_groups(std::move(columns), false);
    row_groups const& partitions = all_groups(partition, true);
    // The partitions of a group are the different pairs of both numbers.
    pair_numbers pairs{sample_->size()};
    std::vector<std::uint32_t> touched(shared.sizes.size());
    for (std::size_t row = 0; row < sample_->size(); ++row) {
        std::uint32_t const group = shared.of_row[row];
        if (group == dictionary::none) { continue; }
        std::uint32_t const known = pairs.size();
        touched[group] += pairs.number_of(group, partitions.of_row[row]) == known ? 1U : 0U;
    }
    double all_rows = 0;
    double all_touched = 0;
    for (std::size_t group = 0; group < touched.size(); ++group) {
        std::uint32_t const rows = shared.sizes[group];
        all_rows += rows;
        made.largest = (std::max)(made.largest, std::uint64_t{rows});
        if (rows < 2) { continue; }
        ++made.groups;
        made.whole += touched[group] == 1 && rows <= targets_.batch_rows ? 1U : 0U;
        all_touched += touched[group];
    }
    made.partitions_each = made.groups == 0 ? 0 : all_touched / static_cast<double>(made.groups);
    if (writes.rate.per_transaction <= 1 && !touched.empty()) {
        made.entities =
            (std::min)(all_rows / static_cast<double>(touched.size()), static_cast<double>(targets_.batch_rows));
    }
    return made;
}

} // namespace detail
ENTITABLE_END_NAMESPACE
