// SPDX-License-Identifier: MIT
// Copyright (c) 2026 the entitable authors
#pragma once

/// \file
/// Removal of old entities: `expire` removes them by age, `period_tables` drops whole tables. Part of the core. The core umbrella
/// does not include it, so that other programs do not compile it.

#include <entitable/bulk/expire/expire.hpp>
#include <entitable/bulk/expire/period_tables.hpp>
