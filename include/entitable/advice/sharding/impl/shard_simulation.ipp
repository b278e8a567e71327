// SPDX-License-Identifier: MIT
// Copyright (c) 2026 the entitable authors
#pragma once

#include <entitable/advice/detail/scorer.hpp>
#include <entitable/advice/sharding/shard_simulation.hpp>
#include <entitable/core/try.hpp>

#include <algorithm>

ENTITABLE_BEGIN_NAMESPACE
namespace detail {

inline constexpr double most_store_shares = 500;

/// Returns the load of each store: its partitions, the least busy ones together.
[[nodiscard]] ENTITABLE_DECL std::vector<load_shape> loads_of_stores(scorer& scores, shard_key_score const& of) {
    std::vector<std::string> members = of.key.members;
    for (declared_component const& each : scores.sample().declared().partition) {
        bool const known = std::find(members.begin(), members.end(), each.member) != members.end();
        if (!each.literal && !known) { members.push_back(each.member); }
    }
    partition_loads const parts = scores.loads_by(scores.sample().declared(), members, of.key.members.size());
    std::vector<double> totals(of.stores);
    auto const store_at = [&](std::size_t index) -> std::optional<std::uint32_t> {
        std::optional<std::uint32_t> const shard = of.key.shards.shard_of(parts.heads[index]);
        return shard && *shard < of.store_of.size() ? std::optional{of.store_of[*shard]} : std::nullopt;
    };
    for (std::size_t index = 0; index < parts.loads.size(); ++index) {
        if (auto const store = store_at(index)) { totals[*store] += parts.loads[index]; }
    }
    std::vector<load_shape> made(of.stores);
    std::vector<double> together(of.stores);
    std::vector<std::uint32_t> count(of.stores);
    auto const close = [&](std::uint32_t store) {
        if (count[store] == 0) { return; }
        made[store].shares.push_back(together[store]);
        made[store].partitions.push_back(count[store]);
        together[store] = 0;
        count[store] = 0;
    };
    for (std::size_t index = 0; index < parts.loads.size(); ++index) {
        auto const store = store_at(index);
        if (!store) { continue; }
        if (together[*store] + parts.loads[index] > totals[*store] / (most_store_shares / 2)) { close(*store); }
        if (count[*store] == 0) { made[*store].keys.push_back(parts.keys[index]); }
        together[*store] += parts.loads[index];
        ++count[*store];
    }
    for (std::uint32_t store = 0; store < of.stores; ++store) {
        close(store);
        made[store].arrivals = arrival_pattern::constant(totals[store]);
    }
    return made;
}

ENTITABLE_DECL text_table simulated_store_rows(shard_simulation const& of) {
    text_table table{{"store", "load/s", "served", "given up", "503", "servers", "mean latency"}};
    for (std::size_t store = 0; store < of.stores.size(); ++store) {
        simulation const& each = of.stores[store];
        table.add({std::to_string(store), short_figure(each.load.arrivals.rate), figure(each.served),
            figure(each.lost) + " (" + percent(each.lost_share(), 2) + ")", figure(each.refused),
            std::to_string(each.servers), seconds_text(each.latency)});
    }
    return table;
}

} // namespace detail

ENTITABLE_DECL result<shard_simulation> simulate_stores(table_sample const& sample, workload const& load,
    shard_key_score const& of, simulation_options const& options, std::vector<store_outage> const& down) {
    ENTITABLE_CHECK(load.validate());
    for (store_outage const& each : down) {
        if (each.store >= of.stores) {
            return failure{error_code::invalid_input,
                "store " + std::to_string(each.store) + " is to be down, and there are " + std::to_string(of.stores)};
        }
    }
    for (std::string const& each : of.key.members) {
        if (sample.size() > 0 && sample.find(each) == nullptr) {
            return failure{error_code::invalid_input,
                "shard key '" + of.key.name + "' has the member '" + each + "', which no row of the sample has"};
        }
    }
    result<shard_simulation> made{std::in_place};
    made->key = of.key.name;
    detail::scorer scores{sample, load, {}};
    std::vector<load_shape> const loads = detail::loads_of_stores(scores, of);
    for (std::uint32_t store = 0; store < loads.size(); ++store) {
        simulation_options own = options;
        own.seed += store;
        for (store_outage const& each : down) {
            if (each.store == store) { own.outages.push_back({each.begin, each.seconds}); }
        }
        simulation run;
        if (loads[store].arrivals.rate > 0) { ENTITABLE_TRY(run, simulate(loads[store], own)); }
        made->offered += run.offered;
        made->sent += run.sent;
        made->served += run.served;
        made->lost += run.lost;
        made->stores.push_back(std::move(run));
    }
    return made;
}

ENTITABLE_DECL std::string shard_simulation::to_string() const {
    return "stores by " + key + ": " + detail::figure(offered) + " requests, " + detail::figure(served) + " served, " +
        detail::figure(lost) + " given up (" + detail::percent(lost_share(), 2) + ")\n" +
        detail::simulated_store_rows(*this).to_string(2);
}

ENTITABLE_END_NAMESPACE
