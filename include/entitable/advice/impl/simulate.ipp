// SPDX-License-Identifier: MIT
// Copyright (c) 2026 the entitable authors
#pragma once

#include <entitable/advice/detail/figures.hpp>
#include <entitable/advice/detail/stretches.hpp>
#include <entitable/advice/simulation.hpp>
#include <entitable/core/try.hpp>

#include <cmath>

ENTITABLE_BEGIN_NAMESPACE

ENTITABLE_DECL result<simulation> simulate(load_shape const& load, simulation_options const& options) {
    ENTITABLE_CHECK(load.validate());
    ENTITABLE_CHECK(options.model.validate());
    ENTITABLE_CHECK(options.retries.validate());
    double const seconds = std::ceil(options.minutes * 60);
    if (!(options.minutes > 0 && options.minutes <= 31 * 24 * 60)) {
        return failure{error_code::out_of_range_input, "the simulation must last 0 to 44,640 minutes"};
    }
    for (planned_outage const& each : options.outages) {
        if (!(each.begin >= 0 && each.seconds >= 0)) {
            return failure{error_code::out_of_range_input,
                "a planned outage begins before the simulation, or is not a valid time"};
        }
    }
    bool const guarded = options.limit || options.circuit;
    if (options.programs < 1 || options.programs > 10'000) {
        return failure{error_code::out_of_range_input, "the simulation must have 1 to 10,000 programs"};
    }
    if (guarded && options.engine == simulation_engine::fluid) {
        return failure{error_code::out_of_range_input,
            "a limiter or a circuit breaker is simulated request by request, not by simulation_engine::fluid"};
    }
    if (options.limit) { ENTITABLE_CHECK(detail::check_limit(*options.limit)); }
    if (options.circuit) { ENTITABLE_CHECK(detail::check_circuit(*options.circuit)); }
    result<simulation> made{std::in_place};
    made->load = load;
    made->options = options;
    double requests = 0;
    for (double second = 0; second < seconds; ++second) { requests += load.arrivals.at(second + 0.5); }
    constexpr double most_requests = 5e8;
    if ((guarded || options.engine == simulation_engine::requests) && requests > most_requests) {
        return failure{error_code::out_of_range_input,
            "the per-request simulation has " + detail::figure(requests) + " requests; the limit is 500,000,000"};
    }
    made->fluid = !guarded &&
        (options.engine == simulation_engine::fluid ||
            (options.engine == simulation_engine::by_size && requests > 2e6));
    made->fluid ? detail::simulate_fluid(*made) : detail::simulate_requests(*made);
    return made;
}

ENTITABLE_DECL result<simulation> simulate(
    table_sample const& sample, workload const& load, simulation_options const& options) {
    ENTITABLE_CHECK(load.validate());
    return simulate(load_shape::of(sample, load), options);
}

ENTITABLE_END_NAMESPACE
