// SPDX-License-Identifier: MIT
// Copyright (c) 2026 the entitable authors
#pragma once

/// \file
/// Differences between operating systems: yielding the processor and sleeping. The standard `<thread>` would add a fifth to the core's
/// compile time.

#include <entitable/core/chrono.hpp>
#include <entitable/core/config.hpp>

ENTITABLE_BEGIN_NAMESPACE
namespace platform {

/// Lets another thread run.
void yield() noexcept;

/// Blocks the calling thread for at least `duration`; returns immediately if it is zero or negative.
void sleep_for(std::chrono::nanoseconds duration) noexcept;

} // namespace platform
ENTITABLE_END_NAMESPACE

#if !defined(ENTITABLE_SEPARATE_COMPILATION)
#include <entitable/core/impl/platform.ipp>
#endif
