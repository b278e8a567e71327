// SPDX-License-Identifier: MIT
// Copyright (c) 2026 the entitable authors

// A copy of an open file compared with `cp` of the same closed file, both until the bytes are on the disk; and how much slower
// writers are during copies. The first argument is the size of the file in megabytes (200), the second the folder.
//
//     g++ -std=c++20 -O3 -DNDEBUG -I . -I include -I tests benchmarks/file_copy.cpp -o file_copy -lsqlite3 -pthread

#include <entitable/file.hpp>
#include <entitable/local/file/sqlite_store.hpp>

#include <benchmarks/support/business.hpp>
#include <benchmarks/support/measure.hpp>
#include <support/temporary_folder.hpp>

#include <algorithm>
#include <atomic>
#include <cstdlib>
#include <filesystem>
#include <memory>
#include <thread>

namespace {

using entitable::file_backend;
using entitable::file_copy_options;
using entitable::file_options;
using clock_type = std::chrono::steady_clock;

double seconds_since(clock_type::time_point begun) {
    return std::chrono::duration<double>(clock_type::now() - begun).count();
}

double megabytes(std::string const& path) { return static_cast<double>(std::filesystem::file_size(path)) / 1e6; }

void fill(std::string const& path, file_options const& options, std::size_t bytes) {
    file_options quick = options;
    quick.durability = entitable::durability::relaxed;
    file_backend const store{path, quick};
    (void)store.store().create_table("filling", "filling").value();
    std::mt19937_64 random{1};
    std::string text(1'000, ' ');
    for (std::size_t done = 0; done < bytes;) {
        (void)store.store()
            .update("filling", std::to_string(random()),
                [&](entitable::sqlite_store::transaction& rows) {
                    for (int row = 0; row < 500; ++row, done += 1'050) {
                        std::generate(text.begin(), text.end(), [&] { return static_cast<char>(random()); });
                        rows.put(std::to_string(row), text);
                    }
                    return true;
                })
            .value();
    }
}

/// Medians of alternating rounds.
void beside_cp(std::string const& path, std::string const& to, file_options const& options) {
    std::vector<double> ours;
    std::vector<double> cps;
    for (int round = 0; round < 5; ++round) {
        auto begun = clock_type::now();
        // In another process, while the file is not open.
        if (std::system(("cp '" + path + "' '" + to + "' && sync '" + to + "'").c_str()) != 0) {
            std::puts("cp failed");
            return;
        }
        cps.push_back(megabytes(to) / seconds_since(begun));
        std::filesystem::remove(to);
        file_backend const store{path, options};
        begun = clock_type::now();
        auto const done = store.copy_to(to).value();
        ours.push_back(static_cast<double>(done.total) / 1e6 / seconds_since(begun));
        std::filesystem::remove(to);
    }
    std::printf("copied, MB/s: cp and sync %.0f, copy_to %.0f, that is %.2f of it\n", measure::median(cps),
        measure::median(ours), measure::median(ours) / measure::median(cps));
}

struct seen {
    double writes;  ///< per second
    double slowest; ///< milliseconds
    double copies;  ///< per second
};

/// Threads write single rows for the given seconds, while copies are made one after the other.
seen under_load(file_backend const& store, std::string const& to, double time, file_copy_options const* copying) {
    entitable::table<measure::business> const rows{store, "businesses"};
    std::atomic<bool> stop{false};
    std::atomic<std::size_t> written{0};
    std::atomic<double> slowest{0};
    std::vector<std::thread> writers;
    for (int number = 0; number < 4; ++number) {
        writers.emplace_back([&, number] {
            for (std::size_t row = 0; !stop; ++row) {
                auto const begun = clock_type::now();
                (void)rows
                    .insert_or_replace(
                        measure::make_business(static_cast<std::size_t>(number) * 10'000 + row % 10'000, 1'000))
                    .value();
                double const took = seconds_since(begun) * 1e3;
                slowest = std::max(slowest.load(), took);
                ++written;
            }
        });
    }
    double copies = 0;
    auto const begun = clock_type::now();
    while (seconds_since(begun) < time) {
        if (copying == nullptr) {
            std::this_thread::sleep_for(std::chrono::milliseconds{20});
        } else if (auto const done = store.copy_to(to, *copying)) {
            ++copies;
            std::filesystem::remove(to);
        } else {
            std::puts(done.error().to_string().c_str());
            break;
        }
    }
    double const took = seconds_since(begun);
    stop = true;
    for (std::thread& each : writers) { each.join(); }
    return {static_cast<double>(written) / took, slowest, copies / took};
}

void beside_writers(std::string const& path, std::string const& to, file_options const& options) {
    file_backend const store{path, options};
    (void)entitable::table<measure::business>{store, "businesses"}.create_if_absent();
    file_copy_options const fast;
    file_copy_options const slow{.bytes_per_second = 50'000'000};
    struct form {
        char const* name;
        file_copy_options const* copying;
    };
    for (form const each : {form{"no copy", nullptr}, form{"copies at 50 MB/s", &slow},
             form{"copies one after the other", &fast}, form{"no copy", nullptr}}) {
        auto const now = under_load(store, to, 4, each.copying);
        std::printf("4 threads write, %s: %.0f writes/s, slowest %.0f ms; %.2f copies/s\n", each.name, now.writes,
            now.slowest, now.copies);
    }
}

} // namespace

int main(int count, char** arguments) {
    std::size_t const size = count > 1 ? std::strtoull(arguments[1], nullptr, 10) : 200;
    entitable_test::temporary_folder const folder{
        count > 2 ? std::filesystem::path{arguments[2]} : std::filesystem::temp_directory_path()};
    for (auto const journal : {entitable::file_journal::automatic, entitable::file_journal::rollback}) {
        bool const log = journal == entitable::file_journal::automatic;
        std::string const path = folder / (log ? "log.db" : "rollback.db");
        file_options options;
        options.journal = journal;
        fill(path, options, size * 1'000'000);
        std::printf("%s, %.0f MB\n", log ? "write-ahead log" : "rollback journal", megabytes(path));
        beside_cp(path, folder / "copy.db", options);
        beside_writers(path, folder / "copy.db", options);
        std::filesystem::remove(path);
    }
}
