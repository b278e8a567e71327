// SPDX-License-Identifier: MIT
// Copyright (c) 2026 the entitable authors
#pragma once

/// \file
/// Back-off of writers that contend for one entity.

#if !defined(ENTITABLE_IMPORTED)
#include <entitable/core/backoff.hpp>

ENTITABLE_BEGIN_NAMESPACE

/// Delays between attempts after a conflict with other writers: short, with a jitter from zero to twice the delay, so that contenders do
/// not collide again.
inline constexpr backoff contention_backoff{.base = std::chrono::milliseconds{1},
    .least = std::chrono::nanoseconds{},
    .most = std::chrono::milliseconds{100},
    .jitter = 1,
    .jitter_at_cap = true};

ENTITABLE_END_NAMESPACE

#endif
