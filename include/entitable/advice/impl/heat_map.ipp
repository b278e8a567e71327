// SPDX-License-Identifier: MIT
// Copyright (c) 2026 the entitable authors
#pragma once

#include <entitable/advice/detail/ranking.hpp>
#include <entitable/advice/heat_map.hpp>
#include <entitable/core/text.hpp>

#include <algorithm>
#include <cmath>
#include <functional>
#include <numeric>

ENTITABLE_BEGIN_NAMESPACE

ENTITABLE_DECL std::string_view to_string(heat_pattern pattern) noexcept {
    constexpr std::string_view words[] = {"nothing", "spread", "append", "prepend", "hot_key", "burst"};
    return words[static_cast<std::size_t>(pattern)];
}

ENTITABLE_DECL heat_map::heat_map(std::vector<std::string> const& keys) {
    for (std::size_t const index : detail::spread_rows(keys.size(), most_rows)) { bounds_.push_back(keys[index]); }
    if (bounds_.empty()) { bounds_.emplace_back(); }
    common_ = bounds_[0].size();
    for (std::string const& each : bounds_) {
        std::size_t same = 0;
        while (same < common_ && same < each.size() && each[same] == bounds_[0][same]) { ++same; }
        common_ = same;
    }
    for (std::string const& each : bounds_) {
        leading_.push_back(detail::leading_bytes(std::string_view{each}.substr(common_)));
    }
    cells_.assign(bounds_.size() * columns, 0);
}

ENTITABLE_DECL heat_map heat_map::of(table_sample const& sample) {
    std::vector<std::uint32_t> order(sample.partition_keys().size());
    std::iota(order.begin(), order.end(), std::uint32_t{0});
    detail::sort_by_text(sample.partition_keys(), order);
    std::vector<std::string> keys;
    for (std::size_t const index : detail::spread_rows(order.size(), most_rows)) {
        keys.emplace_back(sample.partition_keys()[order[index]]);
    }
    heat_map made{keys};
    sample_column const* const key = sample.find("PartitionKey");
    std::int64_t first = 0;
    for (std::int64_t const time : sample.times()) { first = time != 0 && (first == 0 || time < first) ? time : first; }
    if (key == nullptr || first == 0) { return made; }
    made.add(keys.front(), first, 0); // sets the start of the time axis
    for (std::size_t row = 0; row < sample.size(); ++row) {
        if (sample.times()[row] != 0) { made.add(key->value(key->codes[row]).as_string(), sample.times()[row]); }
    }
    return made;
}

ENTITABLE_DECL std::size_t heat_map::row_of(std::string_view key) const noexcept {
    if (key.substr(0, common_) != std::string_view{bounds_[0]}.substr(0, common_)) {
        return text::compare_utf16(key, bounds_[0]) < 0 ? 0 : rows() - 1; // the key is before all bounds, or after them
    }
    auto const alike = std::equal_range(leading_.begin(), leading_.end(), detail::leading_bytes(key.substr(common_)));
    // Bounds with equal leading bytes are compared by the rest.
    auto const begin = bounds_.begin() + (alike.first - leading_.begin());
    auto const end = bounds_.begin() + (alike.second - leading_.begin());
    auto const after = std::partition_point(
        begin, end, [&](std::string const& bound) { return text::compare_utf16(bound, key) <= 0; });
    return after == bounds_.begin() ? 0 : static_cast<std::size_t>(after - bounds_.begin()) - 1;
}

ENTITABLE_DECL void heat_map::add(std::string_view partition_key, std::int64_t time, double weight) {
    if (used_ == 0) {
        begin_ = time;
        last_ = time;
        used_ = 1;
    }
    last_ = (std::max)(last_, time);
    std::int64_t const since = time > begin_ ? time - begin_ : 0;
    while (since / width_ >= static_cast<std::int64_t>(columns)) {
        for (std::size_t row = 0; row < rows(); ++row) { // merges two columns into one
            double* const cells = cells_.data() + row * columns;
            for (std::size_t column = 0; column < columns; ++column) {
                cells[column] = 2 * column < columns ? cells[2 * column] + cells[2 * column + 1] : 0;
            }
        }
        used_ = (used_ + 1) / 2;
        width_ *= 2;
    }
    auto const column = static_cast<std::size_t>(since / width_);
    used_ = (std::max)(used_, column + 1);
    cells_[row_of(partition_key) * columns + column] += weight;
    total_ += weight;
}

ENTITABLE_DECL double heat_map::growth() const noexcept {
    std::vector<double> of_row(rows());
    std::vector<double> of_column(columns);
    for (std::size_t row = 0; row < rows(); ++row) {
        for (std::size_t column = 0; column < columns; ++column) {
            of_row[row] += at(row, column);
            of_column[column] += at(row, column);
        }
    }
    // The middle rank of each row and column, relative to the mean rank of all events.
    auto const ranks = [&](std::vector<double> weights) {
        double before = 0;
        for (double& each : weights) {
            double const weight = each;
            each = before + weight / 2 - total_ / 2;
            before += weight;
        }
        return weights;
    };
    std::vector<double> const row_rank = ranks(of_row);
    std::vector<double> const column_rank = ranks(of_column);
    double both = 0;
    double rows_squared = 0;
    double columns_squared = 0;
    for (std::size_t row = 0; row < rows(); ++row) {
        for (std::size_t column = 0; column < columns; ++column) {
            both += at(row, column) * row_rank[row] * column_rank[column];
        }
        rows_squared += of_row[row] * row_rank[row] * row_rank[row];
    }
    for (std::size_t column = 0; column < columns; ++column) {
        columns_squared += of_column[column] * column_rank[column] * column_rank[column];
    }
    return rows_squared <= 0 || columns_squared <= 0 ? 0 : both / std::sqrt(rows_squared * columns_squared);
}

ENTITABLE_DECL heat_pattern heat_map::pattern() const noexcept {
    if (total_ < 100 || used_ < 8 || rows() < 2) { return heat_pattern::nothing; }
    double const correlation = growth();
    if (std::fabs(correlation) > detail::growing) {
        return correlation > 0 ? heat_pattern::append : heat_pattern::prepend;
    }
    double hottest_row = 0;
    std::vector<double> of_column(columns);
    for (std::size_t row = 0; row < rows(); ++row) {
        double all = 0;
        for (std::size_t column = 0; column < columns; ++column) {
            all += at(row, column);
            of_column[column] += at(row, column);
        }
        hottest_row = (std::max)(hottest_row, all);
    }
    if (rows() > 4 && 2 * hottest_row > total_) { return heat_pattern::hot_key; }
    // Finds a tenth of the time that contains half of the events.
    std::sort(of_column.begin(), of_column.end(), std::greater<>{});
    double const busiest =
        std::accumulate(of_column.begin(), of_column.begin() + static_cast<std::ptrdiff_t>((used_ + 9) / 10), 0.0);
    return 2 * busiest > total_ ? heat_pattern::burst : heat_pattern::spread;
}

ENTITABLE_END_NAMESPACE
