// SPDX-License-Identifier: MIT
// Copyright (c) 2026 the entitable authors
#pragma once

/// \file
/// Awaited calls of several entity types in one table: `async_table<A, B, ...>`. Part of the core. `entitable/async.hpp` does not include it, so
/// that programs with one type in a table do not compile it.

#include <entitable/async.hpp>
#include <entitable/async/async_several_types.hpp>
#include <entitable/tables.hpp>
