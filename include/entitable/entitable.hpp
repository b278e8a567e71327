// SPDX-License-Identifier: MIT
// Copyright (c) 2026 the entitable authors
#pragma once

/// \file
/// Entities, tables, queries and batches, on any store: `table`, `fields`, `batch`, `any_store`. Needs only the standard library. Each store
/// has a separate umbrella header.

#if !defined(ENTITABLE_IMPORTED)
#include <entitable/client/batch.hpp>
#include <entitable/client/extern.hpp>
#include <entitable/client/instantiate.hpp>
#include <entitable/client/mapping/codec.hpp>
#include <entitable/client/mapping/mapping.hpp>
#include <entitable/client/query.hpp>
#include <entitable/client/query/clauses.hpp>
#include <entitable/client/query/comparison.hpp>
#include <entitable/client/table.hpp>
#include <entitable/core/try.hpp>

#endif
