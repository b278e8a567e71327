// SPDX-License-Identifier: MIT
// Copyright (c) 2026 the entitable authors
#pragma once

#include <entitable/client/table.hpp>
#include <entitable/core/try.hpp>
#include <entitable/fleet/place.hpp>

ENTITABLE_BEGIN_NAMESPACE
namespace detail {

/// A shard has one placement at most: its name is that of the shard.
inline std::string placement_of(std::uint32_t shard) { return text::joined({"placed ", std::to_string(shard)}); }

/// The rules but the placement of this shard, which gives way.
inline placement_rules rules_without(placement_rules const& rules, std::string_view placed) {
    std::vector<placement_rule> others;
    for (placement_rule const& each : rules.all()) {
        if (each.name != placed) {
            others.push_back(each);
        }
    }
    return placement_rules{std::move(others)};
}

} // namespace detail

ENTITABLE_DECL result<placement> place(fleet const& of, std::string_view partition_key, std::string store,
    move_options const& options, move_watcher const& watch) {
    lookup_map const& map = of.cloud().map();
    detail::lookup_map_state& state = map.state();
    ENTITABLE_TRY(std::uint32_t const number, state.shard_of(partition_key));
    placement done;
    done.shard = static_cast<std::int32_t>(number);
    done.rule = detail::placement_of(number);
    ENTITABLE_TRY(auto const rules, rules_of(map));
    ENTITABLE_CHECK(detail::rules_without(rules, done.rule).allows(done.shard, store));
    ENTITABLE_TRY(auto const before, state.fresh({}));
    done.from = before->places.at(number).row.store;
    std::optional<move_plan> plan;
    if (done.from != store) { // what can be refused is, before a rule stands
        ENTITABLE_TRY(plan, plan_move(of.cloud(), done.shard, store, options));
    }
    ENTITABLE_CHECK(put_rule(map, placement_rule::only(done.rule, {done.shard}, {store})));
    if (plan) {
        ENTITABLE_TRY(done.move, plan->run(watch));
        done.moved = true;
    }
    ENTITABLE_TRY(auto const standing, rules_of(map)); // the last one to place it decides
    ENTITABLE_CHECK(standing.allows(done.shard, store));
    return done;
}

ENTITABLE_DECL result<void> unplace(fleet const& of, std::string_view partition_key) {
    ENTITABLE_TRY(std::uint32_t const number, of.cloud().map().state().shard_of(partition_key));
    return remove_rule(of.cloud().map(), detail::placement_of(number));
}

ENTITABLE_END_NAMESPACE
