// SPDX-License-Identifier: MIT
// Copyright (c) 2026 the entitable authors
#pragma once

/// \file
/// Tables that are queried by several keys: `indexed_table`. Part of the core, but not of its umbrella, so that programs without indexes do not
/// compile it.

#include <entitable/index/indexed_table.hpp>
