// SPDX-License-Identifier: MIT
// Copyright (c) 2026 the entitable authors
#pragma once

/// \file
/// How writers that contend for one entity back off.

#include <entitable/core/backoff.hpp>

ENTITABLE_BEGIN_NAMESPACE

/// The waits between attempts when other writers were faster: short, and from nothing to twice as long, so that contenders do not meet
/// again.
inline constexpr backoff contention_backoff{.base = std::chrono::milliseconds{1},
    .least = std::chrono::nanoseconds{},
    .most = std::chrono::milliseconds{100},
    .jitter = 1,
    .jitter_at_cap = true};

ENTITABLE_END_NAMESPACE
