// SPDX-License-Identifier: MIT
// Copyright (c) 2026 the entitable authors
#pragma once

/// \file
/// Retries that respect the effect of repeating a request: `retrying`, its policies, and `resolve` for writes of unknown effect; `limited`
/// for a rate of requests, and `breaking`, a circuit breaker. Part of
/// the core. The core umbrella does not include it, so that other programs do not compile it.

#if !defined(ENTITABLE_IMPORTED)
#include <entitable/core/decorators/breaking.hpp>
#include <entitable/core/decorators/limited.hpp>
#include <entitable/core/decorators/retrying.hpp>
#include <entitable/core/transport/resolve.hpp>
#include <entitable/core/transport/sweep.hpp>

#endif
