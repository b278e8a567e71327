// SPDX-License-Identifier: MIT
// Copyright (c) 2026 the entitable authors
#pragma once

/// \file
/// Options of `wide_table<E>`, and what its writes return.

#include <entitable/client/contention.hpp>
#include <entitable/core/clock.hpp>
#include <entitable/core/etag.hpp>

ENTITABLE_BEGIN_NAMESPACE

/// Options of a wide table.
struct wide_options {
    std::uint32_t max_attempts{50};     ///< including the first one, where other writers are faster; 0 counts as 1
    backoff delays{contention_backoff}; ///< the waits between attempts
    clock* time{&system_clock()};       ///< of the waits; must outlive the table
    /// Of generations and waits; 0 for a fresh one in each write. Another value is for tests without readers beside the writer: each write then
    /// has the same generation, so a reader can take parts of two writes for one entity.
    std::uint64_t seed{};
};

/// A write of a wide entity that was made.
struct wide_written {
    entitable::etag etag; ///< its version now; empty after a removal
    std::size_t parts{};  ///< rows that hold it, besides the main row; 0 after a removal, and where nothing was written
    std::uint32_t attempts{}; ///< including the first one
};

ENTITABLE_END_NAMESPACE
