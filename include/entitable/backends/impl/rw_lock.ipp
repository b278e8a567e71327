// SPDX-License-Identifier: MIT
// Copyright (c) 2026 the entitable authors
#pragma once

#include <entitable/backends/detail/rw_lock.hpp>
#include <entitable/core/platform.hpp>

ENTITABLE_BEGIN_NAMESPACE
namespace detail {

/// Waits a little longer each time it is asked: awake, then giving way to others, then asleep.
class backoff {
public:
    void pause() noexcept {
        ++steps_;
        if (steps_ > awake + yielding) {
            platform::sleep_for(std::chrono::microseconds{50});
        } else if (steps_ > awake) {
            platform::yield();
        }
    }
    /// Some milliseconds have passed.
    [[nodiscard]] bool long_waited() const noexcept { return steps_ > awake + yielding + asleep; }

private:
    static constexpr unsigned awake = 100;
    static constexpr unsigned yielding = 2000;
    static constexpr unsigned asleep = 100;
    unsigned steps_{0};
};

ENTITABLE_DECL void rw_lock::wait_as_reader(std::uint32_t state) noexcept {
    // Counted already, so no writer enters before us: one that is inside will leave, to one that waits we give way.
    backoff patience;
    if ((state & writer_inside) == 0) {
        state_.fetch_sub(one_reader, std::memory_order_release);
        while ((state & (writer_inside | writer_waits)) == writer_waits && !patience.long_waited()) {
            patience.pause();
            state = state_.load(std::memory_order_relaxed);
        }
        state = state_.fetch_add(one_reader, std::memory_order_acquire);
    }
    while ((state & writer_inside) != 0) {
        patience.pause();
        state = state_.load(std::memory_order_acquire);
    }
}

ENTITABLE_DECL void rw_lock::wait_as_writer() noexcept {
    backoff patience;
    std::uint32_t state = state_.load(std::memory_order_relaxed);
    for (;;) {
        // The sign that one waits is taken down with the entry: the other writers put it up again.
        if ((state & ~writer_waits) == 0) {
            if (state_.compare_exchange_weak(
                    state, writer_inside, std::memory_order_acquire, std::memory_order_relaxed)) {
                return;
            }
            continue;
        }
        if ((state & writer_waits) == 0) {
            state_.fetch_or(writer_waits, std::memory_order_relaxed);
        }
        patience.pause();
        state = state_.load(std::memory_order_relaxed);
    }
}

} // namespace detail
ENTITABLE_END_NAMESPACE
