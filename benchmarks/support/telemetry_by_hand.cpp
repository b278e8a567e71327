// SPDX-License-Identifier: MIT
// Copyright (c) 2026 the entitable authors

/// \file
/// What `examples/telemetry.cpp` prints, by hand over a sorted map, for `benchmarks/compile_cost`: it has no store, no result of a call, no property and
/// no time of the service, and its questions are loops.

#include <algorithm>
#include <chrono>
#include <cstdlib>
#include <functional>
#include <iomanip>
#include <iostream>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <vector>

namespace {

using time_point = std::chrono::sys_time<std::chrono::seconds>;

struct reading {
    std::string device;
    time_point at;
    double celsius{};
    std::optional<double> humidity;
};

/// The readings of each device, newest first.
using table = std::map<std::string, std::map<time_point, reading, std::greater<>>>;

void print(time_point at) {
    auto const day = std::chrono::floor<std::chrono::days>(at);
    std::chrono::year_month_day const date{day};
    std::chrono::hh_mm_ss const time{at - day};
    auto const two = [](auto number) -> std::ostream& {
        return std::cout << std::setw(2) << std::setfill('0') << number;
    };
    std::cout << static_cast<int>(date.year()) << '-';
    two(static_cast<unsigned>(date.month())) << '-';
    two(static_cast<unsigned>(date.day())) << 'T';
    two(time.hours().count()) << ':';
    two(time.minutes().count()) << ":00Z";
}

struct summary {
    std::size_t number{};
    double sum{};
    std::optional<double> most;
};

} // namespace

int main() {
    using namespace std::chrono_literals;
    table readings;
    time_point const start = std::chrono::sys_days{std::chrono::year{2026} / 4 / 20};
    for (int step = 0; step < 40; ++step) {
        reading one{"attic", start + step * 90min, 15.0 + step * 7 % 23, {}};
        if (step % 3 == 0) { one.humidity = 40.0 + step; }
        readings[one.device].insert_or_assign(one.at, one);
        readings["cellar"].insert_or_assign(one.at, reading{"cellar", one.at, 9.0 + step % 2, 80.0});
    }
    auto const& attic = readings.at("attic");

    std::cout << "The latest, which come first:\n";
    int left = 2;
    for (auto const& [at, each] : attic) {
        if (left-- == 0) { break; }
        std::cout << "  ";
        print(at);
        std::cout << "  " << each.celsius << " C\n";
    }

    std::cout << "The hottest of the second day:\n";
    std::vector<reading> hot;
    for (auto const& [at, each] : attic) {
        if (at >= start + 24h && at < start + 48h) { hot.push_back(each); }
    }
    std::stable_sort(hot.begin(), hot.end(), [](auto const& a, auto const& b) { return a.celsius > b.celsius; });
    if (hot.size() > 3) { hot.resize(3); }
    for (reading const& each : hot) {
        std::cout << "  ";
        print(each.at);
        std::cout << "  " << each.celsius << " C\n";
    }

    std::cout << "The driest; readings without humidity come last:\n";
    std::vector<std::pair<time_point, std::optional<double>>> dry;
    for (auto const& [at, each] : attic) { dry.emplace_back(at, each.humidity); }
    std::stable_sort(dry.begin(), dry.end(), [](auto const& a, auto const& b) {
        return a.second && b.second ? *a.second < *b.second : a.second.has_value() && !b.second;
    });
    for (std::size_t at = 0; at < 2; ++at) {
        std::cout << "  ";
        print(dry[at].first);
        std::cout << "  " << dry[at].second.value() << " %\n";
    }

    std::cout << "Each day:\n";
    std::map<std::chrono::sys_days, summary> days;
    for (auto const& [at, each] : attic) {
        summary& day = days[std::chrono::floor<std::chrono::days>(at)];
        ++day.number;
        day.sum += each.celsius;
        day.most = (std::max)(day.most.value_or(each.celsius), each.celsius);
    }
    for (auto const& [day, of] : days) {
        std::cout << "  ";
        print(day);
        std::cout << "  " << of.number << " readings, " << of.sum / static_cast<double>(of.number)
                  << " C on average, at most " << *of.most << " C\n";
    }

    std::cout << "Devices: ";
    std::set<std::string> devices;
    for (auto const& [device, all] : readings) { devices.insert(device); }
    for (std::string const& each : devices) { std::cout << each << ' '; }
    bool const some =
        std::any_of(attic.begin(), attic.end(), [&](auto const& each) { return each.first >= start + 72h; });
    std::cout << "\nA day later " << (some ? "some" : "nothing") << " was read.\n";
    return EXIT_SUCCESS;
}
