// SPDX-License-Identifier: MIT
// Copyright (c) 2026 the entitable authors
#pragma once

/// \file
/// Differences between operating systems: yielding the processor, sleeping, and children made by `fork`, which copy the memory of a process,
/// lack its threads, and share its open files. The standard `<thread>` would add a fifth to the core's compile time.

#include <entitable/core/chrono.hpp>
#include <entitable/core/config.hpp>

#include <cstdint>

ENTITABLE_BEGIN_NAMESPACE

namespace platform {

/// Lets another thread run.
void yield() noexcept;

/// Blocks the calling thread for at least `duration`; returns immediately if it is zero or negative.
void sleep_for(std::chrono::nanoseconds duration) noexcept;

} // namespace platform

namespace platform {

/// Returns how many forks separate this process from the process that first called this function; always 0 on Windows. An object
/// that a forked child must not use stores this number and compares it. Cost: one load, after the first call. Thread safety: safe to call
/// from several threads.
[[nodiscard]] std::uint64_t forks() noexcept;

} // namespace platform

ENTITABLE_END_NAMESPACE

#if !defined(ENTITABLE_SEPARATE_COMPILATION)
#include <entitable/core/impl/platform.ipp>
#endif
