// SPDX-License-Identifier: MIT
// Copyright (c) 2026 the entitable authors
#pragma once

/// \file
/// How `wide_table<E>` goes about it, and what its writes answer.

#include <entitable/client/contention.hpp>
#include <entitable/core/clock.hpp>
#include <entitable/core/etag.hpp>

ENTITABLE_BEGIN_NAMESPACE

/// How a wide table goes about it.
struct wide_options {
    std::uint32_t max_attempts{50};     ///< the first one included, where other writers are faster; 0 is taken for 1
    backoff delays{contention_backoff}; ///< the waits between attempts
    clock* time{&system_clock()};       ///< of the waits; must outlive the table
    /// Of generations and waits; 0 for a random one. Two writers of an entity must not have the same: a reader could take parts of both for
    /// one entity.
    std::uint64_t seed{};
};

/// A write of a wide entity that was made.
struct wide_written {
    entitable::etag etag;     ///< its version now; empty after a removal
    std::size_t parts{};      ///< rows that hold it, besides the main row; 0 after a removal
    std::uint32_t attempts{}; ///< the first one included
};

ENTITABLE_END_NAMESPACE
