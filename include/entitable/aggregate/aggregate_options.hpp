// SPDX-License-Identifier: MIT
// Copyright (c) 2026 the entitable authors
#pragma once

/// \file
/// How `aggregated_table` goes about it, and what its operations answer.

#include <entitable/client/contention.hpp>
#include <entitable/core/clock.hpp>

#include <string>
#include <vector>

ENTITABLE_BEGIN_NAMESPACE

/// How a table with an aggregate goes about it.
struct aggregate_options {
    std::uint32_t max_attempts{50};     ///< the first one included, where other writers are faster; 0 is taken for 1
    backoff delays{contention_backoff}; ///< the waits between attempts
    clock* time{&system_clock()};       ///< of the waits; must outlive the table
    std::uint64_t seed{};               ///< of the waits; 0 for one from the clock
    double bound{1e-9};                 ///< by how much of itself a double may differ from its recomputation
};

/// What `verify` and `rebuild` of an `aggregated_table` found.
struct aggregate_audit {
    std::size_t entities{};           ///< read
    std::size_t rows{};               ///< of the aggregate that are right
    std::size_t different{};          ///< that were not; `rebuild` has written them anew
    std::vector<std::string> samples; ///< row keys of some that were not
};

ENTITABLE_END_NAMESPACE
