// SPDX-License-Identifier: MIT
// Copyright (c) 2026 the entitable authors
#pragma once

#include <entitable/advice/retry_comparison.hpp>
#include <entitable/core/try.hpp>

#include <algorithm>

ENTITABLE_BEGIN_NAMESPACE

ENTITABLE_DECL std::vector<named_policy> usual_policies() {
    return {{"none", retry_policy::none()}, {"fixed, 4 attempts, 2 s", retry_policy::fixed(4, std::chrono::seconds{2})},
        {"exponential, patient", retry_policy::patient()}, {"exponential, interactive", retry_policy::interactive()}};
}

ENTITABLE_DECL std::vector<named_policy> guarded_policies(
    retry_policy const& policy, rate_limit const& limit, circuit_options const& circuit) {
    return {{"retries alone", policy}, {"limited", policy, limit}, {"breaking", policy, std::nullopt, circuit},
        {"limited and breaking", policy, limit, circuit}};
}

ENTITABLE_DECL result<retry_comparison> compare_retries(
    load_shape const& load, simulation_options const& options, std::vector<named_policy> policies) {
    result<retry_comparison> made{std::in_place};
    for (named_policy const& each : policies) {
        simulation_options with = options;
        with.retries = each.policy;
        if (each.limit) { with.limit = each.limit; }
        if (each.circuit) { with.circuit = each.circuit; }
        ENTITABLE_TRY(auto run, simulate(load, with));
        made->runs.push_back(std::move(run));
    }
    made->policies = std::move(policies);
    return made;
}

ENTITABLE_DECL detail::text_table detail::retry_table(retry_comparison const& all) {
    bool const guarded = std::any_of(all.runs.begin(), all.runs.end(),
        [](simulation const& each) { return each.options.limit || each.options.circuit; });
    std::vector<std::string> head{
        "retries", "given up", "of all", "sent", "503 responses", "retries in 100 ms", "last 503"};
    if (guarded) { head.insert(head.end(), {"not sent", "mean latency"}); }
    detail::text_table table{std::move(head)};
    for (std::size_t index = 0; index < all.runs.size(); ++index) {
        simulation const& run = all.runs[index];
        std::vector<std::string> cells{all.policies[index].name, detail::figure(run.lost),
            detail::percent(run.lost_share(), 2), detail::figure(run.sent), detail::figure(run.refused),
            run.fluid ? "-" : detail::figure(run.most_retries), detail::seconds_text(run.last_refusal)};
        if (guarded) {
            cells.push_back(detail::figure(run.unsent));
            cells.push_back(detail::seconds_text(run.latency));
        }
        table.add(std::move(cells));
    }
    return table;
}

ENTITABLE_DECL std::string retry_comparison::to_string() const { return detail::retry_table(*this).to_string(); }

ENTITABLE_END_NAMESPACE
