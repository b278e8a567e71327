// SPDX-License-Identifier: MIT
// Copyright (c) 2026 the entitable authors
#pragma once

/// \file
/// Fast sorting of values and keys, and rank correlation.

#include <entitable/advice/sample.hpp>

#include <optional>

ENTITABLE_BEGIN_NAMESPACE
namespace detail {

/// Keys increase over time above this rank correlation; below its negative, they decrease.
inline constexpr double growing = 0.9;

/// Returns the first bytes of a text as a number in the order of the texts; texts with the same first bytes give the same number.
[[nodiscard]] std::uint64_t leading_bytes(std::string_view text) noexcept;
/// Sorts the numbers of texts in the service's order of the texts. `numbers`: the numbers to sort.
void sort_by_text(dictionary const& texts, std::vector<std::uint32_t>& numbers);
/// Sorts the numbers of a column's values in the order of the values, grouped by type.
void sort_by_value(sample_column const& column, std::vector<std::uint32_t>& numbers);

/// Returns Spearman's rank correlation of pairs, -1 to 1; ties get the mean of their ranks. nullopt if one side is constant, or there are
/// fewer than 3 pairs.
[[nodiscard]] std::optional<double> rank_correlation(std::vector<double> const& one, std::vector<double> const& other);

/// Returns at most `most` evenly spread rows, as a subset for order statistics.
[[nodiscard]] std::vector<std::size_t> spread_rows(std::size_t rows, std::size_t most);

/// Returns the rank correlation of a column with time, over the rows of a sample. nullopt if times are unknown or all the same.
[[nodiscard]] std::optional<double> growth_of(table_sample const& sample, sample_column const& column);

} // namespace detail
ENTITABLE_END_NAMESPACE

#if !defined(ENTITABLE_SEPARATE_COMPILATION)
#include <entitable/advice/impl/ranking.ipp>
#endif
