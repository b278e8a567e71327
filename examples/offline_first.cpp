// SPDX-License-Identifier: MIT
// Copyright (c) 2026 the entitable authors
// Run as a test with: {scratch}

/// \file
/// Offline first: a program on an edge device records into a file, whether or not there is a network, and pushes to the cloud
/// on demand. An interrupted push is run again: existing rows are only compared.
///
///     offline_first FILE [CONNECTION_STRING]
///
/// Without a connection string it takes the one in ENTITABLE_AZURITE, or the emulator's usual address.

#include <entitable/azure.hpp>
#include <entitable/bulk.hpp>
#include <entitable/copy.hpp>
#include <entitable/entitable.hpp>
#include <entitable/file.hpp>
#include <entitable/retrying.hpp>

#include <cstdio>
#include <cstdlib>
#include <string>
#include <vector>

struct reading {
    std::string sensor;
    std::int64_t minute{};
    double celsius{};
    double humidity{};
};

ENTITABLE(reading,
    partition_key(sensor),
    row_key(descending(minute)), // the newest first
    properties(celsius, humidity))

/// A day of four sensors, a minute apart.
void record(entitable::table<reading> const& readings) {
    std::vector<reading> day;
    for (std::string const sensor : {"attic", "cellar", "garden", "kitchen"}) {
        for (std::int64_t minute = 0; minute < 1440; ++minute) {
            double const celsius =
                15.0 + static_cast<double>((minute * 7 + std::int64_t(sensor.size()) * 31) % 100) / 10;
            day.push_back({sensor, minute, celsius, 40.0 + static_cast<double>(minute % 20)});
        }
    }
    entitable::bulk_upsert(readings, day).value().all().value();
}

void draw_bar(entitable::copy_progress const& done, std::uint64_t all) {
    std::string bar(40, '.');
    bar.replace(0, 40 * done.read / all, 40 * done.read / all, '#');
    std::fprintf(stderr, "\r[%s] %llu of %llu", bar.c_str(), static_cast<unsigned long long>(done.read),
        static_cast<unsigned long long>(all));
}

entitable::copy_progress push(entitable::table<reading> const& local, entitable::table<reading> const& cloud) {
    std::uint64_t const all = local.scan_table().count().value();
    auto const as_it_is = [](reading const& each) { return each; };
    auto const done =
        copy(local, cloud, as_it_is, [&](entitable::copy_progress const& so_far) { draw_bar(so_far, all); }).value();
    std::fprintf(stderr, "\n");
    return done;
}

int main(int argc, char** argv) {
    if (argc < 2) {
        std::fprintf(stderr, "usage: offline_first FILE [CONNECTION_STRING]\n");
        return 2;
    }
    char const* const given = argc > 2 ? argv[2] : std::getenv("ENTITABLE_AZURITE");

    entitable::table<reading> const readings{entitable::file_backend{argv[1]}, "readings"};
    readings.create_if_absent().value();
    record(readings);
    using r = entitable::fields<reading>;
    std::printf("in the file: %zu readings\n", readings.scan_table().count().value());
    for (reading const& each : readings.where(r::sensor == "attic").take(2)) {
        std::printf("  attic, minute %lld: %.1f degrees\n", static_cast<long long>(each.minute), each.celsius);
    }

    entitable::azure_backend const service{given != nullptr ? given : "UseDevelopmentStorage=true"};
    entitable::table<reading> const cloud{entitable::retrying{service}, "readings"};
    cloud.create_if_absent().value();
    for (char const* const time : {"pushed", "pushed again"}) {
        auto const done = push(readings, cloud);
        std::printf("%s: %llu written, %llu there already, %llu read back\n", time,
            static_cast<unsigned long long>(done.written), static_cast<unsigned long long>(done.present),
            static_cast<unsigned long long>(done.verified));
    }
    std::printf("in the cloud: %zu readings of the garden at 20 degrees or more, in the file %zu\n",
        cloud.where(r::sensor == "garden" && r::celsius >= 20.0).count().value(),
        readings.where(r::sensor == "garden" && r::celsius >= 20.0).count().value());
}
