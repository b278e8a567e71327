// SPDX-License-Identifier: MIT
// Copyright (c) 2026 the entitable authors
#pragma once

/// \file
/// Options of `aggregated_table`, and the results of its operations.

#include <entitable/client/contention.hpp>
#include <entitable/core/clock.hpp>

#include <string>
#include <vector>

ENTITABLE_BEGIN_NAMESPACE

/// Options of a table with an aggregate.
struct aggregate_options {
    std::uint32_t max_attempts{50};     ///< attempts, including the first, if other writers are faster; 0 counts as 1
    backoff delays{contention_backoff}; ///< delays between attempts
    clock* time{&system_clock()};       ///< clock of the delays; must outlive the table
    std::uint64_t seed{};               ///< seed of the delays; 0 for a random seed
    double bound{
        1e-9}; ///< maximal difference of a double from its recomputation, relative to its magnitude or to 1 if that is more
};

/// Findings of `verify` and `rebuild` of an `aggregated_table`.
struct aggregate_audit {
    std::size_t entities{};           ///< number of entities read
    std::size_t rows{};               ///< aggregate rows that were correct
    std::size_t different{};          ///< rows that were wrong; `rebuild` has rewritten them
    std::vector<std::string> samples; ///< row keys of the first 10 wrong rows
};

ENTITABLE_END_NAMESPACE
