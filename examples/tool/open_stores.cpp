// SPDX-License-Identifier: MIT
// Copyright (c) 2026 the entitable authors

/// \file
/// The kinds of stores that addresses of the command can name.

#include <entitable/file.hpp>
#include <entitable/identity.hpp>
#include <entitable/open.hpp>
#include <entitable/shards.hpp>
#if defined(TOOL_HAS_POSTGRES) // if libpq is available
#include <entitable/postgres.hpp>

ENTITABLE_STORE_KINDS(entitable::memory_stores, entitable::file_stores, entitable::azure_stores,
    entitable::shard_stores, entitable::postgres_stores);
#else

ENTITABLE_STORE_KINDS(
    entitable::memory_stores, entitable::file_stores, entitable::azure_stores, entitable::shard_stores);
#endif
