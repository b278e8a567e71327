// SPDX-License-Identifier: MIT
// Copyright (c) 2026 the entitable authors
#pragma once

/// \file
/// Copies of tables, from any backend to any other and under other keys: `copy` and `copy_rows`. Part of the core, but not of its
/// umbrella, so that programs that copy nothing do not compile it.

#include <entitable/pattern/copy.hpp>
