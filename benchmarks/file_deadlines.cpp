// SPDX-License-Identifier: MIT
// Copyright (c) 2026 the entitable authors

// How long a call on a file takes that ends with its deadline, its cancellation or busy_timeout, compared with its limit. Another
// process holds the writer lock all the time. At most 1.2 times as long.

#include <entitable/entitable.hpp>
#include <entitable/file.hpp>

#include <fcntl.h>
#include <support/temporary_folder.hpp>
#include <sys/file.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <functional>
#include <string>
#include <thread>
#include <vector>

using namespace entitable;
using std::chrono::milliseconds;

namespace {

struct item {
    std::string part;
    std::int64_t id{};
    std::string text;
};

ENTITABLE(item, partition_key(part), row_key(id), properties(text))

constexpr int rounds = 11;

/// Seconds that `work` took, in order.
std::vector<double> times(std::function<void()> const& work) {
    std::vector<double> took;
    for (int round = 0; round < rounds; ++round) {
        auto const begin = std::chrono::steady_clock::now();
        work();
        took.push_back(std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count());
    }
    std::sort(took.begin(), took.end());
    return took;
}

void show(char const* name, double given, std::vector<double> const& took) {
    std::printf("%-58s given %5.2f s, median %5.2f x, most %5.2f x\n", name, given, took[rounds / 2] / given,
        took.back() / given);
}

} // namespace

int main() {
    entitable_test::temporary_folder const folder;
    std::string const path = folder / "items.db";
    file_options options;
    options.busy_timeout = milliseconds{500};
    file_backend const store{path, options};
    table<item> const items{store, "items"};
    items.create().value();
    int const handle = ::open((path + "-lock").c_str(), O_RDWR | O_CLOEXEC);
    if (handle < 0 || ::flock(handle, LOCK_EX | LOCK_NB) != 0) {
        std::puts("the lock cannot be held");
        return 1;
    }
    call_options late;
    late.timeout = milliseconds{100};
    auto const insert = [&](call_options const& how) { (void)items.with(how).insert({"p", 1, ""}); };
    show("a writer that leads, its deadline", 0.1, times([&] { insert(late); }));
    show("a writer that leads, busy_timeout", 0.5, times([&] { insert({}); }));
    auto const beside = [&](std::function<void()> const& leader, std::function<void()> const& work) {
        std::vector<double> all;
        for (int round = 0; round < rounds; ++round) {
            std::thread other{leader};
            std::this_thread::sleep_for(milliseconds{20});
            auto const begin = std::chrono::steady_clock::now();
            work();
            all.push_back(std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count());
            other.join();
        }
        std::sort(all.begin(), all.end());
        return all;
    };
    show("a writer that follows another one, its deadline", 0.1, beside([&] { insert({}); }, [&] { insert(late); }));
    show("three writers that follow another one, busy_timeout", 0.5,
        beside([&] { insert({}); },
            [&] {
                std::vector<std::thread> three;
                for (int each = 0; each < 3; ++each) {
                    three.emplace_back([&] { insert({}); });
                }
                for (std::thread& each : three) { each.join(); }
            }));
    show("a writer beside a checkpoint, its deadline", 0.1,
        beside([&] { (void)store.checkpoint(); }, [&] { insert(late); }));
    show("a checkpoint, its deadline", 0.1, times([&] { (void)store.checkpoint(late); }));
    show("a writer that follows another one, cancelled", 0.2,
        beside([&] { insert({}); },
            [&] {
                cancellation_source stop;
                call_options cancelled;
                cancelled.cancellation = stop.token();
                std::thread canceller{[&] {
                    std::this_thread::sleep_for(milliseconds{200});
                    stop.cancel();
                }};
                insert(cancelled);
                canceller.join();
            }));
    ::close(handle);
}
