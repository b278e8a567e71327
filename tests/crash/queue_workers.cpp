// SPDX-License-Identifier: MIT
// Copyright (c) 2026 the entitable authors

// A queue in a file: four processes with four threads each enqueue and work, some are killed, answers get lost, and the clock is set
// back.

#include <entitable/entitable.hpp>
#include <entitable/file.hpp>
#include <entitable/messaging.hpp>

#include <support/catch.hpp>
#include <support/child_process.hpp>
#include <support/long.hpp>
#include <support/lossy.hpp>
#include <support/temporary_folder.hpp>

#include <algorithm>
#include <atomic>
#include <optional>
#include <thread>

using namespace entitable;
using namespace entitable_test;
using namespace std::chrono_literals;

namespace {

/// Some of them cannot be delivered.
struct parcel {
    std::string street;
    std::int32_t number{};
};
ENTITABLE(parcel, partition_key(street), row_key(number), properties())

constexpr std::int32_t parcels = 160;
constexpr std::uint32_t most_deliveries = 6;
constexpr int processes = 4;
constexpr int threads = 4;

constexpr bool cannot_be_done(std::int32_t number) { return number % 20 == 7; }

/// Shared by all processes.
struct seen_by_all {
    std::atomic<int> done[parcels];       ///< completed, as reported to a worker
    std::atomic<int> deliveries[parcels]; ///< successful claims
    std::atomic<bool> produced[processes * threads];
    std::atomic<int> wrong;
    std::atomic<std::int64_t> set_back; ///< ticks by which the clock is late
};

/// A hundred times as fast as the system clock, and set back now and then; the same in all processes.
struct fast_clock final : entitable::clock {
    explicit fast_clock(seen_by_all& all) : by(all) {}
    date_time now() noexcept override {
        std::int64_t const real = date_time::now().ticks - date_time::from_date(2026, 1, 1).ticks;
        return {date_time::from_date(2026, 1, 1).ticks + real * 100 - by.set_back};
    }
    steady_time steady() noexcept override {
        return steady_time{std::chrono::steady_clock::now().time_since_epoch() * 100};
    }
    void wait_until(steady_time time) noexcept override {
        std::this_thread::sleep_until(std::chrono::steady_clock::time_point{time.time_since_epoch() / 100});
    }
    seen_by_all& by;
};

queue_options options_with(entitable::clock& time) {
    queue_options how;
    how.lanes = 3;
    how.time = &time;
    how.visibility = 30s; // 0.3 s of the system clock
    how.max_deliveries = most_deliveries;
    how.max_attempts = 1'000;
    return how;
}

void run_worker(std::string const& path, seen_by_all& all, std::uint64_t seed, int process) {
    fast_clock time{all};
    file_options options;
    options.local.time = &time;
    options.durability = durability::relaxed; // the commits of a killed process are there
    file_backend const store{path, options};
    std::vector<std::thread> hands;
    for (int hand = 0; hand < threads; ++hand) {
        hands.emplace_back([&, hand] {
            random_source dice{seed * 100 + static_cast<std::uint64_t>(hand)};
            table_queue<parcel> const queue{lossy{store, &dice}, "parcels", options_with(time)};
            int const stride = processes * threads;
            for (std::int32_t number = process * threads + hand; number < parcels; number += stride) {
                if (!queue.enqueue({"Elm Street", number}, {.id = std::to_string(number)})) { ++all.wrong; }
            }
            all.produced[process * threads + hand] = true;
            auto const over = [&] {
                auto const size = queue.approximate_size();
                return size && size->ready + size->held == 0 &&
                    std::all_of(
                        std::begin(all.produced), std::end(all.produced), [](auto const& each) { return each.load(); });
            };
            for (;;) {
                auto items = queue.claim_some(static_cast<std::uint32_t>(1 + dice.bits() % 4), {.wait = 20s});
                if (!items) {
                    ++all.wrong;
                    continue;
                }
                if (items->empty() && over()) { break; }
                for (auto& each : *items) {
                    auto const number = static_cast<std::size_t>(each.message().number);
                    ++all.deliveries[number];
                    std::uint64_t const fate = dice.bits() % 20;
                    if (fate == 0) {
                        continue; // forgotten
                    }
                    if (fate == 1) { all.set_back += 2 * date_time::ticks_per_second; }
                    bool const fails = cannot_be_done(each.message().number);
                    auto const ended = fails ? each.fail("nobody is in") : fate == 2 ? each.release() : each.complete();
                    if (ended && fate != 2 && !fails) {
                        ++all.done[number];
                    } else if (!ended && ended.error().code != error_code::receipt_lost) {
                        ++all.wrong;
                    }
                }
            }
        });
    }
    for (auto& each : hands) { each.join(); }
}

} // namespace

TEST_CASE(
    "queue: no job is lost or done twice by four processes with four threads each that are killed at random times") {
    std::size_t const rounds = entitable_test::rounds(1, 40, 2);
    for (std::size_t round = 0; round < rounds; ++round) {
        temporary_folder const folder{temporary_folder::memory()};
        std::string const path = folder / "queue.db";
        shared_memory<seen_by_all> const all;
        {
            fast_clock time{*all};
            table_queue<parcel>{file_backend{path}, "parcels", options_with(time)}.create().value();
        }
        std::optional<child_process> workers[processes];
        auto const begin = [&](std::uint64_t seed, int process) {
            workers[process].reset();
            workers[process].emplace([&, seed, process] {
                run_worker(path, *all, seed, process);
                return true;
            });
        };
        for (int process = 0; process < processes; ++process) {
            begin(round * 100 + static_cast<std::uint64_t>(process) + 1, process);
        }
        for (std::uint64_t kill = 0; kill < 6; ++kill) {
            std::this_thread::sleep_for(30ms);
            // The next one enqueues its messages again: their ids are known.
            begin(1000 + round * 100 + kill, static_cast<int>(kill % processes));
        }
        CAPTURE(round);
        for (auto& each : workers) { CHECK(each->succeeds(60s)); }
        CHECK(all->wrong == 0);
        fast_clock time{*all};
        file_options options;
        options.local.time = &time;
        table_queue<parcel> const queue{file_backend{path, options}, "parcels", options_with(time)};
        bool dead[parcels]{};
        auto const dead_letters = queue.dead_letters().value();
        for (auto const& each : dead_letters) {
            dead[each.message.number] = true;
            CHECK(each.deliveries == most_deliveries);
            CHECK(all->done[each.message.number] == 0);
        }
        int twice = 0;
        int never = 0;
        int untold = 0;
        for (std::int32_t number = 0; number < parcels; ++number) {
            twice += all->done[number] > 1 ? 1 : 0;
            never += all->deliveries[number] == 0 && !dead[number] ? 1 : 0;
            untold += all->done[number] == 0 && !dead[number] ? 1 : 0;
            CHECK((dead[number] || !cannot_be_done(number)));
            // A delivery that no worker received: its answer was lost, or its program was killed.
            CHECK(all->deliveries[number] <= static_cast<int>(most_deliveries));
        }
        CHECK(twice == 0);
        CHECK(never == 0);
        CHECK(untold <= 6 * threads * 4); // a killed program does not report what it completed
        auto const left = queue.approximate_size().value();
        CHECK(left.ready + left.held == 0);
        // Each was completed or is a dead letter, and none was enqueued twice.
        CHECK(queue.sweep(-24h).value() + dead_letters.size() == static_cast<std::size_t>(parcels));
    }
}
