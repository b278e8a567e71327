// SPDX-License-Identifier: MIT
// Copyright (c) 2026 the entitable authors
#pragma once

/// \file
/// The function bodies of moves of shards: one part of `entitable/src.hpp`, for programs that compile the parts
/// separately and in parallel. Compile each part in exactly one file.

#if !defined(ENTITABLE_SEPARATE_COMPILATION)
#error \
    "entitable/src/moves.hpp is for separate compilation: define ENTITABLE_SEPARATE_COMPILATION for every file of the program"
#endif

#include <entitable/shards/move/impl/shard_move.ipp>
#include <entitable/shards/move/impl/shard_mover.ipp>
#include <entitable/shards/move/impl/shard_mover_drops.ipp>
#include <entitable/shards/move/impl/shard_mover_map.ipp>
#include <entitable/shards/move/impl/shard_splitting.ipp>
#include <entitable/shards/move/impl/shard_table_copy.ipp>
