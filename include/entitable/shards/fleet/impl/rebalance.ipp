// SPDX-License-Identifier: MIT
// Copyright (c) 2026 the entitable authors
#pragma once

#include <entitable/client/table.hpp>
#include <entitable/core/try.hpp>
#include <entitable/shards/fleet/balance.hpp>
#include <entitable/shards/fleet/detail/shard_visits.hpp>
#include <entitable/shards/fleet/detail/stored_rows.hpp>
#include <entitable/shards/fleet/rebalance.hpp>
#include <entitable/shards/map/placement_rules.hpp>

#include <algorithm>
#include <map>
#include <set>

ENTITABLE_BEGIN_NAMESPACE
namespace detail {

/// Returns the size of each shard in the unit that is balanced, in the order of the places.
inline result<std::vector<double>> sizes_of_shards(
    fleet const& of, shard_map_copy const& map, rebalance_options const& options) {
    std::size_t const number = map.places.size();
    std::vector<double> sizes(number, options.by == balance_by::shards ? 1.0 : 0.0);
    if (options.by == balance_by::load) {
        if (!options.load) { return failure{error_code::invalid_input, "balance_by::load needs a load function"}; }
        for (std::size_t at = 0; at < number; ++at) {
            double const told = options.load(map.places[at].row.shard);
            sizes[at] = told >= 0 ? told : 0;
        }
    } else if (options.by != balance_by::shards) {
        ENTITABLE_TRY(auto const read, check_fleet(of));
        if (!read.unread.empty()) {
            error why = read.unread.front().error;
            why.message = text::joined({"the store ", read.unread.front().store, ": ", why.message});
            return failure{std::move(why)};
        }
        for (shard_content const& each : read.contents) {
            if (shard_place const* const place = map.find_shard(each.shard); place != nullptr) {
                sizes[static_cast<std::size_t>(place - map.places.data())] +=
                    static_cast<double>(options.by == balance_by::rows ? each.content.rows : each.content.bytes);
            }
        }
    }
    return sizes;
}

/// Whether an item leaves its region. A store whose region is unknown is outside all regions, and never in a different one.
inline bool leaves_region(std::vector<std::string_view> const& regions, std::size_t from, std::size_t to) noexcept {
    return !regions[from].empty() && !regions[to].empty() && regions[from] != regions[to];
}

/// Sends items back to the region of their homes, alone or in exchange for another moved item, where the balance does not get worse.
inline void return_to_regions(
    balance_problem const& of, std::vector<std::string_view> const& regions, std::vector<std::size_t>& at) {
    double const limit = (std::max)(imbalance_of(of, at), of.threshold) * (1 + 1e-9);
    auto const may = [&](std::size_t item, std::size_t place) {
        balance_item const& one = of.items[item];
        return of.weights[place] > 0 && (one.may.empty() || one.may[place]);
    };
    auto const leaves = [&](std::size_t item) { return leaves_region(regions, of.items[item].home, at[item]); };
    auto const changed = [&](auto const& change) {
        std::vector<std::size_t> trial = at;
        change(trial);
        if (imbalance_of(of, trial) > limit) { return false; }
        at = std::move(trial);
        return true;
    };
    for (std::size_t item = 0; item < at.size(); ++item) {
        for (std::size_t place = 0; leaves(item) && place < of.weights.size(); ++place) {
            if (may(item, place) && !leaves_region(regions, of.items[item].home, place)) {
                changed([&](std::vector<std::size_t>& trial) { trial[item] = place; });
            }
        }
        for (std::size_t other = 0; leaves(item) && other < at.size(); ++other) {
            bool const moved = at[other] != of.items[other].home;
            if (!moved || !may(item, at[other]) || !may(other, at[item])) { continue; }
            int const before = int{leaves(item)} + int{leaves(other)};
            int const after = int{leaves_region(regions, of.items[item].home, at[other])} +
                int{leaves_region(regions, of.items[other].home, at[item])};
            if (after < before) {
                changed([&](std::vector<std::size_t>& trial) { std::swap(trial[item], trial[other]); });
            }
        }
    }
}

/// Balances within regions if that is possible, otherwise with as few items in other regions as are found.
inline balance_plan balanced_in_regions(
    balance_problem const& of, std::vector<std::string_view> const& regions, bool across) {
    balance_problem within = of;
    for (balance_item& each : within.items) {
        std::vector<bool> here(of.weights.size());
        bool any = false;
        for (std::size_t place = 0; place < here.size(); ++place) {
            bool const allowed = each.may.empty() || each.may[place];
            here[place] = allowed && !leaves_region(regions, each.home, place);
            any = any || (here[place] && of.weights[place] > 0);
        }
        if (any || !across) { each.may = std::move(here); } // otherwise it must go to another region
    }
    balance_plan inside = balanced(within);
    if (!across || (inside.possible && (of.only_forced || inside.after <= of.threshold * (1 + 1e-9)))) {
        return inside;
    }
    balance_plan found = balanced(of);
    if (inside.possible && inside.after <= found.after * (1 + 1e-9)) { return inside; }
    return_to_regions(of, regions, found.places);
    found.after = imbalance_of(of, found.places);
    found.moved = 0;
    for (std::size_t item = 0; item < of.items.size(); ++item) {
        found.moved += found.places[item] == of.items[item].home ? 0 : of.items[item].size;
    }
    return found;
}

} // namespace detail

ENTITABLE_DECL result<rebalance_plan> plan_rebalance(fleet const& of, rebalance_options const& options) {
    detail::lookup_map_state& source = of.cloud().state().map.state();
    ENTITABLE_TRY(auto const all_names, of.stores());
    ENTITABLE_TRY(auto const rules, rules_of(of.cloud().map()));
    ENTITABLE_TRY(auto const attributes, attributes_of(of.cloud().map()));
    rebalance_plan plan{of};
    std::vector<std::string> names;
    std::vector<std::string_view> regions;
    date_time const now = of.options().time->now();
    for (std::string const& each : all_names) {
        bool const maintained = attributes.in_maintenance(each, now);
        (maintained ? plan.maintained : names).push_back(each);
        if (!maintained) { regions.push_back(attributes.region_of(each)); }
    }
    ENTITABLE_TRY(auto const map, source.fresh({}));
    ENTITABLE_TRY(auto const sizes, detail::sizes_of_shards(of, *map, options));
    balance_problem asked;
    asked.threshold = options.threshold;
    asked.only_forced = options.only_forced;
    for (std::string const& each : names) {
        bool const drained = std::find(options.drain.begin(), options.drain.end(), each) != options.drain.end();
        bool usable = false; // a store that may receive no shard has no share
        for (detail::shard_place const& place : map->places) { usable = usable || rules.allows(place.row.shard, each); }
        asked.weights.push_back(drained || !usable ? 0 : rules.weight_of(each));
    }
    std::vector<std::size_t> shards; // indexes of the shards that take part
    for (std::size_t index = 0; index < sizes.size(); ++index) {
        plan.total += sizes[index];
        detail::shard_place const& place = map->places[index];
        auto const is_maintained = [&](std::string const& each) { return each == place.row.store; };
        if (std::any_of(plan.maintained.begin(), plan.maintained.end(), is_maintained)) { continue; }
        shards.push_back(index);
        balance_item& made = asked.items.emplace_back();
        made.size = sizes[index];
        std::size_t choices = 0;
        result<void> why;
        for (std::size_t at = 0; at < names.size(); ++at) {
            made.home = names[at] == place.row.store ? at : made.home;
            auto allowed = rules.allows(place.row.shard, names[at]);
            made.may.push_back(allowed.has_value());
            choices += allowed && asked.weights[at] > 0 ? 1U : 0U;
            if (!allowed) { why = std::move(allowed); }
        }
        bool const waits =
            choices == 0 && std::any_of(plan.maintained.begin(), plan.maintained.end(), [&](std::string const& each) {
                return rules.allows(place.row.shard, each) && rules.weight_of(each) > 0;
            });
        if (waits) { // its only stores are in their windows
            asked.items.pop_back();
            shards.pop_back();
            continue;
        }
        if (choices == 0) {
            return failure{error_code::placement_forbidden,
                text::joined({"no store can receive the virtual shard ", std::to_string(place.row.shard), ": ",
                    why ? "all stores are being drained" : why.error().message})};
        }
    }
    balance_plan const found = detail::balanced_in_regions(asked, regions, options.across_regions);
    if (!found.possible) {
        return failure{error_code::placement_forbidden,
            "a virtual shard must leave its store, and no store of its region can receive it: see "
            "rebalance_options::across_regions"};
    }
    plan.options_ = options;
    plan.by = options.by;
    plan.before = found.before;
    plan.after = found.after;
    plan.moved = found.moved;
    for (std::size_t at = 0; at < shards.size(); ++at) {
        std::size_t const from = asked.items[at].home;
        std::size_t const to = found.places[at];
        if (to == from) { continue; }
        plan.moves.push_back({map->places[shards[at]].row.shard, names[from], names[to], sizes[shards[at]],
            detail::leaves_region(regions, from, to)});
    }
    std::stable_sort(plan.moves.begin(), plan.moves.end(),
        [](planned_move const& left, planned_move const& right) { return left.size > right.size; });
    return plan;
}

ENTITABLE_DECL result<rebalance_plan> plan_drain(fleet const& of, std::string store, rebalance_options options) {
    options.drain.push_back(std::move(store));
    options.only_forced = true;
    return plan_rebalance(of, options);
}

ENTITABLE_DECL std::string rebalance_plan::to_string() const {
    constexpr std::string_view words[] = {"shards", "rows", "bytes", "load"};
    std::string_view const unit = words[static_cast<std::size_t>(by)];
    std::string out;
    for (planned_move const& each : moves) {
        out += text::joined({"move virtual shard ", std::to_string(each.shard), " from ", each.source, " to ",
            each.target, each.across_regions ? " in another region" : "", by == balance_by::shards ? "" : ": ",
            by == balance_by::shards ? std::string{} : detail::text_of_ratio(each.size), "\n"});
    }
    for (std::string const& each : maintained) {
        out += text::joined({"the store ", each, " is in a maintenance window: no moves\n"});
    }
    return text::joined({out, std::to_string(moves.size()), " moves, ", detail::text_of_ratio(moved), " of ",
        detail::text_of_ratio(total), " ", unit, "; largest load per share, by ", unit, ": ",
        detail::text_of_ratio(before), " before, ", detail::text_of_ratio(after), " after\n"});
}

ENTITABLE_DECL result<bool> rebalance_plan::postpones(planned_move const& each) const {
    ENTITABLE_TRY(auto const attributes, attributes_of(fleet_.cloud().map()));
    date_time const now = fleet_.options().time->now();
    return attributes.in_maintenance(each.source, now) || attributes.in_maintenance(each.target, now);
}

ENTITABLE_DECL result<rebalance_progress> rebalance_plan::run(rebalance_progress_callback const& watch) const {
    if (fleet_.cloud().map().state().absent) { // without this check, a moved-from plan would move nothing and succeed
        return detail::moved_from("plan");
    }
    rebalance_progress progress;
    std::set<std::string> prepared;
    auto const about = [](planned_move const& each, error why) {
        why.message = text::joined(
            {"the move of the virtual shard ", std::to_string(each.shard), " to ", each.target, ": ", why.message});
        return failure{std::move(why)};
    };
    for (planned_move const& each : moves) {
        ENTITABLE_TRY(auto const map, fleet_.cloud().state().map.state().fresh({}));
        auto const* const place = map->find_shard(each.shard);
        if (place == nullptr || place->row.store == each.target) { // null if the shard was merged into another shard
            ++progress.skipped;
            continue;
        }
        ENTITABLE_TRY(bool const postponed, postpones(each));
        if (postponed) {
            ++progress.postponed;
            continue;
        }
        if (options_.prepare && prepared.insert(each.target).second) {
            if (auto ready = options_.prepare(each.target); !ready) { return about(each, ready.error()); }
        }
        auto plan = plan_move(fleet_.cloud(), each.shard, each.target, options_.moves);
        if (!plan) { return about(each, plan.error()); }
        auto done = plan->run([&](move_progress const& at) {
            progress.current = at;
            return !watch || watch(progress);
        });
        if (!done) { return about(each, done.error()); }
        ++progress.moved;
    }
    return progress;
}

namespace detail {

/// Compares keys in the service's order.
struct by_utf16 {
    bool operator()(std::string const& left, std::string const& right) const noexcept {
        return text::compare_utf16(left, right) < 0;
    }
};

} // namespace detail

ENTITABLE_DECL result<std::string> split_key(fleet const& of, std::int32_t shard) {
    std::map<std::string, std::uint64_t, detail::by_utf16> sizes;
    std::uint64_t whole = 0;
    auto const measure = [&](detail::shard_visit const& at, any_store const& through) -> result<void> {
        sizes.clear();
        whole = 0;
        for (detail::visited_table const& table : at.tables) {
            detail::stored_rows rows{through, table.stored, at.keys};
            for (;;) {
                ENTITABLE_TRY(auto const each, rows.next());
                if (!each) { break; }
                std::uint64_t const bytes = each->partition_key.size() + each->row_key.size() + each->payload.size();
                sizes[std::string{each->partition_key}] += bytes;
                whole += bytes;
            }
        }
        return {};
    };
    auto const wanted = [&](detail::shard_visit const& at) { return at.shard == shard; };
    ENTITABLE_TRY(auto const visited, detail::visit_shards(of, wanted, {}, measure));
    if (visited.shards.empty()) {
        return failure{error_code::invalid_input, text::joined({"no virtual shard ", std::to_string(shard)})};
    }
    ENTITABLE_CHECK(visited.shards.front().outcome);
    if (sizes.size() < 2) {
        return failure{error_code::invalid_input,
            text::joined({"the virtual shard ", std::to_string(shard),
                " has fewer than two partitions, so it cannot be split"})};
    }
    std::uint64_t below = 0;
    auto best = sizes.begin();
    std::uint64_t least = whole;
    for (auto each = sizes.begin(); each != sizes.end(); ++each) {
        std::uint64_t const larger = (std::max)(below, whole - below);
        if (below > 0 && larger < least) {
            least = larger;
            best = each;
        }
        below += each->second;
    }
    return best->first;
}

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
