// SPDX-License-Identifier: MIT
// Copyright (c) 2026 the entitable authors
#pragma once

/// \file
/// `balanced`: how things of different sizes are spread evenly over places with the least moved. Figures only: no store, no map.

#include <entitable/core/config.hpp>

#include <cstddef>
#include <vector>

ENTITABLE_BEGIN_NAMESPACE

/// Something to be placed.
struct balance_item {
    double size{};         ///< not negative
    std::size_t home{};    ///< the place where it is
    std::vector<bool> may; ///< by place: whether it may be there; empty for everywhere
};
/// What is asked.
struct balance_problem {
    std::vector<balance_item> items; ///< all of them
    std::vector<double> weights;     ///< by place: how many shares it takes; 0: it is to be empty
    double threshold{1.05};          ///< a place holds at most so much times its share; 1 at least
    bool only_forced{};              ///< only what may not stay where it is moves
    std::size_t effort{50'000}; ///< arrangements that are looked at in search of the least, for each threshold tried
};
/// What was found.
struct balance_plan {
    bool possible{};                 ///< false: an item may be nowhere
    std::vector<std::size_t> places; ///< by item
    double before{};                 ///< the largest of all places divided by its share; 1 is even
    double after{}; ///< the same afterwards: at most the threshold, or little more than what can be reached
    double moved{}; ///< the size of all that moves
};

/// Finds places with the least moved. Where no arrangement keeps the threshold, it is raised by hundredths until one does. Items that may not
/// stay move always. Exact where the effort suffices, about 20 items in 4 places; else near the least (tests/fleet/rebalance.cpp measures it).
[[nodiscard]] balance_plan balanced(balance_problem const& problem);

ENTITABLE_END_NAMESPACE

#if !defined(ENTITABLE_SEPARATE_COMPILATION)
#include <entitable/fleet/impl/balance.ipp>
#endif
