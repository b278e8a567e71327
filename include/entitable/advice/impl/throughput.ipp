// SPDX-License-Identifier: MIT
// Copyright (c) 2026 the entitable authors
#pragma once

#include <entitable/advice/throughput.hpp>

#include <algorithm>
#include <cmath>

ENTITABLE_BEGIN_NAMESPACE

ENTITABLE_DECL double instant_maximum(std::uint64_t partitions, throughput_rules const& rules) noexcept {
    return rules.units_per_partition * static_cast<double>(partitions);
}

ENTITABLE_DECL std::uint64_t partitions_for(
    std::uint64_t partitions, double units, throughput_rules const& rules) noexcept {
    double const needed = std::ceil(units / rules.units_per_partition);
    return needed > static_cast<double>(partitions) ? static_cast<std::uint64_t>(needed) : partitions;
}

ENTITABLE_DECL std::uint32_t doublings_for(
    std::uint64_t partitions, double units, throughput_rules const& rules) noexcept {
    std::uint32_t doublings = 0; // this loop counts, because a logarithm of 8 may be 3.0000000000000004
    for (double enough = instant_maximum(partitions, rules); enough > 0 && enough < units; enough *= 2) { ++doublings; }
    return doublings;
}

ENTITABLE_DECL double even_raise(std::uint64_t partitions, double units, throughput_rules const& rules) noexcept {
    std::uint32_t const doublings = doublings_for(partitions, units, rules);
    return doublings == 0 ? units : std::ldexp(instant_maximum(partitions, rules), static_cast<int>(doublings));
}

ENTITABLE_DECL double lowest_units(throughput_floor const& floor, throughput_rules const& rules) noexcept {
    return (std::max)({rules.least_units, floor.storage_gb * rules.least_units_per_gb,
        floor.highest_ever / rules.highest_ever_divisor});
}

ENTITABLE_DECL double lowest_autoscale_maximum(throughput_floor const& floor, throughput_rules const& rules) noexcept {
    return rules.autoscale_factor * lowest_units(floor, rules);
}

ENTITABLE_DECL double autoscale_minimum(double units, throughput_rules const& rules) noexcept {
    return units / rules.autoscale_factor;
}

ENTITABLE_DECL double hours_to_write(double items, double units_each, double units) noexcept {
    return items * units_each / units / 3600;
}

ENTITABLE_DECL throttling judge_throttling(double share_of_429) noexcept {
    return share_of_429 < 0.01 ? throttling::idle : share_of_429 <= 0.05 ? throttling::healthy : throttling::short_;
}

ENTITABLE_END_NAMESPACE
