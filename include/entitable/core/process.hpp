// SPDX-License-Identifier: MIT
// Copyright (c) 2026 the entitable authors
#pragma once

/// \file
/// Distinguishes a process from its children made by `fork`, which copy its memory, lack its threads, and share its open files.

#include <entitable/core/config.hpp>

#include <cstdint>

ENTITABLE_BEGIN_NAMESPACE
namespace platform {

/// Returns how many forks separate this process from the process that first called this function; always 0 on Windows. An object
/// that a forked child must not use stores this number and compares it. Cost: one load, after the first call. Thread safety: safe to call
/// from several threads.
[[nodiscard]] std::uint64_t forks() noexcept;

} // namespace platform
ENTITABLE_END_NAMESPACE

#if !defined(ENTITABLE_SEPARATE_COMPILATION)
#include <entitable/core/impl/process.ipp>
#endif
