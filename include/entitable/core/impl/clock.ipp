// SPDX-License-Identifier: MIT
// Copyright (c) 2026 the entitable authors
#pragma once

#include <entitable/core/clock.hpp>
#include <entitable/core/platform.hpp>

ENTITABLE_BEGIN_NAMESPACE
namespace detail {

class computer_clock final : public clock {
public:
    // This is on the path of each request, so it omits the checks of `from_system`: this time is never near the ends of
    // 64 bits.
    date_time now() noexcept override {
        auto const since = std::chrono::floor<date_time::duration>(std::chrono::system_clock::now().time_since_epoch());
        return {date_time::unix_epoch + since.count()};
    }
    steady_time steady() noexcept override { return std::chrono::steady_clock::now(); }
    void wait_until(steady_time time) noexcept override {
        platform::sleep_for(time - std::chrono::steady_clock::now());
    }
};

} // namespace detail

ENTITABLE_DECL clock& system_clock() noexcept {
    static detail::computer_clock instance;
    return instance;
}

ENTITABLE_END_NAMESPACE
