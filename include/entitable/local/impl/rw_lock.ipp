// SPDX-License-Identifier: MIT
// Copyright (c) 2026 the entitable authors
#pragma once

#include <entitable/core/platform.hpp>
#include <entitable/local/detail/rw_lock.hpp>

#if defined(_MSC_VER)
#include <intrin.h>
#endif

ENTITABLE_BEGIN_NAMESPACE
namespace detail {

/// Tells the processor that this thread spins; does not yield to other threads.
ENTITABLE_DECL void relax_processor() noexcept {
#if defined(_MSC_VER)
#if defined(_M_IX86) || defined(_M_X64)
    _mm_pause();
#else
    __yield();
#endif
#elif defined(__i386__) || defined(__x86_64__)
    __builtin_ia32_pause();
#elif defined(__aarch64__)
    asm volatile("yield");
#endif
}

/// Waits a little longer each time: spinning, then yielding, then sleeping.
class backoff {
public:
    void pause() noexcept {
        ++steps_;
        if (steps_ <= awake) {
            relax_processor();
        } else if (steps_ <= awake + yielding) {
            platform::yield();
        } else {
            platform::sleep_for(std::chrono::microseconds{50});
        }
    }
    /// Whether some milliseconds have passed.
    [[nodiscard]] bool long_waited() const noexcept { return steps_ > awake + yielding + asleep; }

private:
    static constexpr unsigned awake = 200; ///< some microseconds: longer than most updates hold a lock
    static constexpr unsigned yielding = 2000;
    static constexpr unsigned asleep = 100;
    unsigned steps_{0};
};

ENTITABLE_DECL void rw_lock::wait_as_reader(std::uint64_t state) noexcept {
    // This reader is already counted, so no writer can enter before it. Waits for active readers to end, or gives way to a waiting writer.
    backoff patience;
    if ((state & readers_out) == 0) {
        state_.fetch_sub(one_reader, memory_order::release);
        while ((state & (readers_out | readers_give_way)) == readers_give_way && !patience.long_waited()) {
            patience.pause();
            state = state_.load(memory_order::relaxed);
        }
        state = state_.fetch_add(one_reader, memory_order::acquire);
    }
    while ((state & readers_out) != 0) {
        patience.pause();
        state = state_.load(memory_order::acquire);
    }
}

ENTITABLE_DECL void rw_lock::wait_for_writer() noexcept {
    backoff patience;
    do { patience.pause(); } while (!try_shut_out_writers(0));
}

ENTITABLE_DECL void rw_lock::wait_for_readers() noexcept {
    backoff patience;
    std::uint64_t state = state_.fetch_or(readers_give_way, memory_order::relaxed) | readers_give_way;
    for (;;) {
        if ((state & readers) != 0) {
            patience.pause();
            state = state_.load(memory_order::relaxed);
        } else if (state_.compare_exchange_weak(
                       state, state - readers_give_way + readers_out, memory_order::acquire, memory_order::relaxed)) {
            return;
        }
    }
}

} // namespace detail
ENTITABLE_END_NAMESPACE
