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
        time(model.offline) + "; a request waits at most " + time(model.queue) + "\n";
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
    result<simulation> made{std::in_place};
    made->load = load;
    made->options = options;
    double requests = 0;
    for (double second = 0; second < seconds; ++second) { requests += load.arrivals.at(second + 0.5); }
    constexpr double most_requests = 5e8;
    if (options.engine == simulation_engine::requests && requests > most_requests) {
        return failure{error_code::out_of_range_input,
            "the per-request simulation has " + detail::figure(requests) + " requests; the limit is 500,000,000"};
    }
    made->fluid =
        options.engine == simulation_engine::fluid || (options.engine == simulation_engine::by_size && requests > 2e6);
    made->fluid ? detail::simulate_fluid(*made) : detail::simulate_requests(*made);
    return made;
}

ENTITABLE_DECL result<simulation> simulate(
    table_sample const& sample, workload const& load, simulation_options const& options) {
    ENTITABLE_CHECK(load.validate());
    return simulate(load_shape::of(sample, load), options);
}

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
