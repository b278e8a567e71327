// SPDX-License-Identifier: MIT
// Copyright (c) 2026 the entitable authors
#pragma once

/// \file
/// Entities that are read, changed and written back together: `unit_of_work`. Part of the core, but not of its umbrella, so that programs
/// without one do not compile it.

#include <entitable/tracking/unit_of_work.hpp>
