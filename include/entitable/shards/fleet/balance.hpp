// SPDX-License-Identifier: MIT
// Copyright (c) 2026 the entitable authors
#pragma once

/// \file
/// `balanced`: distributes items of different sizes evenly over places and moves as little as possible. It is a pure
/// computation, without stores or a map.

#include <entitable/core/config.hpp>

#include <cstddef>
#include <vector>

ENTITABLE_BEGIN_NAMESPACE

/// An item to be placed.
struct balance_item {
    double size{};         ///< not negative
    std::size_t home{};    ///< its current place
    std::vector<bool> may; ///< whether the item may be in each place; empty: it may be in all places
};
/// The input of `balanced`.
struct balance_problem {
    std::vector<balance_item> items; ///< all items
    std::vector<double> weights;     ///< the number of shares, by place; 0 empties the place
    double threshold{1.05};          ///< a place holds at most this many times its share; at least 1
    bool only_forced{};              ///< moves only items that must leave their place
    std::size_t effort{50'000};      ///< number of arrangements examined for each threshold
};
/// The result of `balanced`.
struct balance_plan {
    bool possible{};                 ///< false if there is no permitted place for an item
    std::vector<std::size_t> places; ///< place of each item
    double before{};                 ///< the largest ratio of a place's load to its share; 1 is perfectly even
    double
        after{}; ///< the ratio afterwards: at most the threshold, or near the minimum if the threshold is unreachable
    double moved{}; ///< the total size of the moved items
};

/// Finds the places for which the total size moved is smallest. If no arrangement meets the threshold, raises it by hundredths until an arrangement does. Items that must leave their place always move. The result is exact if the effort is large enough (for about 20
/// items in 4 places), and otherwise near the optimum (measured by tests/fleet/rebalance.cpp).
[[nodiscard]] balance_plan balanced(balance_problem const& problem);

namespace detail {

/// Returns the largest ratio of a place's load to its share; places to be emptied do not count.
[[nodiscard]] double imbalance_of(balance_problem const& problem, std::vector<std::size_t> const& at);

} // namespace detail
ENTITABLE_END_NAMESPACE

#if !defined(ENTITABLE_SEPARATE_COMPILATION)
#include <entitable/shards/fleet/impl/balance.ipp>
#endif
