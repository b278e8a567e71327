// SPDX-License-Identifier: MIT
// Copyright (c) 2026 the entitable authors
#pragma once

/// \file
/// `clock`: the library's source of time, injected so that tests need not wait.

#if !defined(ENTITABLE_IMPORTED)
#include <entitable/core/chrono.hpp>
#include <entitable/core/date_time.hpp>

ENTITABLE_BEGIN_NAMESPACE

/// A point in time of the monotonic clock, used for deadlines.
using steady_time = std::chrono::steady_clock::time_point;

/// A source of time. Thread safety: implementations are safe to call from several threads.
class clock {
public:
    virtual ~clock() = default;

    /// The time of day, for Timestamps. The clock may be set back; a caller that needs increasing values must ensure that itself.
    [[nodiscard]] virtual date_time now() noexcept = 0;
    /// The monotonic time, for deadlines and delays.
    [[nodiscard]] virtual steady_time steady() noexcept = 0;
    /// Returns when `steady()` has reached `time`. Does not throw, except that the clock for code on stacks of a loop unwinds code whose
    /// loop is destroyed (`on_own_stack`).
    virtual void wait_until(steady_time time) = 0;
};

/// The computer's clock; valid for the whole program, without state.
[[nodiscard]] clock& system_clock() noexcept;

ENTITABLE_END_NAMESPACE

#if !defined(ENTITABLE_SEPARATE_COMPILATION)
#include <entitable/core/impl/clock.ipp>
#endif

#endif
