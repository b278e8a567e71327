// SPDX-License-Identifier: MIT
// Copyright (c) 2026 the entitable authors
#pragma once

/// \file
/// The remaining time of a claim, and the ids that a queue generates.

#include <entitable/core/clock.hpp>
#include <entitable/core/date_time.hpp>
#include <entitable/core/random.hpp>

#include <string>

ENTITABLE_BEGIN_NAMESPACE
namespace detail {

/// The end of a claim by the clock of the store, and the last known time of that clock.
struct held_time {
    date_time visible_at;
    date_time told;             ///< the time of the store in the last response
    steady_time responded_at{}; ///< steady time at which that response arrived

    /// Returns the estimated time of the store.
    [[nodiscard]] date_time store_time(steady_time now) const noexcept {
        return {told.ticks + std::chrono::duration_cast<std::chrono::nanoseconds>(now - responded_at).count() / 100};
    }
    /// The remaining time of the claim. HTTP dates have whole seconds, so one second is subtracted.
    [[nodiscard]] std::chrono::nanoseconds remaining(steady_time now) const noexcept {
        return std::chrono::nanoseconds{(visible_at.ticks - store_time(now).ticks) * 100} - std::chrono::seconds{1};
    }
};

/// Ids of messages and claims, 32 hexadecimal digits each; a child made by `fork` generates ids different from those of
/// its parent. Safe to use from several threads.
class fresh_ids {
public:
    /// Seed 0 chooses a fresh seed.
    explicit fresh_ids(std::uint64_t seed);

    [[nodiscard]] std::string next();
    /// Returns an id that begins with a time: ids that are made one after the other are adjacent in a store.
    [[nodiscard]] std::string next_at(date_time time);
    [[nodiscard]] random_source& random() noexcept { return random_; }

private:
    [[nodiscard]] std::uint64_t unlike_others();

    random_source random_;
    atomic<std::uint64_t> own_{0}; ///< number in the ids that a child process generates
    atomic<std::uint64_t> forks_;  ///< fork count for which `own_` is valid
};

} // namespace detail
ENTITABLE_END_NAMESPACE

#if !defined(ENTITABLE_SEPARATE_COMPILATION)
#include <entitable/work/messaging/impl/held_time.ipp>
#endif
