// SPDX-License-Identifier: MIT
// Copyright (c) 2026 the entitable authors
#pragma once

/// \file
/// Results of folds over tables, stored and refreshed as a whole: `materialized_view`. Part of the core. The core umbrella does not
/// include it, so that other programs do not compile it.

#include <entitable/bulk/views/materialized_view.hpp>
