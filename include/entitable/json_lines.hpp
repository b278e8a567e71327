// SPDX-License-Identifier: MIT
// Copyright (c) 2026 the entitable authors
#pragma once

/// \file
/// Entities as JSON lines: `read_json_lines`, a range for bulk loads, and `write_json_lines`. Part of the core. The core umbrella does not
/// include it.

#include <entitable/bulk/exchange/json_lines.hpp>
