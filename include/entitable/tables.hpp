// SPDX-License-Identifier: MIT
// Copyright (c) 2026 the entitable authors
#pragma once

/// \file
/// Tables of more than one kind of entity: `tables<A, B>`, and `row_table` for entities whose properties are known at run
/// time. Part of the core, but not of its umbrella, because it needs `<variant>`.

#include <entitable/client/row_table.hpp>
#include <entitable/client/tables.hpp>
#include <entitable/entitable.hpp>
