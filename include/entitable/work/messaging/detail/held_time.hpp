// SPDX-License-Identifier: MIT
// Copyright (c) 2026 the entitable authors
#pragma once

/// \file
/// How long a message is a worker's, and the names that a queue gives.

#include <entitable/core/clock.hpp>
#include <entitable/core/date_time.hpp>
#include <entitable/core/random.hpp>

#include <string>

ENTITABLE_BEGIN_NAMESPACE
namespace detail {

/// The end of a claim by the clock of the store, and what is known of that clock.
struct held_time {
    date_time visible_at;
    date_time told;        ///< the time of the store in the last answer
    steady_time told_at{}; ///< when that was

    /// The time of the store, as far as it is known.
    [[nodiscard]] date_time store_time(steady_time now) const noexcept {
        return {told.ticks + std::chrono::duration_cast<std::chrono::nanoseconds>(now - told_at).count() / 100};
    }
    /// How long it holds yet. Dates of HTTP are of whole seconds: one less.
    [[nodiscard]] std::chrono::nanoseconds remaining(steady_time now) const noexcept {
        return std::chrono::nanoseconds{(visible_at.ticks - store_time(now).ticks) * 100} - std::chrono::seconds{1};
    }
};

/// Names of messages and claims, 32 hexadecimal digits each; those of a child made by `fork` differ from its parent's. Safe to use from several
/// threads.
class fresh_ids {
public:
    /// 0: a seed of its own.
    explicit fresh_ids(std::uint64_t seed);

    [[nodiscard]] std::string next();
    /// One that begins with a time: what is made one after the other stands side by side in a store.
    [[nodiscard]] std::string next_at(date_time time);
    [[nodiscard]] random_source& random() noexcept { return random_; }

private:
    [[nodiscard]] std::uint64_t unlike_others();

    random_source random_;
    atomic<std::uint64_t> own_{0}; ///< in the names that a child gives
    atomic<std::uint64_t> forks_;  ///< of the process that this is
};

} // namespace detail
ENTITABLE_END_NAMESPACE

#if !defined(ENTITABLE_SEPARATE_COMPILATION)
#include <entitable/work/messaging/impl/held_time.ipp>
#endif
