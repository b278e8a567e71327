// SPDX-License-Identifier: MIT
// Copyright (c) 2026 the entitable authors
#pragma once

/// \file
/// Options of `aggregated_table`, and what its operations return.

#include <entitable/client/contention.hpp>
#include <entitable/core/clock.hpp>

#include <string>
#include <vector>

ENTITABLE_BEGIN_NAMESPACE

/// Options of a table with an aggregate.
struct aggregate_options {
    std::uint32_t max_attempts{50};     ///< including the first one, where other writers are faster; 0 counts as 1
    backoff delays{contention_backoff}; ///< the waits between attempts
    clock* time{&system_clock()};       ///< of the waits; must outlive the table
    std::uint64_t seed{};               ///< of the waits; 0 for a random one
    double bound{1e-9}; ///< by how much of itself, or of 1 if that is more, a double may differ from its recomputation
};

/// What `verify` and `rebuild` of an `aggregated_table` found.
struct aggregate_audit {
    std::size_t entities{};           ///< read
    std::size_t rows{};               ///< of the aggregate that were right
    std::size_t different{};          ///< rows that were not; `rebuild` has rewritten them
    std::vector<std::string> samples; ///< row keys of the first 10 that were not
};

ENTITABLE_END_NAMESPACE
