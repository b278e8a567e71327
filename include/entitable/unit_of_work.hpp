// SPDX-License-Identifier: MIT
// Copyright (c) 2026 the entitable authors
#pragma once

/// \file
/// Entities that are read, changed as objects and saved together: `unit_of_work`. Part of the core. The core umbrella does not include it,
/// so that other programs do not compile it.

#include <entitable/work/tracking/unit_of_work.hpp>
