// SPDX-License-Identifier: MIT
// Copyright (c) 2026 the entitable authors
#pragma once

/// \file
/// `split_key`: the best key to split a range at.
///
///     auto const upper = split_shard(cloud, 2, split_key(fleet{cloud}, 2).value()).value();
///     plan_move(cloud, upper, "north").value().run().value();

#include <entitable/shards/fleet/fleet.hpp>

ENTITABLE_BEGIN_NAMESPACE

/// Returns the partition key at which a split makes the two halves most even, by bytes of all tables. InvalidInput if the shard does not
/// exist, or has rows in fewer than two partitions; those of the map and of its store. Cost: reads every row; remembers
/// every partition key.
[[nodiscard]] result<std::string> split_key(fleet const& of, std::int32_t shard);

ENTITABLE_END_NAMESPACE

#if !defined(ENTITABLE_SEPARATE_COMPILATION)
#include <entitable/shards/fleet/impl/fleet_ranges.ipp>
#endif
