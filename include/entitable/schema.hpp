// SPDX-License-Identifier: MIT
// Copyright (c) 2026 the entitable authors
#pragma once

/// \file
/// Changes of a struct whose rows are stored already: `schema_drift` finds the rows that do not fit, `migrate` rewrites them. Part of the
/// core. The core umbrella does not include it.

#include <entitable/bulk/schema/migrate.hpp>
#include <entitable/bulk/schema/schema_drift.hpp>
