// SPDX-License-Identifier: MIT
// Copyright (c) 2026 the entitable authors

// Tables over many stores, used by several threads while shards move, the map is renewed and other tables are created
// and dropped.

#include <entitable/entitable.hpp>
#include <entitable/memory.hpp>
#include <entitable/retrying.hpp>
#include <entitable/shards.hpp>

#include <support/catch.hpp>
#include <support/long.hpp>
#include <support/maps.hpp>

#include <atomic>
#include <map>
#include <mutex>
#include <thread>

using namespace entitable;
using namespace std::chrono_literals;

namespace {

struct item {
    std::string group;
    std::int32_t number{};
    std::int64_t count{};
};
ENTITABLE(item, partition_key(group), row_key(width(number, 8)), properties(count))

/// Three stores, and clients that cache the map for a twentieth of a second.
struct moving_stores {
    std::map<std::string, memory_backend> stores;
    std::mutex lock;
    memory_backend catalogue;
    lookup_map_options leases{std::chrono::milliseconds{50}};
    std::vector<std::string> const names{"alpha", "beta", "gamma"};

    [[nodiscard]] sharded open() {
        return entitable_test::cloud_of(catalogue, "shardmap", virtual_shards{3}, names, leases,
            [this](std::string_view name) -> result<any_store> {
                std::lock_guard<std::mutex> const guard{lock};
                return any_store{stores[std::string{name}]};
            });
    }
};

/// Errors of a shard that is moving or being created: nothing wrong.
bool passes_by(error const& told) {
    return told.code == error_code::shard_moving || told.code == error_code::shard_moved ||
        told.code == error_code::table_already_exists || told.code == error_code::resource_not_found ||
        told.code == error_code::table_not_found;
}

struct told {
    std::atomic<int> written{0};   ///< inserts that were acknowledged
    std::atomic<int> unknown{0};   ///< inserts with unknown outcome
    std::atomic<int> counted{0};   ///< increments that were acknowledged
    std::atomic<int> uncounted{0}; ///< increments with unknown outcome
    std::atomic<int> moves{0};
    std::atomic<int> scans{0};
    std::atomic<int> tables{0}; ///< tables that were created and dropped
    std::atomic<int> wrong{0};
    std::mutex lock;
    std::string what;

    void problem(std::string_view who, error const& why) {
        ++wrong;
        std::lock_guard<std::mutex> const guard{lock};
        what = std::string{who} + ": " + why.to_string();
    }
};

/// Pause between two writes of a thread, growing with each: otherwise the shards outgrow their movers.
void pause(int written) { std::this_thread::sleep_for(std::chrono::microseconds{500 + 5 * written}); }

constexpr int groups = 12;
std::string group_of(int number) { return "g" + std::to_string(number % groups); }

/// Inserts rows of its own. Every second writer settles unknown outcomes.
void write(any_store const& through, int thread, std::atomic<bool> const& stop, told& all) {
    table<item> const items{through, "items"};
    for (int number = thread + 1; !stop; number += 4) {
        pause(number);
        auto done = items.insert({group_of(number), number, 0});
        while (!done && done.error().code == error_code::shard_moving && done.error().effect == effect::none && !stop) {
            pause(0);
            done = items.insert({group_of(number), number, 0});
        }
        if (done) {
            ++all.written;
        } else if (done.error().effect == effect::unknown) {
            ++all.unknown;
        } else if (!passes_by(done.error())) {
            all.problem("a writer", done.error());
        }
    }
}

/// Increments one row, using its ETag.
void count(any_store const& through, std::atomic<bool> const& stop, told& all) {
    table<item> const items{through, "items"};
    while (!stop) {
        pause(0);
        auto const read = items.get_stored(group_of(0), 0);
        if (!read) {
            if (!passes_by(read.error())) { all.problem("a counter", read.error()); }
            continue;
        }
        item next = read->entity;
        ++next.count;
        if (auto const done = items.replace(next, read->etag); done) {
            ++all.counted;
        } else if (done.error().effect == effect::unknown) {
            ++all.uncounted;
        } else if (done.error().code != error_code::update_condition_not_satisfied && !passes_by(done.error())) {
            all.problem("a counter", done.error());
        }
    }
}

/// Scans all shards: rows that exist from the start are returned once, in order.
void scan(any_store const& through, std::atomic<bool> const& stop, told& all) {
    table<item> const items{through, "items"};
    while (!stop) {
        std::vector<std::string> met;
        auto const whole = items.scan_table().for_each([&](item const& each) {
            if (each.number == 0) { met.push_back(each.group); }
        });
        if (!whole) {
            if (!passes_by(whole.error())) { all.problem("a scan", whole.error()); }
            continue;
        }
        ++all.scans;
        if (met.size() != groups || !std::is_sorted(met.begin(), met.end())) {
            all.problem("a scan", error{error_code::row_mismatch, "met " + std::to_string(met.size())});
        }
    }
}

/// Moves its shard around the stores.
void move(sharded const& cloud, std::int32_t shard, std::vector<std::string> const& names,
    std::atomic<bool> const& stop, told& all) {
    move_options quick;
    quick.short_lease = std::chrono::milliseconds{5};
    quick.page_size = 50;
    auto took = std::chrono::steady_clock::duration{};
    for (std::size_t number = 0; !stop; ++number) {
        std::this_thread::sleep_for(
            (std::min<std::chrono::nanoseconds>)(took, 1s)); // tables are created while no shard moves
        auto const begun = std::chrono::steady_clock::now();
        auto plan = plan_move(cloud, shard, names[number % names.size()], quick);
        auto const done = plan ? plan->run() : result<move_progress>{failure{plan.error()}};
        took = std::chrono::steady_clock::now() - begun;
        if (done) {
            ++all.moves;
        } else if (!passes_by(done.error()) && done.error().code != error_code::invalid_input) { // it already exists
            all.problem("a mover", done.error());
        }
    }
}

/// Creates a table, uses it and drops it.
void come_and_go(sharded const& cloud, std::atomic<bool> const& stop, told& all) {
    table<item> const others{cloud, "others"};
    while (!stop) {
        if (auto const made = others.create(); made) {
            if (auto const done = others.insert({"g", 1, 1}); !done && !passes_by(done.error())) {
                all.problem("another table", done.error());
            }
        } else if (!passes_by(made.error())) {
            all.problem("another table", made.error());
        }
        if (auto const gone = others.drop(); gone) {
            ++all.tables;
        } else if (!passes_by(gone.error())) {
            all.problem("another table", gone.error());
        }
        std::this_thread::sleep_for(std::chrono::milliseconds{2});
    }
}

} // namespace

TEST_CASE("shards: several threads read and write while shards move and tables are created and dropped") {
    moving_stores all_stores;
    sharded const cloud = all_stores.open();
    table<item> const items{cloud, "items"};
    items.create().value();
    for (int number = 0; number < groups; ++number) { items.insert({group_of(number), 0, 0}).value(); }
    retrying_options settled;
    settled.operation_rows = true;
    any_store const sure{retrying{any_store{cloud}, settled}};
    std::atomic<bool> stop{false};
    told all;
    std::vector<std::thread> threads;
    for (int thread = 0; thread < 4; ++thread) {
        threads.emplace_back([&, thread] { write(thread % 2 == 0 ? sure : any_store{cloud}, thread, stop, all); });
    }
    sharded const other = all_stores.open(); // as another process would have
    threads.emplace_back([&] { count(other, stop, all); });
    threads.emplace_back([&] { count(sure, stop, all); });
    threads.emplace_back([&] { scan(cloud, stop, all); });
    threads.emplace_back([&] { scan(other, stop, all); });
    std::int32_t const of_counter = static_cast<std::int32_t>(virtual_shards{3}.shard_of(group_of(0)).value());
    threads.emplace_back([&] { move(cloud, of_counter, all_stores.names, stop, all); });
    threads.emplace_back([&] { move(other, (of_counter + 1) % 3, all_stores.names, stop, all); });
    threads.emplace_back([&] { come_and_go(other, stop, all); });
    int const moves = static_cast<int>(entitable_test::rounds(10, 500));
    auto const begun = std::chrono::steady_clock::now();
    auto const most = std::chrono::seconds{entitable_test::rounds(60, 3000)};
    while ((all.moves < moves || all.scans < 4 || all.tables < 2) && std::chrono::steady_clock::now() - begun < most) {
        std::this_thread::sleep_for(std::chrono::milliseconds{5});
    }
    stop = true;
    for (std::thread& each : threads) { each.join(); }
    CAPTURE(all.what);
    CHECK(all.wrong == 0);
    CHECK(all.moves >= moves);
    CHECK(all.scans >= 4);
    CHECK(all.tables >= 2);
    CHECK(all.written > 50);
    cancel_move(cloud, of_counter).value();
    cancel_move(cloud, (of_counter + 1) % 3).value();
    int there = 0;
    auto const read = items.scan_table().for_each([&](item const& each) { there += each.number > 0 ? 1 : 0; });
    CHECK(read);
    CHECK(there >= all.written);
    CHECK(there <= all.written + all.unknown);
    auto const counter = items.get(group_of(0), 0).value();
    CHECK(counter.count >= all.counted);
    CHECK(counter.count <= all.counted + all.uncounted);
    std::printf("shards under threads: %d moves, %d rows, %d of unknown effect, %d increments, %d scans, %d tables\n",
        all.moves.load(), all.written.load(), all.unknown.load(), all.counted.load(), all.scans.load(),
        all.tables.load());
}
