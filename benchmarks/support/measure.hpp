// SPDX-License-Identifier: MIT
// Copyright (c) 2026 the entitable authors
#pragma once

/// \file
/// How the benchmarks measure: contenders alternate, round by round, in one process. The results are medians, and
/// medians of the ratios per round. CPU time of the process, except when threads are compared.

#include <malloc.h>
#include <pthread.h>
#include <sched.h>
#include <time.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstdio>
#include <functional>
#include <random>
#include <string_view>
#include <thread>
#include <vector>

namespace measure {

inline double cpu_now() {
    timespec time{};
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &time);
    return static_cast<double>(time.tv_sec) * 1e9 + static_cast<double>(time.tv_nsec);
}

inline double median(std::vector<double> values) {
    std::nth_element(values.begin(), values.begin() + static_cast<std::ptrdiff_t>(values.size() / 2), values.end());
    return values[values.size() / 2];
}

/// CPU ns per operation.
template <class Work>
double timed(std::size_t operations, Work const& work) {
    double const begin = cpu_now();
    work();
    return (cpu_now() - begin) / static_cast<double>(operations);
}

/// The same in wall time.
template <class Work>
double wall(std::size_t operations, Work const& work) {
    auto const begin = std::chrono::steady_clock::now();
    work();
    std::chrono::duration<double, std::nano> const time = std::chrono::steady_clock::now() - begin;
    return time.count() / static_cast<double>(operations);
}

inline void heading() { std::printf("%-46s %8s %8s   ratio\n", "", "by hand", "ours, ns"); }

/// Runs both in turn; each returns the CPU ns of one operation. `limit` is the allowed ratio of ours to the baseline.
inline void compare(char const* name, double limit, std::size_t rounds, std::function<double()> const& yardstick,
    std::function<double()> const& ours) {
    std::vector<double> first;
    std::vector<double> second;
    std::vector<double> ratios;
    (void)yardstick();
    (void)ours();
    for (std::size_t round = 0; round < rounds; ++round) {
        first.push_back(yardstick());
        second.push_back(ours());
        ratios.push_back(second.back() / first.back());
    }
    auto const [least, most] = std::minmax_element(ratios.begin(), ratios.end());
    std::printf("%-46s %8.0f %8.0f   %5.2f (%.2f-%.2f)   limit %.2f%s\n", name, median(first), median(second),
        median(ratios), *least, *most, limit, median(ratios) <= limit ? "" : "  MISSED");
}

/// Bytes currently allocated, including the allocator's overhead.
inline std::size_t allocated_bytes() {
    auto const now = mallinfo2();
    return now.uordblks + now.hblkhd;
}

/// Millions of operations per second on this number of threads, each on a processor of its own.
inline double rate(std::size_t threads, std::function<void(std::size_t, std::mt19937_64&)> const& operation) {
    std::atomic<bool> go{false};
    std::atomic<bool> stop{false};
    std::atomic<std::uint64_t> total{0};
    std::vector<std::thread> running;
    for (std::size_t thread = 0; thread < threads; ++thread) {
        running.emplace_back([&, thread] {
            cpu_set_t processors;
            CPU_ZERO(&processors);
            CPU_SET(thread, &processors);
            pthread_setaffinity_np(pthread_self(), sizeof processors, &processors);
            std::mt19937_64 random{thread + 1};
            while (!go) {}
            std::uint64_t done = 0;
            while (!stop.load(std::memory_order_relaxed)) {
                for (int burst = 0; burst < 64; ++burst) { operation(thread, random); }
                done += 64;
            }
            total += done;
        });
    }
    auto const begin = std::chrono::steady_clock::now();
    go = true;
    std::this_thread::sleep_for(std::chrono::milliseconds{60});
    stop = true;
    for (std::thread& each : running) { each.join(); }
    std::chrono::duration<double, std::micro> const time = std::chrono::steady_clock::now() - begin;
    return static_cast<double>(total) / time.count();
}

/// The speed-up of two threads that only count.
inline double free_cores() {
    auto const spin = [](std::size_t, std::mt19937_64& random) { (void)random(); };
    double const one = rate(1, spin);
    return rate(2, spin) / one;
}

/// The speed-up of two threads over one, compared with the hand-written form. A time window counts only if both cores
/// were free before and after it.
inline void two_threads(char const* name, double limit,
    std::function<void(std::size_t, std::mt19937_64&)> const& by_hand,
    std::function<void(std::size_t, std::mt19937_64&)> const& ours) {
    std::vector<double> ones;
    std::vector<double> factors;
    std::vector<double> hand_factors;
    std::vector<double> cores;
    for (int window = 0; window < 60 && factors.size() < 11; ++window) {
        double const before = free_cores();
        double const one = rate(1, ours);
        double const two = rate(2, ours);
        double const hand_one = rate(1, by_hand);
        double const hand_two = rate(2, by_hand);
        cores.push_back(std::min(before, free_cores()));
        if (cores.back() >= 1.85) {
            ones.push_back(one);
            factors.push_back(two / one);
            hand_factors.push_back(hand_two / hand_one);
        }
    }
    if (factors.size() < 5) {
        std::printf("%-46s not measured: %.2f cores were free\n", name, median(cores));
        return;
    }
    auto const [least, most] = std::minmax_element(factors.begin(), factors.end());
    std::printf("%-46s %5.2f M/s   x %.2f (%.2f-%.2f)   limit %.2f%s   by hand x %.2f   %zu of %zu windows\n", name,
        median(ones), median(factors), *least, *most, limit, median(factors) >= limit ? "" : "  MISSED",
        median(hand_factors), factors.size(), cores.size());
}

} // namespace measure
