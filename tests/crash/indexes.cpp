// SPDX-License-Identifier: MIT
// Copyright (c) 2026 the entitable authors

// Several processes write through tables with indexes on one file and are killed at any time: no entity is ever without its index rows, and
// after a repair by another process none is left over.

#include <entitable/file.hpp>

#include <index/histories.hpp>
#include <support/child_process.hpp>
#include <support/long.hpp>
#include <support/temporary_folder.hpp>

#include <atomic>

using namespace entitable;
using namespace entitable_test;
using namespace marathon;

TEST_CASE("index: an index is correct after processes were killed") {
    constexpr std::size_t writers = 3;
    temporary_folder const folder{temporary_folder::memory()};
    std::string const path = folder / "runners.db";
    insert_movers(marathon::open(file_backend{path}));
    struct acknowledged {
        std::atomic<std::int64_t> done[writers];
    };
    shared_memory<acknowledged> const all;
    std::size_t const kills = rounds(10, 500, 60);
    std::uint64_t left = 0;
    std::int64_t killed = 0;
    random_source random{5};
    for (std::size_t round = 0; round < kills; ++round) {
        {
            std::vector<child_process> children;
            for (std::size_t number = 0; number < writers; ++number) {
                children.emplace_back([&] {
                    everything const runners = marathon::open(file_backend{path});
                    for (std::uint64_t seed = round * writers + number + 1;; seed += 1'000'000) {
                        all->done[number] += add_and_move(runners, seed, 1).done;
                    }
                    return true;
                });
            }
            ::usleep(static_cast<useconds_t>(30'000 + random.bits() % 60'000));
            killed += writers;
        }
        everything const runners = marathon::open(file_backend{path});
        left += runners.verify().value().indexes.dangling;
        std::int64_t done = 0;
        for (auto const& each : all->done) { done += each; }
        CAPTURE(round, done, killed);
        check_movers(runners, {done, killed}); // a write may have been applied if its process was killed at its end
    }
    std::int64_t done = 0;
    for (auto const& each : all->done) { done += each; }
    std::printf(
        "indexes, kill -9: %zu rounds of %zu writers, %lld additions acknowledged, %llu rows left over and repaired\n",
        kills, writers, static_cast<long long>(done), static_cast<unsigned long long>(left));
    CHECK(done > static_cast<std::int64_t>(kills));
}
