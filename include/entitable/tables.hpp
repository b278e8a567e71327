// SPDX-License-Identifier: MIT
// Copyright (c) 2026 the entitable authors
#pragma once

/// \file
/// Several entity types, indexes and sums in one table: `table<A, B, ...>`, `unique`, `elsewhere`, `salted_aggregate`; and `row_table`, for
/// properties that are known at run time. Part of the core. The core umbrella does not include it, because it needs `<variant>`.

#if !defined(ENTITABLE_IMPORTED)
#include <entitable/client/companions/earlier_names.hpp>
#include <entitable/client/companions/several_types.hpp>
#include <entitable/client/row_table.hpp>
#include <entitable/entitable.hpp>

#endif
