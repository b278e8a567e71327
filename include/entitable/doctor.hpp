// SPDX-License-Identifier: MIT
// Copyright (c) 2026 the entitable authors
#pragma once

/// \file
/// `doctor`: checks a store for leftovers of earlier versions, killed programs and foreign writers. Part of the core. The core umbrella
/// does not include it, so that other programs do not compile it.

#include <entitable/advice/doctor/doctor.hpp>
