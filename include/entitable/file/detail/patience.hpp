// SPDX-License-Identifier: MIT
// Copyright (c) 2026 the entitable authors
#pragma once

/// \file
/// How long a call may go on waiting for a file that others hold.

#include <entitable/core/clock.hpp>
#include <entitable/core/result.hpp>
#include <entitable/file/file_options.hpp>

ENTITABLE_BEGIN_NAMESPACE
namespace detail {

/// Ends with the deadline of the call or with the busy timeout, whichever comes first.
class patience {
public:
    patience(file_options const& options, steady_time deadline) noexcept
        : time_(options.local.time), timeout_(options.busy_timeout), deadline_(deadline) {}

    /// Ends after a time of its own.
    patience(file_options const& options, std::chrono::nanoseconds timeout) noexcept
        : time_(options.local.time), timeout_(timeout), deadline_(steady_time::max()) {}

    /// Waits for a moment, longer with each try; says whether it is worth trying again.
    [[nodiscard]] bool wait() noexcept {
        if (over()) {
            return false;
        }
        time_->wait_until(time_->steady() + step_);
        step_ = step_ < std::chrono::milliseconds{2} ? step_ * 2 : step_;
        return true;
    }
    /// The time begins with the first question, so that a call which need not wait does not look at the clock.
    [[nodiscard]] bool over() noexcept {
        steady_time const now = time_->steady();
        if (!begun_) {
            begun_ = true;
            auto const timeout = std::chrono::duration_cast<steady_time::duration>(timeout_);
            give_up_ = timeout > steady_time::max() - now ? steady_time::max() : now + timeout;
        }
        return now >= give_up_ || now >= deadline_;
    }
    [[nodiscard]] failure given_up() const {
        if (time_->steady() >= deadline_) {
            return failure{error_code::deadline_exceeded, "the deadline of the call passed while others held the file"};
        }
        return failure{error_code::store_busy,
            "others held the file for longer than the " +
                std::to_string(std::chrono::duration_cast<std::chrono::milliseconds>(timeout_).count()) +
                " ms that busy_timeout allows"};
    }

private:
    clock* time_;
    std::chrono::nanoseconds timeout_;
    steady_time deadline_;
    steady_time give_up_{};
    bool begun_{};
    steady_time::duration step_{std::chrono::microseconds{50}};
};

} // namespace detail
ENTITABLE_END_NAMESPACE
