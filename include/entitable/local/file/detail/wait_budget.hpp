// SPDX-License-Identifier: MIT
// Copyright (c) 2026 the entitable authors
#pragma once

/// \file
/// The time that a call may wait for a file that other stores hold.

#include <entitable/core/transport/transport.hpp>
#include <entitable/core/try.hpp>
#include <entitable/local/file/file_options.hpp>

ENTITABLE_BEGIN_NAMESPACE
namespace detail {

/// A limit on waiting: the deadline of the call, its cancellation or the busy timeout, whichever comes first.
class wait_budget {
public:
    /// The call must outlive it.
    wait_budget(file_options const& options, call const& of) noexcept
        : wait_budget(options, of, options.busy_timeout) {}
    /// Uses the given timeout instead of the busy timeout.
    wait_budget(file_options const& options, call const& of, std::chrono::nanoseconds timeout) noexcept
        : time_(options.local.time), call_(&of), timeout_(timeout) {}

    /// Waits briefly, longer with each attempt; returns whether to try again.
    [[nodiscard]] bool wait() noexcept {
        if (over()) { return false; }
        pause();
        return true;
    }
    /// Waits briefly; more briefly if this thread has the next turn, because all other threads wait for it.
    void pause(bool next = false) noexcept {
        steady_time::duration const longest = next ? std::chrono::microseconds{200} : std::chrono::microseconds{3'200};
        time_->wait_until(time_->steady() + (step_ < longest ? step_ : longest));
        step_ = step_ < std::chrono::milliseconds{2} ? step_ * 2 : step_;
    }
    /// Starts the busy timeout at the first call, so that a call that does not wait does not read the clock.
    [[nodiscard]] bool over() noexcept {
        steady_time const now = time_->steady();
        if (!begun_) {
            begun_ = true;
            auto const timeout = std::chrono::duration_cast<steady_time::duration>(timeout_);
            give_up_ = timeout > (steady_time::max)() - now ? (steady_time::max)() : now + timeout;
        }
        return now >= give_up_ || now >= call_->deadline || call_->cancellation.cancelled();
    }
    /// Whether the call has ended, regardless of which store holds the file.
    [[nodiscard]] bool call_over() const noexcept {
        return call_->cancellation.cancelled() ||
            (call_->deadline != no_deadline && time_->steady() >= call_->deadline);
    }
    /// Restarts the busy timeout, because other stores released the file and now hold it again.
    void begin_anew() noexcept { begun_ = false; }

    [[nodiscard]] failure given_up() const {
        ENTITABLE_CHECK(check_call(*call_, *time_));
        return failure{error_code::store_busy,
            "other connections held the file for longer than the " +
                std::to_string(std::chrono::duration_cast<std::chrono::milliseconds>(timeout_).count()) +
                " ms of busy_timeout"};
    }

private:
    clock* time_;
    call const* call_;
    std::chrono::nanoseconds timeout_;
    steady_time give_up_{};
    bool begun_{};
    steady_time::duration step_{std::chrono::microseconds{50}};
};

} // namespace detail
ENTITABLE_END_NAMESPACE
