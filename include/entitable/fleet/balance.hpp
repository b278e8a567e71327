// SPDX-License-Identifier: MIT
// Copyright (c) 2026 the entitable authors
#pragma once

/// \file
/// `balanced`: spreads items of different sizes evenly over places, and moves the least. Figures only: no store, no map.

#include <entitable/core/config.hpp>

#include <cstddef>
#include <vector>

ENTITABLE_BEGIN_NAMESPACE

/// An item to be placed.
struct balance_item {
    double size{};         ///< not negative
    std::size_t home{};    ///< the place where it is
    std::vector<bool> may; ///< by place: whether it may be there; empty: everywhere
};
/// The input of `balanced`.
struct balance_problem {
    std::vector<balance_item> items; ///< all of them
    std::vector<double> weights;     ///< by place: how many shares it takes; 0: it becomes empty
    double threshold{1.05};          ///< a place holds at most that many times its share; 1 at least
    bool only_forced{};              ///< moves only items that may not stay where they are
    std::size_t effort{50'000};      ///< arrangements that are examined, for each threshold tried
};
/// The outcome of `balanced`.
struct balance_plan {
    bool possible{};                 ///< false where an item may be in no place
    std::vector<std::size_t> places; ///< by item
    double before{};                 ///< the largest of all places divided by its share; 1 is even
    double
        after{}; ///< the same afterwards: at most the threshold; where that cannot be reached, near the least that can
    double moved{}; ///< the size of all that moves
};

/// Finds places with the least moved. Where no arrangement keeps the threshold, it is raised by hundredths until one does. Items that may not
/// stay always move. Exact where the effort suffices, about 20 items in 4 places; else near the least (tests/fleet/rebalance.cpp measures it).
[[nodiscard]] balance_plan balanced(balance_problem const& problem);

ENTITABLE_END_NAMESPACE

#if !defined(ENTITABLE_SEPARATE_COMPILATION)
#include <entitable/fleet/impl/balance.ipp>
#endif
