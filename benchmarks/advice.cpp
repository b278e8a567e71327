// SPDX-License-Identifier: MIT
// Copyright (c) 2026 the entitable authors

// The cost of advice: 10^6 rows drawn into a sample and advised, whole and sampled; 10^7 events into a heat map, with the memory
// of the process; 10^6 requests one by one, and a day of 250,000 requests a second; a page of HTML.
//
//     g++ -std=c++20 -O2 -DNDEBUG -I . -I include -I tests benchmarks/advice.cpp -o advice && ./advice

#include <entitable/advice.hpp>
#include <entitable/core/random.hpp>

#include <chrono>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <ctime>
#include <fstream>
#include <string>
#include <vector>

namespace benchmark_advice {

struct item {
    std::string owner;
    std::int32_t number{};
    std::string kind;
    std::string note;
    double price{};
};
ENTITABLE(item, partition_key(owner), row_key(number), properties(kind, note, price))

} // namespace benchmark_advice

using namespace entitable;
using namespace benchmark_advice;

namespace {

template <class Function>
auto timed(char const* what, Function function) {
    auto const begin = std::chrono::steady_clock::now();
    std::clock_t const used = std::clock();
    auto made = function();
    std::printf("%-64s %6.2f s, %6.2f s of a processor\n", what,
        std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count(),
        static_cast<double>(std::clock() - used) / CLOCKS_PER_SEC);
    return made;
}

/// Peak memory in megabytes; 0 if the system does not report it.
double most_memory() {
    std::ifstream status{"/proc/self/status"};
    for (std::string line; std::getline(status, line);) {
        if (line.starts_with("VmHWM:")) { return std::strtod(line.c_str() + 6, nullptr) / 1024; }
    }
    return 0;
}

void heat() {
    std::vector<std::string> keys;
    for (int number = 0; number < 48; ++number) { keys.push_back("device-" + std::to_string(1'000 + number * 20)); }
    double const before = most_memory();
    heat_map const map = timed("10^7 events into a heat map", [&] {
        heat_map made{keys};
        random_source random{1};
        std::string key = "device-1000";
        for (std::int64_t event = 0; event < 10'000'000; ++event) {
            auto device = static_cast<int>(random.unit() * 960);
            for (int digit = 3; digit > 0; --digit, device /= 10) {
                key[7 + static_cast<std::size_t>(digit)] = static_cast<char>('0' + device % 10);
            }
            made.add(key, event);
        }
        return made;
    });
    std::printf("  %.0f events, pattern %s; %.1f MB more memory (%.1f in all)\n", map.total(),
        std::string{to_string(map.pattern())}.c_str(), most_memory() - before, most_memory());
}

void simulations() {
    simulation_options options;
    options.engine = simulation_engine::requests;
    options.minutes = 10;
    auto const one = timed("simulation, request by request: 10^6 requests",
        [&] { return simulate(load_shape::zipf(100, 0.5, arrival_pattern::constant(1'667)), options).value(); });
    std::printf("  %.0f offered, %.0f sent, %.0f served\n", one.offered, one.sent, one.served);
    options.engine = simulation_engine::fluid;
    options.minutes = 24.0 * 60;
    options.model.account_rate = 1e9;
    auto const day = timed("simulation as a fluid: 24 h, 100 partitions, 250,000/s",
        [&] { return simulate(load_shape::even(100, arrival_pattern::daily(250'000, 400'000)), options).value(); });
    std::printf("  %.3g offered, %.3g served, %u servers\n", day.offered, day.served, day.servers);
}

void advice_on_rows() {
    random_source random{1};
    std::vector<item> rows;
    for (std::int32_t number = 0; number < 1'000'000; ++number) {
        double const drawn = random.unit();
        rows.push_back({"owner " + std::to_string(static_cast<int>(drawn * drawn * 20'000)), number,
            "kind " + std::to_string(static_cast<int>(random.unit() * 50)), "note " + std::to_string(number),
            std::floor(random.unit() * 1e4) / 100});
    }
    using i = fields<item>;
    workload load;
    load.reads("one", i::owner == "owner 7" && i::number == 1, {.per_second = 900})
        .reads("of an owner", i::owner == "owner 7", {.per_second = 40})
        .scans("of a kind", i::kind == "kind 17", {.per_second = 0.5})
        .writes("new", {.per_second = 300});
    std::vector<row> stored;
    for (item const& each : rows) { stored.push_back(to_row(each).value()); }
    auto const draw = [&](std::uint64_t kept) {
        sample_builder builder{
            declaration_of<item>(), mapping<item>::partition_layout, mapping<item>::row_layout, {.rows = kept}};
        for (row const& each : stored) { builder.add(each); }
        return std::move(builder).finish();
    };
    auto const part =
        timed("10^6 rows, a sample of 100,000: drawn and advised", [&] { return advise(draw(100'000), load).value(); });
    auto const whole =
        timed("10^6 rows, all kept: drawn and advised", [&] { return advise(draw(1'000'000), load).value(); });
    timed("a page of HTML", [&] { return advice_report{}.add(whole).to_html().value().size(); });
    std::printf("  the same findings: %s; the same best keys: %s\n",
        part.findings.size() == whole.findings.size() ? "yes" : "no",
        part.candidates[0].score.declared == whole.candidates[0].score.declared ? "yes" : "no");
    std::printf("  stated error of a share of a half: %.4f\n", part.there.error_of_half);
    for (std::size_t index = 0; index < 3; ++index) {
        query_score const& exact = whole.candidates[whole.present].score.queries[index];
        query_score const& drawn = part.candidates[part.present].score.queries[index];
        std::printf("  %-12s examined %.5g whole, %.5g sampled: %.2f %% apart\n", exact.name.c_str(), exact.examined,
            drawn.examined, 100 * std::abs(drawn.examined / exact.examined - 1));
    }
}

} // namespace

int main() {
    heat();
    simulations();
    advice_on_rows();
}
