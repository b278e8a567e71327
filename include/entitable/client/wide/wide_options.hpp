// SPDX-License-Identifier: MIT
// Copyright (c) 2026 the entitable authors
#pragma once

/// \file
/// Options of `table<wide<E>>`, and the results of its writes.

#if !defined(ENTITABLE_IMPORTED)
#include <entitable/client/contention.hpp>
#include <entitable/core/clock.hpp>
#include <entitable/core/etag.hpp>

ENTITABLE_BEGIN_NAMESPACE

/// Options of a wide table.
struct wide_options {
    std::uint32_t max_attempts{50};     ///< attempts, including the first, if other writers come first; 0 counts as 1
    backoff delays{contention_backoff}; ///< delays between attempts
    clock* time{&system_clock()};       ///< clock of the delays; must outlive the table
    /// Seed of generations and delays; 0 for a new seed in each write. Other values are for tests without concurrent readers: each write
    /// has the same generation, so a reader can mistake parts of two writes for one entity.
    std::uint64_t seed{};
};

/// Outcome of a write of a wide entity.
struct wide_written {
    entitable::etag etag; ///< version after the write; empty after a removal
    std::size_t
        parts{}; ///< number of its rows in addition to the main row; 0 after a removal, and if nothing was written
    std::uint32_t attempts{}; ///< number of attempts, including the first
};

ENTITABLE_END_NAMESPACE

#endif
