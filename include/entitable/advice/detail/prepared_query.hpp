// SPDX-License-Identifier: MIT
// Copyright (c) 2026 the entitable authors
#pragma once

/// \file
/// `prepared_query`: a query as alternatives of conjunctions of comparisons, with the rows of a sample that satisfy each comparison.

#include <entitable/advice/sample.hpp>
#include <entitable/advice/workload.hpp>

ENTITABLE_BEGIN_NAMESPACE
namespace detail {

/// A comparison of a query, and the rows that satisfy it.
struct asked_leaf {
    int column{-1};         ///< column in the sample; -1: no row has the member
    bool equality{};        ///< fixes the member's value
    bool range{};           ///< bounds the member's value
    std::string text;       ///< constant of an equality, as in a key
    std::vector<char> rows; ///< for each row: 1 if it satisfies the comparison
};

/// A conjunction: leaves, by number.
using asked_alternative = std::vector<std::size_t>;

/// A query, ready to be scored.
struct prepared_query {
    asked_query const* asked{};
    std::vector<asked_leaf> leaves;
    std::vector<asked_alternative> alternatives;
    asked_values values{asked_values::as_stored}; ///< never `automatic`
    std::size_t satisfied{};                      ///< rows that satisfy the query as written
};

/// Prepares a query for these rows of a sample.
[[nodiscard]] prepared_query prepare(
    asked_query const& query, table_sample const& sample, std::vector<std::size_t> const& rows);

} // namespace detail
ENTITABLE_END_NAMESPACE

#if !defined(ENTITABLE_SEPARATE_COMPILATION)
#include <entitable/advice/impl/prepared_query.ipp>
#endif
