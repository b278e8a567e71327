// SPDX-License-Identifier: MIT
// Copyright (c) 2026 the entitable authors
#pragma once

/// \file
/// How writers that met at one entity get out of each other's way.

#include <entitable/core/backoff.hpp>

ENTITABLE_BEGIN_NAMESPACE

/// The waits between repetitions that other writers make necessary: short, and anything from nothing to twice as long, so
/// that contenders do not meet again.
inline constexpr backoff contention_backoff{.base = std::chrono::milliseconds{1},
    .least = std::chrono::nanoseconds{},
    .most = std::chrono::milliseconds{100},
    .jitter = 1,
    .jitter_at_cap = true};

ENTITABLE_END_NAMESPACE
