// SPDX-License-Identifier: MIT
// Copyright (c) 2026 the entitable authors

// Hashed stores are used by several threads while their headers are read continuously and are then migrated.

#include <entitable/entitable.hpp>
#include <entitable/memory.hpp>
#include <entitable/shards.hpp>

#include <support/catch.hpp>

#include <atomic>
#include <map>
#include <mutex>
#include <thread>

using namespace entitable;

namespace {

struct item {
    std::string group;
    std::int32_t number{};
};
ENTITABLE(item, partition_key(group), row_key(number), properties())

} // namespace

TEST_CASE("hashed stores: several threads work while headers are migrated") {
    std::map<std::string, memory_backend> stores;
    std::mutex lock;
    auto const opener = [&](std::string_view name) -> result<any_store> {
        std::lock_guard<std::mutex> const guard{lock};
        return any_store{stores[std::string{name}]};
    };
    hash_stores_options often;
    often.check_every = std::chrono::milliseconds{1};
    auto const fixed = hash_stores::make({"one", "two", "three"}, opener, often).value();
    sharded const cloud{fixed};
    table<item> const items{cloud, "items"};
    items.create().value();
    std::atomic<bool> stop{false};
    std::atomic<int> written{0};
    std::atomic<int> refused{0};
    std::atomic<int> late{0}; // applied or not: the headers were migrated while the request was in flight
    std::atomic<int> wrong{0};
    std::vector<std::thread> all;
    for (int thread = 0; thread < 4; ++thread) {
        all.emplace_back([&, thread] {
            for (int number = 0; !stop; ++number) {
                auto const done = items.insert({"g" + std::to_string(number % 50), number * 4 + thread});
                auto const read = items.scan_table().count();
                written += done ? 1 : 0;
                for (auto const* told : {done ? nullptr : &done.error(), read ? nullptr : &read.error()}) {
                    if (told != nullptr) {
                        bool const is_late =
                            told->code == error_code::shard_moved && told->effect == effect::unknown && !done;
                        ++(is_late ? late : told->code == error_code::wrong_store ? refused : wrong);
                    }
                }
            }
        });
    }
    while (written < 200) { std::this_thread::yield(); }
    CHECK(fixed.retire());
    while (refused < 20) { std::this_thread::yield(); }
    stop = true;
    for (std::thread& each : all) { each.join(); }
    CHECK(wrong == 0);
    CHECK(hash_stores::make({"one", "two", "three"}, opener, often).error().code == error_code::wrong_store);
    int there = 0; // the contents of the stores: no client opens them any more
    for (auto const& [name, place] : {std::pair{"one", "0"}, std::pair{"two", "1"}, std::pair{"three", "2"}}) {
        table<item> const part{stores.at(name), std::string{"items000"} + place + "x1"};
        there += static_cast<int>(part.scan_table().count().value());
    }
    CHECK(there >= written);
    CHECK(there <= written + late);
}
