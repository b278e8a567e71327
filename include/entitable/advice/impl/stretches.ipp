// SPDX-License-Identifier: MIT
// Copyright (c) 2026 the entitable authors
#pragma once

#include <entitable/advice/detail/stretches.hpp>

#include <algorithm>
#include <cmath>

ENTITABLE_BEGIN_NAMESPACE
namespace detail {

ENTITABLE_DECL stretch_recorder::stretch_recorder(simulation& into, double seconds, std::size_t partitions)
    : into_(into),
      seconds_(std::ceil(seconds)),
      stretch_seconds_((std::max)(1.0, std::ceil(seconds / 120))),
      rows_(std::min<std::size_t>(40, partitions)) {
    auto const count = static_cast<std::size_t>(std::ceil(seconds_ / stretch_seconds_));
    into_.stretches.assign(count, {});
    into_.partition_load.assign(rows_, std::vector<double>(count));
    latency_.assign(count, 0);
}

ENTITABLE_DECL void stretch_recorder::add(
    double second, simulated_second const& one, std::vector<double> const& asked) {
    auto const index = static_cast<std::size_t>(second / stretch_seconds_);
    simulated_stretch& at = into_.stretches[index];
    at.offered += one.offered;
    at.sent += one.sent;
    at.served += one.served;
    at.refused += one.refused;
    at.lost += one.lost;
    at.servers += one.servers;
    latency_[index] += one.latency;
    all_latency_ += one.latency;
    into_.offered += one.offered;
    into_.sent += one.sent;
    into_.served += one.served;
    into_.refused += one.refused;
    into_.lost += one.lost;
    into_.unsent += one.unsent;
    into_.servers = (std::max)(into_.servers, one.servers);
    into_.last_refusal = one.refused > 1e-9 ? second : into_.last_refusal;
    for (std::size_t partition = 0; partition < asked.size(); ++partition) {
        into_.partition_load[partition * rows_ / asked.size()][index] += asked[partition];
    }
}

ENTITABLE_DECL void stretch_recorder::finish() {
    for (std::size_t index = 0; index < into_.stretches.size(); ++index) {
        simulated_stretch& at = into_.stretches[index];
        at.begin = static_cast<double>(index) * stretch_seconds_;
        double const length = (std::min)(stretch_seconds_, seconds_ - at.begin);
        at.latency = at.served > 0 ? latency_[index] / at.served : 0;
        for (double* each : {&at.offered, &at.sent, &at.served, &at.refused, &at.lost, &at.servers}) {
            *each /= length;
        }
        for (auto& row : into_.partition_load) { row[index] /= length; }
    }
    into_.latency = into_.served > 0 ? all_latency_ / into_.served : 0;
    into_.waiting = (std::max)(0.0, into_.offered - into_.served - into_.lost);
}

ENTITABLE_DECL bool is_out(simulation_options const& options, double second) noexcept {
    return std::any_of(options.outages.begin(), options.outages.end(),
        [&](planned_outage const& each) { return second >= each.begin && second < each.begin + each.seconds; });
}

} // namespace detail
ENTITABLE_END_NAMESPACE
