// SPDX-License-Identifier: MIT
// Copyright (c) 2026 the entitable authors
#pragma once

/// \file
/// Retries: `retrying`, its policies, and `resolve` for writes whose effect stayed unknown. Part of the core, but not of its
/// umbrella, so that programs without a network do not compile it.

#include <entitable/decorators/retrying.hpp>
#include <entitable/transport/resolve.hpp>
#include <entitable/transport/sweep.hpp>
