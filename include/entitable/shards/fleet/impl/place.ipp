// SPDX-License-Identifier: MIT
// Copyright (c) 2026 the entitable authors
#pragma once

#include <entitable/client/table.hpp>
#include <entitable/core/try.hpp>
#include <entitable/shards/fleet/place.hpp>
#include <entitable/shards/map/detail/rule_lists.hpp>

ENTITABLE_BEGIN_NAMESPACE
namespace detail {

/// Returns the rules without the placement of this shard, which is replaced.
inline placement_rules rules_without(placement_rules const& rules, std::string_view placed) {
    std::vector<placement_rule> others;
    for (placement_rule const& each : rules.all()) {
        if (each.name != placed) { others.push_back(each); }
    }
    return placement_rules{std::move(others)};
}

} // namespace detail

ENTITABLE_DECL result<placement> place(fleet const& of, std::string_view partition_key, std::string store,
    move_options const& options, move_progress_callback const& watch) {
    lookup_map const& map = of.cloud().map();
    detail::lookup_map_state& state = map.state();
    ENTITABLE_TRY(auto const before, state.fresh({}));
    ENTITABLE_TRY(auto const at, state.place_of(*before, partition_key));
    placement done;
    done.shard = at->row.shard;
    done.rule = detail::placement_of(done.shard);
    ENTITABLE_TRY(auto const rules, rules_of(map));
    ENTITABLE_CHECK(detail::rules_without(rules, done.rule).allows(done.shard, store));
    done.from = at->row.store;
    std::optional<move_plan> plan;
    if (done.from != store) { // checks everything that can be refused, before storing a rule
        ENTITABLE_TRY(plan, detail::move_planning::move(of.cloud(), done.shard, store, options, done.rule));
    }
    ENTITABLE_CHECK(put_rule(map, placement_rule::only(done.rule, {done.shard}, {store})));
    if (plan) {
        ENTITABLE_TRY(done.move, plan->run(watch));
        done.moved = true;
    }
    ENTITABLE_TRY(auto const behind, state.fresh({}));
    ENTITABLE_TRY(auto const now_at, state.place_of(*behind, partition_key));
    if (now_at->row.shard != done.shard) {
        return failure{error_code::shard_moving,
            text::joined({"the key moved out of the virtual shard ", std::to_string(done.shard),
                " by a split or merge: place it again"})};
    }
    ENTITABLE_TRY(auto const standing, rules_of(map)); // the last caller to place the shard wins
    ENTITABLE_CHECK(standing.allows(done.shard, store));
    if (now_at->row.store != store) { // moved by another call that began before the rule was stored
        return failure{error_code::shard_moving,
            text::joined({"the virtual shard ", std::to_string(done.shard), " was moved to ", now_at->row.store,
                " in the meantime: place it again"})};
    }
    return done;
}

ENTITABLE_DECL result<void> unplace(fleet const& of, std::string_view partition_key) {
    detail::lookup_map_state& state = of.cloud().map().state();
    ENTITABLE_TRY(auto const map, state.fresh({}));
    ENTITABLE_TRY(auto const at, state.place_of(*map, partition_key));
    return remove_rule(of.cloud().map(), detail::placement_of(at->row.shard));
}

ENTITABLE_END_NAMESPACE
