// SPDX-License-Identifier: MIT
// Copyright (c) 2026 the entitable authors
#pragma once

/// \file
/// The function bodies of shards (the map and routing): one part of `entitable/src.hpp`, for programs that compile the parts
/// separately and in parallel. Compile each part in exactly one file.

#if !defined(ENTITABLE_SEPARATE_COMPILATION)
#error \
    "entitable/src/shards.hpp is for separate compilation: define ENTITABLE_SEPARATE_COMPILATION for every file of the program"
#endif

#include <entitable/shards/map/impl/hash_stores.ipp>
#include <entitable/shards/map/impl/hash_stores_making.ipp>
#include <entitable/shards/map/impl/lookup_map_state.ipp>
#include <entitable/shards/map/impl/placement_rules.ipp>
#include <entitable/shards/map/impl/shard_map.ipp>
#include <entitable/shards/map/impl/shard_map_change.ipp>
#include <entitable/shards/map/impl/shard_map_making.ipp>
#include <entitable/shards/map/impl/store_attributes.ipp>
#include <entitable/shards/map/impl/store_identity.ipp>
#include <entitable/shards/map/impl/virtual_shards.ipp>
#include <entitable/shards/map/impl/watched_stores.ipp>
#include <entitable/shards/route/impl/adopt.ipp>
#include <entitable/shards/route/impl/hashed_tables.ipp>
#include <entitable/shards/route/impl/map_stores.ipp>
#include <entitable/shards/route/impl/shard_address.ipp>
#include <entitable/shards/route/impl/shard_etags.ipp>
#include <entitable/shards/route/impl/shard_gather.ipp>
#include <entitable/shards/route/impl/shard_hedge.ipp>
#include <entitable/shards/route/impl/shard_kept.ipp>
#include <entitable/shards/route/impl/shard_reading.ipp>
#include <entitable/shards/route/impl/shard_routes.ipp>
#include <entitable/shards/route/impl/shard_showing.ipp>
#include <entitable/shards/route/impl/shard_tables.ipp>
#include <entitable/shards/route/impl/sharded.ipp>
