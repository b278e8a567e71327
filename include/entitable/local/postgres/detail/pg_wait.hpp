// SPDX-License-Identifier: MIT
// Copyright (c) 2026 the entitable authors
#pragma once

/// \file
/// The limit of a wait for a PostgreSQL server: every blocking operation below a call's deadline takes such a limit.

#include <entitable/core/request/call.hpp>
#include <entitable/core/transport/transport.hpp>

#include <algorithm>
#include <chrono>

ENTITABLE_BEGIN_NAMESPACE
namespace detail {

/// How long a server may still respond after the call ended, so that its connection can be reused: after that the connection is closed.
inline constexpr std::chrono::milliseconds pg_grace{50};

/// A wait that ends with its call or at its own limit, whichever comes first. Refers to the call and the clock. Thread safety: one thread
/// at a time.
class pg_wait {
public:
    /// `most` counts from now, by the system's steady clock; the deadline of the call is measured by `time`.
    pg_wait(call const& context, clock& time, std::chrono::nanoseconds most) noexcept
        : context_(&context), time_(&time), end_(after(most)) {}
    /// Returns a wait for the same call with an earlier end.
    [[nodiscard]] pg_wait at_most(std::chrono::nanoseconds most) const noexcept {
        pg_wait made{*this};
        made.end_ = (std::min)(end_, after(most));
        return made;
    }
    /// Returns the reason for the call's end: Cancelled, DeadlineExceeded; success while it may continue.
    [[nodiscard]] result<void> allowed() const { return check_call(*context_, *time_); }
    /// Whether the call has ended, or the time of this wait is over.
    [[nodiscard]] bool over() const { return std::chrono::steady_clock::now() >= end_ || !allowed(); }
    /// Returns the remaining time; not negative.
    [[nodiscard]] std::chrono::nanoseconds left() const {
        auto least = std::chrono::duration_cast<std::chrono::nanoseconds>(end_ - std::chrono::steady_clock::now());
        if (context_->deadline != no_deadline) {
            least = (std::min)(
                least, std::chrono::duration_cast<std::chrono::nanoseconds>(context_->deadline - time_->steady()));
        }
        return (std::max)(least, std::chrono::nanoseconds{0});
    }
    /// Returns how long to sleep before the next check, in milliseconds: short, because a cancellation wakes no wait.
    [[nodiscard]] int slice() const {
        auto const rounded_up = std::chrono::duration_cast<std::chrono::milliseconds>(left()).count() + 1;
        return static_cast<int>((std::min)(rounded_up, decltype(rounded_up){20}));
    }
    [[nodiscard]] call const& context() const noexcept { return *context_; }
    [[nodiscard]] clock& time() const noexcept { return *time_; }

private:
    [[nodiscard]] static std::chrono::steady_clock::time_point after(std::chrono::nanoseconds most) noexcept {
        auto const now = std::chrono::steady_clock::now();
        auto const end = (std::chrono::steady_clock::time_point::max)();
        return most > end - now ? end : now + std::chrono::duration_cast<std::chrono::steady_clock::duration>(most);
    }

    call const* context_;
    clock* time_;
    std::chrono::steady_clock::time_point end_;
};

} // namespace detail
ENTITABLE_END_NAMESPACE
