// SPDX-License-Identifier: MIT
// Copyright (c) 2026 the entitable authors
#pragma once

/// \file
/// `contention`: the attempts of a writer that others may beat, with the waits between them.

#if !defined(ENTITABLE_IMPORTED)
#include <entitable/core/backoff.hpp>
#include <entitable/core/text.hpp>
#include <entitable/core/transport/run.hpp>

ENTITABLE_BEGIN_NAMESPACE
namespace detail {

/// Counts attempts and waits between them:
///
///     for (contention rivals{options.max_attempts, options.delays};;) {
///         ...                                      // returns if the attempt succeeded, or failed for another reason
///         if (rivals.is_last()) { return rivals.lost(std::move(refused)); }
///         ENTITABLE_CHECK(rivals.wait(random.unit(), context, time));
///     }
///
/// An operation takes the delay of its next attempt from `delay`. The delays must outlive this object.
class contention {
public:
    contention(std::uint32_t max_attempts, entitable::backoff const& delays) noexcept
        : max_attempts_(max_attempts), delays_(&delays) {}

    /// The number of the current attempt, from 1.
    [[nodiscard]] std::uint32_t attempt() const noexcept { return attempt_; }
    /// Whether no attempt is left after the current one.
    [[nodiscard]] bool is_last() const noexcept { return attempt_ >= max_attempts_; }

    /// Begins the next attempt, and returns the delay before it. `random`: at least 0, less than 1.
    [[nodiscard]] std::chrono::nanoseconds delay(double random) noexcept { return delays_->delay(attempt_++, random); }
    /// Begins the next attempt, and returns its time.
    [[nodiscard]] steady_time next(double random, steady_time now) noexcept {
        return now + std::chrono::duration_cast<steady_time::duration>(delay(random));
    }
    /// Begins the next attempt at once.
    void next_at_once() noexcept { ++attempt_; }
    /// Begins with the first attempt, for example after a success.
    void restart() noexcept { attempt_ = 1; }
    /// Begins the next attempt: waits until its time, and reports the wait before `due`. Errors: Cancelled and DeadlineExceeded.
    [[nodiscard]] result<void> wait(double random, call const& context, clock& time, request_ref due = {}) {
        steady_time const now = time.steady();
        steady_time const until = next(random, now);
        tell_wait(due, wait_cause::contention, context, now, until);
        return wait_until(until, context, time);
    }

    /// The error of the last attempt, with the number of attempts.
    [[nodiscard]] failure lost(error refused) const {
        failure made{std::move(refused)};
        made.error().message += text::joined({"; lost to other writers ", std::to_string(attempt_), " times"});
        made.error().attempts = attempt_;
        return made;
    }

private:
    std::uint32_t max_attempts_;
    std::uint32_t attempt_{1};
    entitable::backoff const* delays_;
};

/// The delays of a request that is sent again because its response was lost: 2 ms, 4 ms, and so on, at most a second.
inline constexpr entitable::backoff resend_backoff{.base = std::chrono::milliseconds{1},
    .least = std::chrono::milliseconds{1},
    .most = std::chrono::seconds{1},
    .jitter = 0};
/// How often such a request is sent.
inline constexpr std::uint32_t most_resends = 50;

} // namespace detail
ENTITABLE_END_NAMESPACE

#endif
