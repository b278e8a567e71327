// SPDX-License-Identifier: MIT
// Copyright (c) 2026 the entitable authors
#pragma once

/// \file
/// `doctor`: a look through a store for what versions of before, killed programs and foreign writers may have left. Part of the core. The core
/// umbrella does not include it, so that other programs do not compile it.

#include <entitable/pattern/doctor.hpp>
