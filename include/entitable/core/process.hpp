// SPDX-License-Identifier: MIT
// Copyright (c) 2026 the entitable authors
#pragma once

/// \file
/// Whether this is still the process in which something was made: a child made by `fork` has a copy of all memory, but no copy of
/// the threads, and shares open files with its parent.

#include <entitable/core/config.hpp>

#include <cstdint>

ENTITABLE_BEGIN_NAMESPACE
namespace platform {

/// How many forks lie between this process and the first one that asked, where it is 0. Whoever keeps something that a child
/// must not use keeps this number with it and compares. Cheap: the system is not asked. Safe to call from several threads.
[[nodiscard]] std::uint64_t forks() noexcept;

} // namespace platform
ENTITABLE_END_NAMESPACE

#if !defined(ENTITABLE_SEPARATE_COMPILATION)
#include <entitable/core/impl/process.ipp>
#endif
