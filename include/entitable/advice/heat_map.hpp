// SPDX-License-Identifier: MIT
// Copyright (c) 2026 the entitable authors
#pragma once

/// \file
/// `heat_map`: events by key and time, counted in a grid of fixed size, and the pattern in the grid: a diagonal is a key that increases
/// over time.

#include <entitable/advice/sample.hpp>

#include <string>
#include <string_view>
#include <vector>

ENTITABLE_BEGIN_NAMESPACE

/// The pattern of a heat map.
enum class heat_pattern : std::uint8_t {
    nothing, ///< there are too few events, or all events are at the same time
    spread,  ///< there are events everywhere, all the time
    append,  ///< a diagonal upwards: keys increase over time
    prepend, ///< a diagonal downwards: keys decrease over time
    hot_key, ///< a bright row: half of the events fall on a small part of the keys
    burst,   ///< a bright column: half of the events fall within a small part of the time
};

/// Returns the name, such as "append".
[[nodiscard]] std::string_view to_string(heat_pattern pattern) noexcept;

/// Counts events in constant memory. Used by one thread at a time.
class heat_map {
public:
    static constexpr std::size_t columns = 96;   ///< columns; each is an interval of time
    static constexpr std::size_t most_rows = 48; ///< maximum number of rows; each is a range of keys

    /// Uses table rows that begin at these keys, which are in the order of the service. At most `most_rows` of them are used, evenly
    /// spread.
    explicit heat_map(std::vector<std::string> const& keys);
    /// Makes a heat map of a sample: its rows cover equal numbers of partitions, and the time of each table row is an event.
    [[nodiscard]] static heat_map of(table_sample const& sample);

    /// Counts an event. Times may come in any order; the scale grows with them. Events before the first counted event go into the first
    /// column.
    void add(std::string_view partition_key, std::int64_t time, double weight = 1);

    [[nodiscard]] std::size_t rows() const noexcept { return bounds_.size(); } ///< number of ranges of keys
    [[nodiscard]] std::string const& key(std::size_t row) const noexcept {
        return bounds_[row];
    } ///< first key of a row
    /// Returns the events in a cell.
    [[nodiscard]] double at(std::size_t row, std::size_t column) const noexcept {
        return cells_[row * columns + column];
    }
    [[nodiscard]] std::size_t used_columns() const noexcept {
        return used_;
    } ///< columns up to the last column with an event
    [[nodiscard]] double total() const noexcept { return total_; }       ///< number of events
    [[nodiscard]] std::int64_t begin() const noexcept { return begin_; } ///< time of the first column
    [[nodiscard]] std::int64_t last() const noexcept { return last_; }   ///< time of the latest event
    [[nodiscard]] std::int64_t width() const noexcept { return width_; } ///< duration of one column
    /// Returns the rank correlation of rows and columns, weighted by events; 0 if there are no events.
    [[nodiscard]] double growth() const noexcept;
    /// Returns the pattern.
    [[nodiscard]] heat_pattern pattern() const noexcept;

private:
    [[nodiscard]] std::size_t row_of(std::string_view key) const noexcept;

    std::vector<std::string> bounds_;
    std::size_t common_{};               ///< length of the common prefix of all bounds
    std::vector<std::uint64_t> leading_; ///< the bytes of each bound after the prefix
    std::vector<double> cells_;
    std::int64_t begin_{};
    std::int64_t last_{};
    std::int64_t width_{1};
    std::size_t used_{};
    double total_{};
};

ENTITABLE_END_NAMESPACE

#if !defined(ENTITABLE_SEPARATE_COMPILATION)
#include <entitable/advice/impl/heat_map.ipp>
#endif
