// SPDX-License-Identifier: MIT
// Copyright (c) 2026 the entitable authors
#pragma once

#include <entitable/core/atomic.hpp>
#include <entitable/core/process.hpp>

#if !defined(_WIN32)
#include <pthread.h>
#endif

ENTITABLE_BEGIN_NAMESPACE
namespace platform {

#if defined(_WIN32)

ENTITABLE_DECL std::uint64_t forks() noexcept { return 0; }

#else

ENTITABLE_DECL std::uint64_t forks() noexcept {
    static atomic<std::uint64_t> count{0};
    [[maybe_unused]] static int const registered =
        ::pthread_atfork(nullptr, nullptr, [] { count.fetch_add(1, memory_order::relaxed); });
    return count.load(memory_order::relaxed);
}

#endif

} // namespace platform
ENTITABLE_END_NAMESPACE
