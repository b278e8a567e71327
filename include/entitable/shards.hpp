// SPDX-License-Identifier: MIT
// Copyright (c) 2026 the entitable authors
#pragma once

/// \file
/// One table over many stores: `sharded`, over a `lookup_map` or `hash_stores`. Part of the core. The core umbrella does not
/// include it, so that other programs do not compile it.

#include <entitable/shards/map/hash_stores.hpp>
#include <entitable/shards/map/placement_rules.hpp>
#include <entitable/shards/move/shard_move.hpp>
#include <entitable/shards/route/adopt.hpp>
#include <entitable/shards/route/partial.hpp>
#include <entitable/shards/route/shard_address.hpp>
#include <entitable/shards/route/sharded.hpp>
