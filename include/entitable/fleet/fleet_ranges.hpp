// SPDX-License-Identifier: MIT
// Copyright (c) 2026 the entitable authors
#pragma once

/// \file
/// Ranges of a fleet are split and merged as the rules of the map allow; and where a range is best split.
///
///     auto const upper = split_shard(all, 2, split_key(all, 2).value()).value();
///     plan_move(all, upper, "north").value().run().value();
///     plan_merge(all, 0, 1, "archive").value().run().value();

#include <entitable/fleet/placement_rules.hpp>
#include <entitable/shards/shard_move.hpp>

ENTITABLE_BEGIN_NAMESPACE

/// As `split_shard` of a map. Every rule that names the shard names the upper half as well, by the same change; what `place` has placed is two
/// placements from there on. Errors: those, and those of reading the rules.
[[nodiscard]] result<std::int32_t> split_shard(fleet const& of, std::int32_t shard, std::string key);
/// As `plan_merge` of a map, where the rules allow it: PlacementForbidden where one keeps either from the store, or names one of both only.
[[nodiscard]] result<move_plan> plan_merge(
    fleet const& of, std::int32_t lower, std::int32_t upper, std::string target, move_options options = {});
/// The partition key at which a split makes two halves that are as even as can be, by bytes of all tables. InvalidInput where there is no such shard,
/// or it has rows of fewer than two partitions; those of the map and of its store. Cost: reads every row; remembers every partition key.
[[nodiscard]] result<std::string> split_key(fleet const& of, std::int32_t shard);

ENTITABLE_END_NAMESPACE

#if !defined(ENTITABLE_SEPARATE_COMPILATION)
#include <entitable/fleet/impl/fleet_ranges.ipp>
#endif
