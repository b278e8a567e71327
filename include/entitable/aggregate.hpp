// SPDX-License-Identifier: MIT
// Copyright (c) 2026 the entitable authors
#pragma once

/// \file
/// Counts and sums in the same transaction as their entities: `aggregated_table`. Part of the core. The core umbrella does not
/// include it, so that other programs do not compile it.

#include <entitable/client/companions/aggregated_table.hpp>
