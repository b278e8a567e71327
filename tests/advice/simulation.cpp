// SPDX-License-Identifier: MIT
// Copyright (c) 2026 the entitable authors

#include <entitable/advice.hpp>

#include <support/catch.hpp>

#include <cmath>
#include <limits>

using namespace entitable;
using namespace std::chrono_literals;
using entitable_test::ContainsSubstring;

namespace simulation_test {

simulation_options with(simulation_engine engine, double minutes, retry_policy retries = retry_policy::none()) {
    simulation_options made;
    made.engine = engine;
    made.minutes = minutes;
    made.retries = retries;
    return made;
}
bool near(double value, double expected, double part) { return std::abs(value - expected) <= part * expected; }

/// Mean seconds in a queue with Poisson arrivals and one server with a constant service time (Pollaczek and Khinchine).
double md1(double arrivals, double rate) {
    double const use = arrivals / rate;
    return use / (2 * rate * (1 - use)) + 1 / rate;
}

} // namespace simulation_test

using namespace simulation_test;

TEST_CASE("below its rate limit a server behaves as an M/D/1 queue, with both engines") {
    for (double const use : {0.3, 0.7, 0.9}) {
        load_shape const load = load_shape::even(1, arrival_pattern::constant(2'000 * use));
        double const round_trip = 0.005;
        simulation const one = simulate(load, with(simulation_engine::requests, 3)).value();
        simulation const rates = simulate(load, with(simulation_engine::fluid, 3)).value();
        INFO(use << ": " << one.latency - round_trip << ' ' << rates.latency - round_trip << ' '
                 << md1(2'000 * use, 2'000));
        CHECK(near(one.latency - round_trip, md1(2'000 * use, 2'000), 0.05));
        CHECK(near(rates.latency - round_trip, md1(2'000 * use, 2'000), 0.001));
        CHECK(near(one.latency, rates.latency, 0.05));
        CHECK(near(one.served, rates.served, 0.01));
        CHECK(one.refused == 0);
        CHECK(rates.refused == 0);
        CHECK(near(one.latencies.mean_seconds(), one.latency, 1e-6));
    }
}

TEST_CASE("requests are distributed over partitions like balls into bins") {
    // 40 partitions and Poisson arrivals of 60 per second: each second 40 (1 - e^-1.5) of them are hit.
    simulation const run =
        simulate(load_shape::even(40, arrival_pattern::constant(60)), with(simulation_engine::requests, 2)).value();
    REQUIRE(run.partition_load.size() == 40);
    REQUIRE(run.stretches.size() == 120);
    double hit = 0;
    for (auto const& partition : run.partition_load) {
        for (double const load : partition) { hit += load > 0 ? 1 : 0; }
    }
    CHECK(near(hit / 120, 40 * (1 - std::exp(-1.5)), 0.03));
}

TEST_CASE("the top key of a Zipf load has its expected share, with both engines") {
    double harmonic = 0;
    for (int rank = 1; rank <= 40; ++rank) { harmonic += 1.0 / rank; }
    for (simulation_engine const engine : {simulation_engine::requests, simulation_engine::fluid}) {
        simulation const run =
            simulate(load_shape::zipf(40, 1, arrival_pattern::constant(1'000)), with(engine, 2)).value();
        double top = 0;
        double all = 0;
        for (std::size_t partition = 0; partition < 40; ++partition) {
            for (double const load : run.partition_load[partition]) {
                top += partition == 0 ? load : 0;
                all += load;
            }
        }
        CHECK(near(top / all, 1 / harmonic, 0.02));
    }
}

TEST_CASE("both engines agree on an overload that load balancing removes") {
    load_shape const load = load_shape::even(50, arrival_pattern::constant(1'000));
    simulation_options options = with(simulation_engine::requests, 12, retry_policy::interactive());
    options.model.partition_rate = options.model.server_rate = 400; // like 2,000 of 5,000, with fewer requests
    simulation const one = simulate(load, options).value();
    options.engine = simulation_engine::fluid;
    simulation const rates = simulate(load, options).value();
    INFO(one.to_string() << rates.to_string());
    CHECK(one.splits == rates.splits);
    CHECK(one.splits >= 2);
    CHECK(one.servers == rates.servers);
    CHECK(near(one.served, rates.served, 0.05));
    CHECK(near(one.refused, rates.refused, 0.05));
    CHECK(near(one.lost, rates.lost, 0.05));
    CHECK(near(one.sent, rates.sent, 0.05));
    CHECK(one.stretches.back().refused == 0); // after two more splits the load is balanced
    CHECK(rates.stretches.back().refused == 0);
    CHECK(one.stretches.front().refused > 0);
}

TEST_CASE("every request is served, abandoned or in flight, with both engines and every pattern") {
    for (simulation_engine const engine : {simulation_engine::requests, simulation_engine::fluid}) {
        for (load_shape const& load : {load_shape::even(20, arrival_pattern::ramp(0, 900, 100)),
                 load_shape::zipf(20, 1.5, arrival_pattern::daily(300, 600)),
                 load_shape::even(3, arrival_pattern::burst(50, 2'000, 20, 10)),
                 load_shape::append(arrival_pattern::constant(400))}) {
            simulation_options options = with(engine, 4, retry_policy::fixed(4, 3s));
            options.model.partition_rate = options.model.server_rate = 250;
            options.model.hot_after = 60s;
            options.outages = {{100, 4}};
            simulation const run = simulate(load, options).value();
            CHECK(near(run.offered, run.served + run.lost + run.waiting, 1e-9));
            CHECK(near(
                run.sent, run.served + run.refused + (engine == simulation_engine::fluid ? run.waiting : 0), 0.01));
            CHECK(run.latencies.count() ==
                (engine == simulation_engine::fluid ? 0 : static_cast<std::uint64_t>(run.served)));
            double served = 0;
            for (simulated_stretch const& each : run.stretches) {
                served += each.served * 2; // 240 seconds in 120 intervals
                CHECK(each.served <= each.sent + 250 * 20);
            }
            CHECK(near(served, run.served, 1e-9));
        }
    }
}

TEST_CASE("increasing or decreasing keys stay on one server, and spread keys do not") {
    for (simulation_engine const engine : {simulation_engine::requests, simulation_engine::fluid}) {
        simulation_options options = with(engine, 30);
        options.model.partition_rate = options.model.server_rate = 200;
        auto const arrivals = arrival_pattern::constant(500);
        simulation const append = simulate(load_shape::append(arrivals), options).value();
        simulation const prepend = simulate(load_shape::prepend(arrivals), options).value();
        simulation const spread = simulate(load_shape::even(64, arrivals), options).value();
        INFO(append.to_string() << prepend.to_string() << spread.to_string());
        CHECK(append.servers == 1);
        CHECK(prepend.servers == 1);
        CHECK(spread.servers >= 3);
        CHECK(append.splits + append.moves >= 4); // the service tries
        CHECK(near(append.served / append.offered, 0.4, 0.05));
        CHECK(near(prepend.served / prepend.offered, 0.4, 0.05));
        CHECK(append.stretches.back().refused > 250);
        CHECK(spread.stretches.back().refused < 1);
    }
}

TEST_CASE("a single hot partition is moved and remains too hot") {
    simulation_options options = with(simulation_engine::fluid, 20);
    simulation const run = simulate(load_shape::even(1, arrival_pattern::constant(3'000)), options).value();
    CHECK(run.splits == 0);
    CHECK(run.moves == 4); // after 5, 10, 15 and 20 minutes
    CHECK(near(run.served, 2'000 * (20 * 60 - 15), 0.001));
}

TEST_CASE("a partition exceeds its rate on an idle server, and no longer when the server gets busy") {
    for (simulation_engine const engine : {simulation_engine::requests, simulation_engine::fluid}) {
        simulation_options options = with(engine, 4); // before hot_after
        auto const served = [&](std::vector<double> shares, double rate) {
            load_shape load = load_shape::even(shares.size(), arrival_pattern::constant(rate));
            load.shares = std::move(shares);
            return simulate(load, options).value().served / (4 * 60);
        };
        CHECK(near(served({1}, 2'600), 2'000, 0.01));
        options.model.idle_bonus = 0.5;
        CHECK(near(served({1}, 2'600), 2'600, 0.01));
        CHECK(near(served({1}, 3'400), 3'000, 0.01));
        // The other partition asks for less than a tenth of the server's rate, which is idle, then for more.
        CHECK(near(served({2'400, 150}, 2'550), 2'550, 0.01));
        CHECK(near(served({2'250, 250}, 2'500), 2'000, 0.015));
        options.model.idle_below = 0.15;
        CHECK(near(served({2'250, 250}, 2'500), 2'500, 0.01));
        // On an idle server the queue is that of the higher rate.
        simulation const idle = simulate(load_shape::even(1, arrival_pattern::constant(2'400)), options).value();
        CHECK(near(idle.latency - 0.005, md1(2'400, 3'000), 0.05));
        CHECK_THAT(idle.to_string(), ContainsSubstring("up to 50 % more on an idle server"));
        // Rule 4 compares with the promised rate: the partition is moved after 5 minutes.
        options.minutes = 8;
        simulation const longer = simulate(load_shape::even(1, arrival_pattern::constant(2'600)), options).value();
        CHECK(longer.moves == 1);
        CHECK(near(longer.served, 2'600 * (8 * 60 - 5), 0.01));
    }
    simulation_options wrong;
    wrong.model.idle_bonus = -0.1;
    CHECK_THAT(simulate(load_shape::even(1, arrival_pattern::constant(1)), wrong).error().message,
        ContainsSubstring("idle_bonus"));
    wrong.model.idle_bonus = 0;
    wrong.model.idle_below = 1.5;
    CHECK_THAT(simulate(load_shape::even(1, arrival_pattern::constant(1)), wrong).error().message,
        ContainsSubstring("idle_below"));
}

TEST_CASE("warming up a partition beforehand changes nothing") {
    // Ranges split by a warm-up are merged after it: the event meets one range, as without the warm-up.
    load_shape const warm = load_shape::even(50, arrival_pattern::burst(100, 6'000, 0, 20 * 60));
    simulation const after = simulate(warm, with(simulation_engine::fluid, 80)).value();
    CHECK(after.splits >= 3);
    CHECK(after.joins == after.splits);
    CHECK(near(after.stretches.back().servers, 1, 1e-9));
    // One partition has its rate, whether half an hour near this rate or no load came before.
    auto const refused_after = [](double before) {
        load_shape const one = load_shape::even(1, arrival_pattern::burst(before, 3'000, 1'800, 600));
        simulation const run = simulate(one, with(simulation_engine::fluid, 40)).value();
        double refused = 0;
        for (simulated_stretch const& each : run.stretches) {
            refused += each.begin >= 1'800 && each.begin < 2'400 ? each.refused : 0;
        }
        return refused;
    };
    CHECK(refused_after(10) > 0);
    CHECK(near(refused_after(1'900), refused_after(10), 0.001));
}

TEST_CASE("without retries an outage loses requests, fixed waits collide and exponential waits spread") {
    simulation_options options = with(simulation_engine::requests, 3);
    options.outages = {{60, 5}};
    retry_comparison const all =
        compare_retries(load_shape::even(10, arrival_pattern::constant(1'800)), options).value();
    INFO(all.to_string());
    REQUIRE(all.runs.size() == 4);
    simulation const& none = all.runs[0];
    simulation const& fixed = all.runs[1];
    simulation const& exponential = all.runs[2];
    CHECK(near(none.lost, 5 * 1'800, 0.05)); // all requests that arrived in the outage
    CHECK(none.sent == none.offered);
    CHECK(none.last_refusal < 65);
    CHECK(fixed.lost < none.lost);
    CHECK(fixed.lost > 1'000);
    CHECK(fixed.most_retries > 500); // on top of 180 new ones in 100 ms
    CHECK(fixed.last_refusal > 70);  // the outage ends at 65
    CHECK(fixed.refused > 3 * none.refused);
    CHECK(exponential.lost == 0);
    CHECK(exponential.most_retries < fixed.most_retries / 4);
    CHECK(exponential.refused < fixed.refused / 2);
}

TEST_CASE("simulated limiters keep a throttled store below its rate, and the requests wait in the clients") {
    // One server of 2,000 requests a second; for 20 s the clients ask for 5,000.
    load_shape const load = load_shape::even(4, arrival_pattern::burst(1'000, 5'000, 30, 20));
    simulation_options options = with(simulation_engine::by_size, 3);
    options.programs = 10;
    rate_limit const limit{.requests_a_second = 180, .burst = 20, .longest_wait = 60s};
    retry_comparison const all =
        compare_retries(load, options, guarded_policies(retry_policy::standard(), limit)).value();
    INFO(all.to_string());
    simulation const& alone = all.runs[0];
    simulation const& held = all.runs[1];
    CHECK(alone.refused > 100'000);
    CHECK(alone.lost > 10'000);
    CHECK(held.refused == 0);
    CHECK(held.lost == 0);
    CHECK(held.unsent == 0);
    CHECK(held.sent == held.offered);
    for (simulated_stretch const& each : held.stretches) { CHECK(each.sent <= 10 * (180 + 20) + 1e-9); }
    // 5,000 arrive and 1,800 leave a second, so the last of the burst waits for 20 (5,000 - 1,800) / 1,800 s.
    double const longest = 20.0 * 3'200 / 1'800;
    CHECK(near(std::chrono::duration<double>(held.latencies.quantile(0.9999)).count(), longest, 0.03));
    // A throttled store responds, so the circuit stays closed.
    CHECK(all.runs[2].to_string() == alone.to_string());
    CHECK(all.runs[3].to_string() == held.to_string());
    // A limiter with a shorter wait refuses what would wait longer.
    options.limit = limit;
    options.limit->longest_wait = 1s;
    simulation const strict = simulate(load, options).value();
    double const taken = 20 * 1'800 + 10 * (180 + 20); // during the burst, a wait of 1 s, and the burst of each limiter
    CHECK(near(strict.unsent, 20 * 5'000 - taken, 0.02));
    CHECK(strict.lost == strict.unsent);
    CHECK(strict.refused == 0);
}

TEST_CASE("simulated circuit breakers send a store that is down only probes, and miss some of its recovery") {
    // The circuits open at 60, probe at 65 and, twice as long after each failure, at 75 and 95. The outage ends at 80.
    load_shape const load = load_shape::even(10, arrival_pattern::constant(1'500));
    simulation_options options = with(simulation_engine::requests, 3);
    options.outages = {{60, 20}};
    options.programs = 10;
    options.circuit = circuit_options{.failures = 5, .open_for = 5s, .longest = 60s};
    simulation const run = simulate(load, options).value();
    INFO(run.to_string());
    // Each program sends 5 requests and 2 probes, and those that are on their way when the circuit opens: 0.75 on average.
    CHECK(run.refused >= 10 * (5 + 2));
    CHECK(run.refused <= 10 * (5 + 2 + 3));
    CHECK(near(run.unsent, 35 * 1'500, 0.02));
    CHECK(run.lost == run.refused + run.unsent);
    CHECK(run.sent == run.offered - run.unsent);
    simulation_options alone = options;
    alone.circuit = {};
    CHECK(near(simulate(load, alone).value().refused, 20 * 1'500, 0.05));
    // One circuit for all: as many probes as for one program.
    options.programs = 1;
    simulation const one = simulate(load, options).value();
    CHECK(one.refused >= 7);
    CHECK(one.refused <= 7 + 15 + 5);
}

TEST_CASE("impossible limiters, circuit breakers and numbers of programs are refused before a simulation") {
    load_shape const load = load_shape::even(1, arrival_pattern::constant(10));
    auto const refusal = [&](auto const& change) {
        simulation_options options;
        change(options);
        auto const run = simulate(load, options);
        return run ? std::string{} : run.error().message;
    };
    CHECK_THAT(refusal([](auto& of) { of.limit = rate_limit{}; }), ContainsSubstring("rate_limit::requests_a_second"));
    CHECK_THAT(refusal([](auto& of) { of.circuit = circuit_options{.failures = 0}; }), ContainsSubstring("failures"));
    CHECK_THAT(refusal([](auto& of) { of.programs = 0; }), ContainsSubstring("programs"));
    CHECK_THAT(refusal([](auto& of) { of.programs = 10'001; }), ContainsSubstring("10,000 programs"));
    CHECK_THAT(refusal([](auto& of) {
        of.limit = rate_limit{.requests_a_second = 1};
        of.engine = simulation_engine::fluid;
    }),
        ContainsSubstring("request by request"));
    CHECK(refusal([](auto& of) { of.programs = 10'000; }).empty());
}

TEST_CASE("the same seed produces the same figures, and a different seed produces different figures") {
    simulation_options options = with(simulation_engine::requests, 1, retry_policy::interactive());
    load_shape const load = load_shape::zipf(30, 1, arrival_pattern::constant(2'100));
    std::string const one = simulate(load, options).value().to_string();
    CHECK(simulate(load, options).value().to_string() == one);
    options.seed = 2;
    CHECK_FALSE(simulate(load, options).value().to_string() == one);
}

TEST_CASE("the engine is selected by the number of requests") {
    load_shape const load = load_shape::even(10, arrival_pattern::constant(1'000));
    CHECK_FALSE(simulate(load, with(simulation_engine::by_size, 0.5)).value().fluid);
    CHECK(simulate(load, with(simulation_engine::by_size, 60)).value().fluid);
}

TEST_CASE("arrival patterns have the specified rates") {
    CHECK(arrival_pattern::ramp(100, 200, 50).at(25) == 150);
    CHECK(arrival_pattern::ramp(100, 200, 50).at(80) == 200);
    CHECK(std::abs(arrival_pattern::daily(100, 180).at(6 * 3600) - 180) < 1e-9);
    CHECK(std::abs(arrival_pattern::daily(100, 180).at(18 * 3600) - 20) < 1e-9);
    CHECK(arrival_pattern::burst(10, 90, 30, 10).at(29.9) == 10);
    CHECK(arrival_pattern::burst(10, 90, 30, 10).at(30) == 90);
    CHECK(arrival_pattern::burst(10, 90, 30, 10).at(40) == 10);
}

TEST_CASE("an impossible load, model or policy is refused, and the error names the field") {
    auto const refused = [](load_shape const& load, simulation_options const& options, char const* words) {
        auto const run = simulate(load, options);
        REQUIRE_FALSE(run);
        CHECK(run.error().code == error_code::out_of_range_input);
        CHECK_THAT(run.error().message, ContainsSubstring(words));
    };
    load_shape const good = load_shape::even(2, arrival_pattern::constant(1));
    refused(load_shape::even(0, arrival_pattern::constant(1)), {}, "no partitions");
    refused(load_shape::even(2, arrival_pattern::constant(-1)), {}, "every rate of the load");
    refused(load_shape::even(2, arrival_pattern::constant(std::numeric_limits<double>::quiet_NaN())), {},
        "every rate of the load");
    refused(load_shape::even(2, arrival_pattern::ramp(1, 2, 0)), {}, "a time in the load");
    refused(good, with(simulation_engine::by_size, 0), "minutes");
    refused(good, with(simulation_engine::by_size, 1e9), "minutes");
    refused(load_shape::even(2, arrival_pattern::constant(1e9)), with(simulation_engine::requests, 10),
        "limit is 500,000,000");
    simulation_options options;
    options.model.server_rate = 0;
    refused(good, options, "every rate of the service model");
    options = {};
    options.retries.max_attempts = 0;
    refused(good, options, "attempts");
    options = {};
    options.outages = {{-1, 1}};
    refused(good, options, "outage");
}

TEST_CASE("a histogram records durations with an error of at most 1.6 percent") {
    latency_histogram all;
    CHECK(all.quantile(0.5) == 0ns);
    for (int value = 1; value <= 100'000; ++value) { all.add(std::chrono::microseconds{value}); }
    for (double const part : {0.01, 0.5, 0.9, 0.99, 0.999}) {
        double const found = static_cast<double>(all.quantile(part).count());
        double const exact = part * 1e8;
        CHECK(found >= exact * 0.9999);
        CHECK(found <= exact * 1.016);
    }
    CHECK(all.quantile(1) == 100ms);
    CHECK(all.most() == 100ms);
    CHECK(std::abs(all.mean_seconds() - 0.0500005) < 1e-12);
    CHECK(all.count() == 100'000);
    for (std::uint64_t value : {std::uint64_t{0}, std::uint64_t{63}, std::uint64_t{127}, std::uint64_t{128},
             std::uint64_t{1'000'003}, std::uint64_t{1} << 62U}) {
        latency_histogram two; // the longer call prevents the step of the shorter from being truncated to it
        two.add(std::chrono::nanoseconds{static_cast<std::int64_t>(value)});
        two.add(std::chrono::nanoseconds::max());
        auto const top = two.quantile(0.5).count();
        CHECK(top >= static_cast<std::int64_t>(value));
        CHECK(static_cast<double>(top) <= static_cast<double>(value) * 1.016);
    }
    latency_histogram other;
    other.add(1s, 100'000);
    other.merge(all);
    CHECK(other.count() == 200'000);
    CHECK(other.most() == 1s);
    CHECK(other.quantile(0.75) >= 984ms);
    other.add(-5ns);
    CHECK(other.quantile(0) == 0ns);
}

TEST_CASE("a closed loop that stalled is corrected for the requests it did not send") {
    // 100 requests per second for 10 s, one of which took a second: 99 others would have waited in it.
    latency_histogram loop;
    for (int request = 0; request < 899; ++request) { loop.add_corrected(1ms, 10ms); }
    loop.add_corrected(1s, 10ms);
    CHECK(loop.count() == 899 + 100);
    CHECK(loop.quantile(0.95) > 400ms); // uncorrected: 1 ms
    CHECK(loop.quantile(0.95) < 600ms);
}

TEST_CASE("the load of a workload has the same distribution as its rows") {
    struct {
        std::vector<std::uint64_t> rows{400, 300, 200, 100};
    } table;
    sample_builder builder;
    for (std::size_t partition = 0; partition < table.rows.size(); ++partition) {
        for (std::uint64_t row = 0; row < table.rows[partition]; ++row) {
            builder.add(row_builder{"p" + std::to_string(partition), std::to_string(1'000 + row)}.build());
        }
    }
    table_sample const sample = std::move(builder).finish();
    workload load;
    load.add({"one",
                 {{filter_operator::equal, {}, "PartitionKey", value_view{""}},
                     {filter_operator::equal, {}, "RowKey", value_view{""}}, {filter_operator::all_of, {}, {}, {}}},
                 {.per_second = 900}, false})
        .writes("new", {.per_second = 100});
    load_shape const shape = load_shape::of(sample, load);
    REQUIRE(shape.shares.size() == 4);
    CHECK(near(shape.arrivals.rate, 1'000, 1e-9));
    for (std::size_t partition = 0; partition < 4; ++partition) {
        CHECK(near(shape.shares[partition], static_cast<double>(table.rows[partition]), 1e-9));
        CHECK(shape.keys[partition] == "p" + std::to_string(partition));
    }
    CHECK(simulate(sample, load, {.minutes = 1}).value().lost == 0);
}
