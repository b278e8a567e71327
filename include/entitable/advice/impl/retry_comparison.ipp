// SPDX-License-Identifier: MIT
// Copyright (c) 2026 the entitable authors
#pragma once

#include <entitable/advice/retry_comparison.hpp>
#include <entitable/core/try.hpp>

ENTITABLE_BEGIN_NAMESPACE

ENTITABLE_DECL std::vector<named_policy> usual_policies() {
    return {{"none", retry_policy::none()}, {"fixed, 4 attempts, 2 s", retry_policy::fixed(4, std::chrono::seconds{2})},
        {"exponential, patient", retry_policy::patient()}, {"exponential, interactive", retry_policy::interactive()}};
}

ENTITABLE_DECL result<retry_comparison> compare_retries(
    load_shape const& load, simulation_options const& options, std::vector<named_policy> policies) {
    result<retry_comparison> made{std::in_place};
    for (named_policy const& each : policies) {
        simulation_options with = options;
        with.retries = each.policy;
        ENTITABLE_TRY(auto run, simulate(load, with));
        made->runs.push_back(std::move(run));
    }
    made->policies = std::move(policies);
    return made;
}

ENTITABLE_DECL detail::text_table detail::retry_table(retry_comparison const& all) {
    detail::text_table table{
        {"retries", "given up", "of all", "sent", "503 responses", "retries in 100 ms", "last 503"}};
    for (std::size_t index = 0; index < all.runs.size(); ++index) {
        simulation const& run = all.runs[index];
        table.add({all.policies[index].name, detail::figure(run.lost), detail::percent(run.lost_share(), 2),
            detail::figure(run.sent), detail::figure(run.refused), run.fluid ? "-" : detail::figure(run.most_retries),
            detail::seconds_text(run.last_refusal)});
    }
    return table;
}

ENTITABLE_DECL std::string retry_comparison::to_string() const { return detail::retry_table(*this).to_string(); }

ENTITABLE_END_NAMESPACE
