// SPDX-License-Identifier: MIT
// Copyright (c) 2026 the entitable authors

/// \file
/// Readings of two devices, newest first in their keys: the latest, the hottest, and a summary of each day. Times are calculated with
/// <chrono>, and everything is printed by streams.

#include <entitable/entitable.hpp>
#include <entitable/memory.hpp>
#include <entitable/print.hpp>

#include <chrono>
#include <cstdlib>
#include <iostream>

struct reading {
    std::string device;
    entitable::date_time at;
    double celsius{};
    std::optional<double> humidity;
};
ENTITABLE(reading, partition_key(device), row_key(descending(at)), properties(celsius, humidity))

int main() {
    using namespace std::chrono_literals;
    using r = entitable::fields<reading>;
    entitable::table<reading> const readings{entitable::memory_backend{}, "readings"};
    readings.create_if_absent().value();

    auto const start = entitable::date_time::from_date(2026, 4, 20);
    for (std::int32_t step = 0; step < 40; ++step) {
        reading one{"attic", start + step * 90min, 15.0 + step * 7 % 23, {}};
        if (step % 3 == 0) { one.humidity = 40.0 + step; }
        readings.insert(one).value();
        readings.insert({"cellar", start + step * 90min, 9.0 + step % 2, 80.0}).value();
    }
    auto const attic = readings.where(r::device == "attic");

    std::cout << "The latest, which come first:\n";
    for (reading const& each : attic.take(2)) { std::cout << "  " << each.at << "  " << each.celsius << " C\n"; }

    std::cout << "The hottest of the second day:\n";
    auto const second_day = readings.where(r::device == "attic" && r::at >= start + 24h && r::at < start + 48h);
    for (reading const& each : second_day.top(3, r::celsius)) {
        std::cout << "  " << each.at << "  " << each.celsius << " C\n";
    }

    std::cout << "The driest; readings without humidity come last:\n";
    for (auto const& each : attic.order_by(r::humidity).select(r::humidity).take(2)) {
        std::cout << "  " << each[r::at] << "  " << each[r::humidity].value() << " %\n";
    }

    std::cout << "Each day:\n";
    for (auto const& [day, of] :
        attic.group_by(entitable::day(r::at), entitable::count(), average(r::celsius), max(r::celsius)).value()) {
        auto const& [number, mean, hottest] = of;
        std::cout << "  " << day << "  " << number << " readings, " << *mean << " C on average, at most " << *hottest
                  << " C\n";
    }

    std::cout << "Devices: ";
    for (std::string const& each : readings.scan_table().distinct(r::device).value()) { std::cout << each << ' '; }
    std::cout << "\nA day later "
              << (readings.where(r::device == "attic" && r::at >= start + 72h).exists().value() ? "some" : "nothing")
              << " was read.\n";
    return EXIT_SUCCESS;
}
