// SPDX-License-Identifier: MIT
// Copyright (c) 2026 the entitable authors
#pragma once

/// \file
/// Copies of tables, to any store and under other keys: `copy`, `copy_rows`. Part of the core. The core umbrella does not include
/// it, so that other programs do not compile it.

#include <entitable/bulk/copy/copy.hpp>
