// SPDX-License-Identifier: MIT
// Copyright (c) 2026 the entitable authors
#pragma once

/// \file
/// One table over many stores: `sharded`. Part of the core, but not of its umbrella, so that programs without shards do not compile it.

#include <entitable/shards/hash_stores.hpp>
#include <entitable/shards/partial.hpp>
#include <entitable/shards/shard_move.hpp>
#include <entitable/shards/sharded.hpp>
