// SPDX-License-Identifier: MIT
// Copyright (c) 2026 the entitable authors
#pragma once

/// \file
/// An estimate of a store's clock from the times in its responses, since the clock of the program may be wrong.

#include <entitable/core/clock.hpp>
#include <entitable/core/date_time.hpp>

ENTITABLE_BEGIN_NAMESPACE
namespace detail {

/// The time of a store in its last response. Thread safety: one thread at a time.
class store_clock {
public:
    /// Stores the time of a response.
    void know(date_time told, clock& time) noexcept {
        told_ = told;
        steady_ = time.steady();
        own_ = time.now();
        known_ = true;
    }
    [[nodiscard]] bool known() const noexcept { return known_; }
    /// Returns the current time of the store, if it is known.
    [[nodiscard]] date_time now(clock& time) const noexcept { return {told_.ticks + ticks(time.steady() - steady_)}; }
    /// Whether the estimate is recent and both clocks of this program agree on its age. The steady clock may have stopped while the machine
    /// slept.
    [[nodiscard]] bool is_certain(clock& time) const noexcept {
        std::int64_t const by_steady = ticks(time.steady() - steady_);
        std::int64_t const by_date = time.now().ticks - own_.ticks;
        std::int64_t const difference = by_date > by_steady ? by_date - by_steady : by_steady - by_date;
        return known_ && by_steady < 60 * date_time::ticks_per_second && difference < date_time::ticks_per_second;
    }

private:
    [[nodiscard]] static std::int64_t ticks(steady_time::duration passed) noexcept {
        return std::chrono::duration_cast<std::chrono::nanoseconds>(passed).count() / 100;
    }

    date_time told_;
    steady_time steady_{};
    date_time own_;
    bool known_{};
};

} // namespace detail
ENTITABLE_END_NAMESPACE
