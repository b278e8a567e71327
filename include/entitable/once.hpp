// SPDX-License-Identifier: MIT
// Copyright (c) 2026 the entitable authors
#pragma once

/// \file
/// A function that runs once for each key, over all programs: `once`. Part of the core. The core umbrella does not include it, so that
/// other programs do not compile it.

#include <entitable/work/once/once.hpp>
