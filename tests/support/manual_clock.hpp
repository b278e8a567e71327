// SPDX-License-Identifier: MIT
// Copyright (c) 2026 the entitable authors
#pragma once

/// \file
/// A clock that only advances when a test advances it.

#include <entitable/core/clock.hpp>

#include <functional>
#include <vector>

namespace entitable_test {

/// Starts an hour after the epoch of the steady clock. A wait jumps to its end and is recorded.
class manual_clock final : public entitable::clock {
public:
    entitable::date_time now() noexcept override { return today; }
    entitable::steady_time steady() noexcept override { return steady_; }
    void wait_until(entitable::steady_time time) noexcept override {
        waits.push_back(time);
        steady_ = time > steady_ ? time : steady_;
        if (on_wait) { on_wait(); }
    }

    void advance(std::chrono::nanoseconds by) {
        steady_ += std::chrono::duration_cast<entitable::steady_time::duration>(by);
    }

    entitable::date_time today = entitable::date_time::from_date(2026, 1, 1);
    std::vector<entitable::steady_time> waits;
    std::function<void()> on_wait;

private:
    entitable::steady_time steady_{std::chrono::hours{1}};
};

} // namespace entitable_test
