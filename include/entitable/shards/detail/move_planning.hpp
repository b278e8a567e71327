// SPDX-License-Identifier: MIT
// Copyright (c) 2026 the entitable authors
#pragma once

/// \file
/// The one place in which moves are planned: whoever plans one is bound by the rules of the map.

#include <entitable/shards/shard_move.hpp>

ENTITABLE_BEGIN_NAMESPACE
namespace detail {

struct move_planning {
    /// As `plan_move`; the rule `but` does not bind: it is about to be replaced.
    [[nodiscard]] static result<move_plan> move(
        sharded const& cloud, std::int32_t shard, std::string target, move_options options, std::string_view but);
    /// As `plan_merge`.
    [[nodiscard]] static result<move_plan> merge(
        sharded const& cloud, std::int32_t lower, std::int32_t upper, std::string target, move_options options);
};

} // namespace detail
ENTITABLE_END_NAMESPACE
