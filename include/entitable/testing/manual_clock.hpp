// SPDX-License-Identifier: MIT
// Copyright (c) 2026 the entitable authors
#pragma once

/// \file
/// `manual_clock`: a clock that a test moves.

#include <entitable/core/atomic.hpp>
#include <entitable/core/clock.hpp>

ENTITABLE_BEGIN_NAMESPACE
namespace testing {

/// A clock that stands still at `start` until it is moved; a wait ends immediately and moves the clock to the end of the wait. The
/// monotonic time starts at the computer's monotonic time, so that deadlines measured by the computer's clock are in the future.
///
/// Thread safety: safe to use from several threads; waits of several threads add up.
class manual_clock final : public clock {
public:
    /// Starts at `start`, UTC.
    explicit manual_clock(date_time start = date_time::from_date(2026, 1, 1)) noexcept
        : day_(start.ticks), steady_(std::chrono::steady_clock::now().time_since_epoch().count()) {}

    date_time now() noexcept override { return {day_.fetch_add(step_.load(relaxed), relaxed)}; }
    steady_time steady() noexcept override {
        std::int64_t const step = step_.load(relaxed) * 100; // nanoseconds
        std::chrono::nanoseconds const by{step};
        auto const ticks = std::chrono::duration_cast<steady_time::duration>(by).count();
        return steady_time{steady_time::duration{steady_.fetch_add(ticks, relaxed)}};
    }
    void wait_until(steady_time time) noexcept override {
        steady_time const at{steady_time::duration{steady_.load(relaxed)}};
        if (time > at) { advance(time - at); }
    }

    /// Moves both times forward.
    void advance(std::chrono::nanoseconds by) noexcept {
        day_.fetch_add(by.count() / 100, relaxed);
        steady_.fetch_add(std::chrono::duration_cast<steady_time::duration>(by).count(), relaxed);
    }
    /// Sets the time of day, forward or back. The monotonic time does not change.
    void set(date_time day) noexcept { day_.store(day.ticks, relaxed); }
    /// Moves a time forward by this amount at each later reading of it; zero stops this.
    void advance_with_each_look(std::chrono::nanoseconds by) noexcept { step_.store(by.count() / 100, relaxed); }

private:
    static constexpr memory_order relaxed = memory_order::relaxed;

    atomic<std::int64_t> day_;
    atomic<std::int64_t> steady_;
    atomic<std::int64_t> step_{0};
};

} // namespace testing
ENTITABLE_END_NAMESPACE
