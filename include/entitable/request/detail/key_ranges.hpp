// SPDX-License-Identifier: MIT
// Copyright (c) 2026 the entitable authors
#pragma once

/// \file
/// Several key ranges of one query, made of a predicate or of the text of a filter.

#include <entitable/request/filter.hpp>
#include <entitable/request/key_range.hpp>

#include <vector>

ENTITABLE_BEGIN_NAMESPACE
namespace detail {

/// Sorts ranges and makes them disjoint. Within one partition this is exact; ranges over several partitions that overlap become
/// the one that holds both, and `exact` is cleared.
ENTITABLE_LAZY void make_disjoint(std::vector<key_range>& ranges, bool& exact);

/// The keys that can satisfy a condition.
struct ranges_of_filter {
    std::vector<key_range> ranges; ///< disjoint and in order; none when no row can satisfy it
    bool exact{true};              ///< each row in them satisfies it
};

/// Ranges that together hold each row that satisfies `condition`: 100 at most, else the one that holds them all. `condition` is well
/// formed.
ENTITABLE_LAZY [[nodiscard]] ranges_of_filter key_ranges_of(filter const& condition);

} // namespace detail
ENTITABLE_END_NAMESPACE

#if !defined(ENTITABLE_SEPARATE_COMPILATION)
#include <entitable/request/impl/key_ranges.ipp>
#endif
