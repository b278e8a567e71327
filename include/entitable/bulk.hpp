// SPDX-License-Identifier: MIT
// Copyright (c) 2026 the entitable authors
#pragma once

/// \file
/// Bulk writes and removals of many rows: `bulk_insert`, `bulk_upsert`, `bulk_update`, `bulk_remove`, `bulk_copy`. Part of the core. The
/// core umbrella does not include it, so that other programs do not compile it.

#include <entitable/bulk/bulk_copy.hpp>
#include <entitable/bulk/bulk_estimate.hpp>
#include <entitable/bulk/bulk_load.hpp>
#include <entitable/bulk/bulk_progress_line.hpp>
