// SPDX-License-Identifier: MIT
// Copyright (c) 2026 the entitable authors
#pragma once

/// \file
/// A seed that differs from process to process.

#if !defined(ENTITABLE_IMPORTED)
#include <entitable/core/config.hpp>

#include <cstdint>

ENTITABLE_BEGIN_NAMESPACE

/// Returns bits from the operating system, or from the clocks if the system has no random source. Not for secrets. Thread safety: safe to call from several
/// threads.
[[nodiscard]] std::uint64_t random_seed() noexcept;

ENTITABLE_END_NAMESPACE

#if !defined(ENTITABLE_SEPARATE_COMPILATION)
#include <entitable/core/impl/random_seed.ipp>
#endif

#endif
