// SPDX-License-Identifier: MIT
// Copyright (c) 2026 the entitable authors
#pragma once

#include <entitable/core/try.hpp>
#include <entitable/shards/fleet/balance.hpp>
#include <entitable/shards/fleet/detail/ratio_text.hpp>
#include <entitable/shards/fleet/rebalance.hpp>

#include <algorithm>
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

} // namespace detail

ENTITABLE_DECL result<rebalance_plan> plan_rebalance(fleet const& of, rebalance_options const& options) {
    detail::lookup_map_state& source = of.cloud().state().map.state();
    ENTITABLE_TRY(auto const names, of.stores());
    ENTITABLE_TRY(auto const rules, rules_of(of.cloud().map()));
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
    for (std::size_t index = 0; index < sizes.size(); ++index) {
        detail::shard_place const& place = map->places[index];
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
        if (choices == 0) {
            return failure{error_code::placement_forbidden,
                text::joined({"no store can receive the virtual shard ", std::to_string(place.row.shard), ": ",
                    why ? "all stores are being drained" : why.error().message})};
        }
    }
    balance_plan const found = balanced(asked);
    rebalance_plan plan{of};
    plan.options_ = options;
    plan.by = options.by;
    plan.before = found.before;
    plan.after = found.after;
    plan.moved = found.moved;
    for (std::size_t at = 0; at < sizes.size(); ++at) {
        plan.total += sizes[at];
        if (found.places[at] != asked.items[at].home) {
            plan.moves.push_back(
                {map->places[at].row.shard, names[asked.items[at].home], names[found.places[at]], sizes[at]});
        }
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
            each.target, by == balance_by::shards ? "" : ": ",
            by == balance_by::shards ? std::string{} : detail::text_of_ratio(each.size), "\n"});
    }
    return text::joined({out, std::to_string(moves.size()), " moves, ", detail::text_of_ratio(moved), " of ",
        detail::text_of_ratio(total), " ", unit, "; largest load per share, by ", unit, ": ",
        detail::text_of_ratio(before), " before, ", detail::text_of_ratio(after), " after\n"});
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

ENTITABLE_END_NAMESPACE
