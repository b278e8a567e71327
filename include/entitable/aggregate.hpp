// SPDX-License-Identifier: MIT
// Copyright (c) 2026 the entitable authors
#pragma once

/// \file
/// Sums that are kept beside their entities: `aggregated_table`. Part of the core, but not of its umbrella, so that programs without them do
/// not compile it.

#include <entitable/aggregate/aggregated_table.hpp>
