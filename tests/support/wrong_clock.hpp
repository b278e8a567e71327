// SPDX-License-Identifier: MIT
// Copyright (c) 2026 the entitable authors
#pragma once

/// \file
/// The clock of a program whose time of day is wrong.

#include <entitable/core/clock.hpp>

namespace entitable_test {

/// Another clock with a time of day that differs from it by a constant. The monotonic time is the same.
class clock_off_by final : public entitable::clock {
public:
    clock_off_by(entitable::clock& right, std::chrono::nanoseconds by) : right_(right), by_(by) {}
    entitable::date_time now() noexcept override { return {right_.now().ticks + by_.count() / 100}; }
    entitable::steady_time steady() noexcept override { return right_.steady(); }
    void wait_until(entitable::steady_time time) noexcept override { right_.wait_until(time); }

private:
    entitable::clock& right_;
    std::chrono::nanoseconds by_;
};

} // namespace entitable_test
