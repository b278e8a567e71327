// SPDX-License-Identifier: MIT
// Copyright (c) 2026 the entitable authors
#pragma once

/// \file
/// Entities with an end: `expire` removes old ones, `period_tables` drops tables of old ones. Part of the core; apart from its
/// umbrella so that programs that keep everything do not compile it.

#include <entitable/bulk/expire.hpp>
#include <entitable/pattern/period_tables.hpp>
