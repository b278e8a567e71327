// SPDX-License-Identifier: MIT
// Copyright (c) 2026 the entitable authors
#pragma once

/// \file
/// Many rows into a table, or out of it: `bulk_insert`, `bulk_upsert`, `bulk_remove`, `bulk_update`, `bulk_copy` and `bulk_estimate`. Part of the core, but
/// not of its umbrella, so that programs that load nothing do not compile it.

#include <entitable/bulk/bulk_copy.hpp>
#include <entitable/bulk/bulk_estimate.hpp>
#include <entitable/bulk/bulk_load.hpp>
#include <entitable/bulk/bulk_progress_line.hpp>
