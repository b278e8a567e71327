// SPDX-License-Identifier: MIT
// Copyright (c) 2026 the entitable authors

// How long single writes of one process wait while four threads of another process write without a pause: at most 20 times a commit
// on an idle machine, for 99 of 100 writes.

#include <entitable/entitable.hpp>
#include <entitable/file.hpp>

#include <support/child_process.hpp>
#include <support/temporary_folder.hpp>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstdio>
#include <string>
#include <thread>
#include <vector>

using namespace entitable;
using namespace entitable_test;

namespace {

struct item {
    std::string part;
    std::int64_t id{};
    std::string text;
};

ENTITABLE(item, partition_key(part), row_key(id), properties(text))

/// Milliseconds of each insert, sorted.
std::vector<double> single_writes(table<item> const& items, std::string const& part, std::int64_t count) {
    std::vector<double> took;
    for (std::int64_t id = 0; id < count; ++id) {
        auto const begin = std::chrono::steady_clock::now();
        items.insert({part, id, std::string(100, 'x')}).value();
        took.push_back(std::chrono::duration<double, std::milli>(std::chrono::steady_clock::now() - begin).count());
        std::this_thread::sleep_for(std::chrono::milliseconds{5});
    }
    std::sort(took.begin(), took.end());
    return took;
}

void measure(char const* name, entitable::durability durable) {
    constexpr std::int64_t writes = 500;
    temporary_folder const folder;
    file_options options;
    options.durability = durable;
    table<item>{file_backend{folder / "items.db", options}, "items"}.create().value();
    shared_memory<std::atomic<std::int64_t>> const others;
    double idle = 0;
    {
        table<item> const items{file_backend{folder / "items.db", options}, "items"};
        idle = single_writes(items, "idle", writes)[writes / 2];
    }
    child_process hot{[&] {
        table<item> const items{file_backend{folder / "items.db", options}, "items"};
        std::vector<std::thread> running;
        for (int thread = 0; thread < 4; ++thread) {
            running.emplace_back([&, thread] {
                for (std::int64_t id = 0;; ++id) {
                    items.insert({"hot" + std::to_string(thread), id, std::string(100, 'x')}).value();
                    ++*others;
                }
            });
        }
        running.front().join();
        return true;
    }};
    while (*others < 100) { std::this_thread::sleep_for(std::chrono::milliseconds{1}); }
    table<item> const items{file_backend{folder / "items.db", options}, "items"};
    auto const begin = std::chrono::steady_clock::now();
    std::int64_t const before = *others;
    auto const took = single_writes(items, "single", writes);
    std::chrono::duration<double> const time = std::chrono::steady_clock::now() - begin;
    double const p99 = took[writes * 99 / 100];
    std::printf("%-8s idle median %.2f ms; beside 4 hot threads median %.2f ms, p99 %.2f ms, max %.2f ms: p99 x %.1f "
                "of idle   limit 20%s; "
                "the others %.0f a second\n",
        name, idle, took[writes / 2], p99, took.back(), p99 / idle, p99 <= 20 * idle ? "" : "  MISSED",
        static_cast<double>(*others - before) / time.count());
}

} // namespace

int main() {
    measure("full", durability::full);
    measure("relaxed", durability::relaxed);
}
