// SPDX-License-Identifier: MIT
// Copyright (c) 2026 the entitable authors
#pragma once

/// \file
/// The function bodies of operations on all stores of a map: one part of `entitable/src.hpp`, for programs that compile the parts
/// separately and in parallel. Compile each part in exactly one file.

#if !defined(ENTITABLE_SEPARATE_COMPILATION)
#error \
    "entitable/src/fleet.hpp is for separate compilation: define ENTITABLE_SEPARATE_COMPILATION for every file of the program"
#endif

#include <entitable/shards/fleet/impl/backup_parts.ipp>
#include <entitable/shards/fleet/impl/balance.ipp>
#include <entitable/shards/fleet/impl/fleet.ipp>
#include <entitable/shards/fleet/impl/fleet_audit.ipp>
#include <entitable/shards/fleet/impl/fleet_backup.ipp>
#include <entitable/shards/fleet/impl/fleet_check.ipp>
#include <entitable/shards/fleet/impl/lost_stores.ipp>
#include <entitable/shards/fleet/impl/rebalance.ipp>
#include <entitable/shards/fleet/impl/reference_core.ipp>
#include <entitable/shards/fleet/impl/shard_load.ipp>
#include <entitable/shards/fleet/impl/shard_visits.ipp>
#include <entitable/shards/fleet/impl/stored_rows.ipp>
