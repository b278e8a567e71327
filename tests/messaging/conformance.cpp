// SPDX-License-Identifier: MIT
// Copyright (c) 2026 the entitable authors

// The suite of all queues on `table_queue`, in memory and in a file.

#include <entitable/file.hpp>
#include <entitable/memory.hpp>
#include <entitable/messaging.hpp>
#include <entitable/testing/manual_clock.hpp>

#include <support/queue_conformance.hpp>
#include <support/temporary_folder.hpp>

using namespace entitable;
using namespace entitable_test;
using namespace std::chrono_literals;

namespace {

template <class Store>
queue_world<table_queue<errand>> world_on(Store const& store, testing::manual_clock& time) {
    queue_options how;
    how.lanes = 3;
    how.visibility = 4s;
    how.max_deliveries = 3;
    how.time = &time;
    table_queue<errand> const queue{store, "errands", how};
    queue.create().value();
    return {queue, [&time](std::chrono::nanoseconds by) { time.advance(by); },
        [](table_queue<errand> const& of) {
            auto const all = of.dead_letters().value();
            return all.size() == 1 ? all[0].id + ": " + all[0].reason : std::to_string(all.size());
        },
        &time,
        [store, how](entitable::clock& own) {
            queue_options with = how;
            with.time = &own;
            return table_queue<errand>{store, "errands", with};
        }};
}

} // namespace

TEST_CASE("message_queue: table_queue in memory") {
    testing::manual_clock time;
    local_options local;
    local.time = &time;
    check_message_queue<table_queue<errand>>([&] { return world_on(memory_backend{local}, time); });
}

TEST_CASE("message_queue: table_queue in a file") {
    testing::manual_clock time;
    temporary_folder const folder{temporary_folder::memory()};
    file_options options;
    options.local.time = &time;
    options.durability = durability::relaxed;
    check_message_queue<table_queue<errand>>([&] { return world_on(file_backend{folder / "q.db", options}, time); });
}
