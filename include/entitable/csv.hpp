// SPDX-License-Identifier: MIT
// Copyright (c) 2026 the entitable authors
#pragma once

/// \file
/// Entities as CSV: `read_csv`, a range for bulk loads, and `write_csv`. Part of the core. The core umbrella does not include it.

#include <entitable/bulk/exchange/csv.hpp>
