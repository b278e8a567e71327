// SPDX-License-Identifier: MIT
// Copyright (c) 2026 the entitable authors
#pragma once

/// \file
/// The order of values and keys, quickly, and how far two orders agree.

#include <entitable/advice/sample.hpp>

#include <optional>

ENTITABLE_BEGIN_NAMESPACE
namespace detail {

/// From here on the rank correlation of keys and time says that keys grow with it; below the negative of it, that they fall.
inline constexpr double growing = 0.9;

/// The first bytes of a text as a number that compares as the text does, or ties.
[[nodiscard]] std::uint64_t leading_bytes(std::string_view text) noexcept;
/// The numbers of texts in the order of the texts, as the service compares them. `numbers` are those of interest.
void sort_by_text(dictionary const& texts, std::vector<std::uint32_t>& numbers);
/// The numbers of a column's values in the order of the values; types one after the other.
void sort_by_value(sample_column const& column, std::vector<std::uint32_t>& numbers);

/// Spearman's rank correlation, -1 to 1, of pairs; ties get the mean of their ranks. Nothing where one side is all the same, or
/// there are fewer than 3 pairs.
[[nodiscard]] std::optional<double> rank_correlation(std::vector<double> const& one, std::vector<double> const& other);

/// Rows that stand for all in what looks at order: `most` of them at the most, evenly spread.
[[nodiscard]] std::vector<std::size_t> spread_rows(std::size_t rows, std::size_t most);

/// How far a column grows with time, over the rows of a sample. Nothing where times are not known or all the same.
[[nodiscard]] std::optional<double> growth_of(table_sample const& sample, sample_column const& column);

} // namespace detail
ENTITABLE_END_NAMESPACE

#if !defined(ENTITABLE_SEPARATE_COMPILATION)
#include <entitable/advice/impl/ranking.ipp>
#endif
