// SPDX-License-Identifier: MIT
// Copyright (c) 2026 the entitable authors
#pragma once

/// \file
/// Retries that know what a repetition may mean: `retrying`, its policies, and `resolve` for writes whose effect stayed unknown.
/// Part of the core. The core umbrella does not include it, so that other programs do not compile it.

#include <entitable/decorators/retrying.hpp>
#include <entitable/transport/resolve.hpp>
#include <entitable/transport/sweep.hpp>
