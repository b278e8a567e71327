// SPDX-License-Identifier: MIT
// Copyright (c) 2026 the entitable authors
#pragma once

#include <entitable/core/platform.hpp>

#if defined(_WIN32)
extern "C" __declspec(dllimport) int __stdcall SwitchToThread(void);
extern "C" __declspec(dllimport) void __stdcall Sleep(unsigned long);
#else
#include <sched.h>
#include <time.h>
#endif

ENTITABLE_BEGIN_NAMESPACE
namespace platform {

ENTITABLE_DECL void yield() noexcept {
#if defined(_WIN32)
    SwitchToThread();
#else
    sched_yield();
#endif
}

ENTITABLE_DECL void sleep_for(std::chrono::nanoseconds duration) noexcept {
    if (duration.count() <= 0) { return; }
#if defined(_WIN32)
    Sleep(static_cast<unsigned long>(duration.count() / 1'000'000 + 1));
#else
    timespec remaining{};
    remaining.tv_sec = static_cast<time_t>(duration.count() / 1'000'000'000);
    remaining.tv_nsec = static_cast<long>(duration.count() % 1'000'000'000);
    while (nanosleep(&remaining, &remaining) != 0) {
        // interrupted by a signal: `remaining` holds the rest
    }
#endif
}

} // namespace platform
ENTITABLE_END_NAMESPACE
