// SPDX-License-Identifier: MIT
// Copyright (c) 2026 the entitable authors
#pragma once

/// \file
/// Several key ranges of one query, made from a predicate or from the text of a filter.

#include <entitable/core/request/filter.hpp>
#include <entitable/core/request/key_range.hpp>

#include <vector>

ENTITABLE_BEGIN_NAMESPACE
namespace detail {

/// Sorts ranges and makes them disjoint. Within one partition this is exact; overlapping ranges over several partitions become one range
/// that contains both, and `exact` is cleared.
ENTITABLE_LAZY void make_disjoint(std::vector<key_range>& ranges, bool& exact);

/// The keys that can satisfy a condition.
struct ranges_of_filter {
    std::vector<key_range> ranges; ///< disjoint ranges in order; empty if no row can match
    bool exact{true};              ///< whether each row in the ranges satisfies the condition
};

/// Returns ranges that together contain each row that satisfies `condition`: at most 100, otherwise one range that contains them all.
/// `condition` must be well formed.
ENTITABLE_LAZY [[nodiscard]] ranges_of_filter key_ranges_of(filter const& condition);

} // namespace detail
ENTITABLE_END_NAMESPACE

#if !defined(ENTITABLE_SEPARATE_COMPILATION)
#include <entitable/core/request/impl/key_ranges.ipp>
#endif
