// SPDX-License-Identifier: MIT
// Copyright (c) 2026 the entitable authors
#pragma once

/// \file
/// The remaining time of a claim, and the ids that a queue generates. `store_clock`: an estimate of a store's clock from the times in its
/// responses, since the clock of the program may be wrong.

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

#if !defined(ENTITABLE_SEPARATE_COMPILATION)
#include <entitable/work/messaging/impl/held_time.ipp>
#endif
