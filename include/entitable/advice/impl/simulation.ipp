// SPDX-License-Identifier: MIT
// Copyright (c) 2026 the entitable authors
#pragma once

#include <entitable/advice/detail/figures.hpp>
#include <entitable/advice/detail/stretches.hpp>
#include <entitable/advice/simulation.hpp>
#include <entitable/core/try.hpp>

#include <cmath>

ENTITABLE_BEGIN_NAMESPACE

ENTITABLE_DECL result<void> service_model::validate() const {
    using std::chrono::nanoseconds;
    for (double const each : {partition_rate, account_rate, server_rate}) {
        if (!(each > 0 && each <= 1e12)) {
            return failure{error_code::out_of_range_input, "every rate of the service model must be greater than 0"};
        }
    }
    for (nanoseconds const each : {nanoseconds{hot_after}, nanoseconds{cool_after}, nanoseconds{queue}}) {
        if (each <= nanoseconds{} || each > std::chrono::hours{24 * 365}) {
            return failure{error_code::out_of_range_input,
                "every duration of the service model must be greater than 0, and at most a year"};
        }
    }
    if (offline < nanoseconds{} || round_trip < nanoseconds{} || offline > std::chrono::hours{24} ||
        round_trip > std::chrono::minutes{10}) {
        return failure{error_code::out_of_range_input,
            "offline of the service model must be between 0 and 1 day, and round_trip between 0 and 10 minutes"};
    }
    if (!(idle_bonus >= 0 && idle_bonus <= 10) || !(idle_below >= 0 && idle_below <= 1)) {
        return failure{error_code::out_of_range_input,
            "idle_bonus of the service model must be between 0 and 10, and idle_below between 0 and 1"};
    }
    if (ranges < 1 || ranges > 100'000) {
        return failure{error_code::out_of_range_input, "the service model must have 1 to 100,000 ranges"};
    }
    return {};
}

ENTITABLE_DECL std::string simulation::to_string() const {
    using detail::figure;
    using detail::percent;
    using detail::seconds_text;
    using detail::short_figure;
    auto const milli = [](latency_histogram const& all, double part) {
        return seconds_text(std::chrono::duration<double>(all.quantile(part)).count());
    };
    service_model const& model = options.model;
    std::string out = "simulated   " + seconds_text(options.minutes * 60) + ", " +
        (fluid ? "rates, second by second" : "request by request, seed " + std::to_string(options.seed)) + '\n';
    out += "requests    " + figure(offered) + " new, " + figure(sent) + " sent; served " + figure(served) +
        ", given up " + figure(lost) + " (" + percent(lost_share(), 2) + "), 503 responses " + figure(refused) + '\n';
    out += "latency     mean " + seconds_text(latency);
    if (latencies.count() > 0) {
        out += ", median " + milli(latencies, 0.5) + ", 99 % " + milli(latencies, 0.99) + ", 99.9 % " +
            milli(latencies, 0.999) + ", longest " + milli(latencies, 1);
    }
    out += "\nservers     up to " + figure(servers) + " at work; " + detail::counted(splits, "split", "splits") + ", " +
        detail::counted(moves, "move", "moves") + ", " + detail::counted(joins, "join", "joins") + " of ranges\n";
    auto const time = [](auto duration) { return seconds_text(std::chrono::duration<double>(duration).count()); };
    out += "model       a partition " + short_figure(model.partition_rate) + ", a server " +
        short_figure(model.server_rate) + ", an account " + short_figure(model.account_rate) +
        " entities/s; ranges that are too hot for " + time(model.hot_after) + " are split or moved, which takes " +
        time(model.offline) + "; a request waits at most " + time(model.queue) +
        (model.idle_bonus > 0 ? "; up to " + percent(model.idle_bonus, 0) + " more on an idle server" : std::string{}) +
        "\n";
    return out;
}

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
