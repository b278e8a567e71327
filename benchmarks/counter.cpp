// SPDX-License-Identifier: MIT
// Copyright (c) 2026 the entitable authors

// One counter and 1 to 64 clients, each with a `sequence` of its own like separate programs: the time for a number (median, 99th
// percentile) and the number of writes, with blocks of 1, 10 and 100. In memory behind a network of 5 ms, as real contenders have; in
// memory; and in a durable file. The table of docs/guide/counting.md.
//
//     g++ -std=c++20 -O3 -DNDEBUG -I . -I include -I tests benchmarks/counter.cpp -o counter -lsqlite3 -pthread

#include <entitable/file.hpp>
#include <entitable/local/memory/memory_backend.hpp>
#include <entitable/sequence.hpp>

#include <support/temporary_folder.hpp>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstdio>
#include <thread>
#include <vector>

using namespace entitable;

namespace {

/// A remote store: half of the delay before the request arrives, half after its answer.
struct distant {
    using is_transport = void;
    memory_backend store;
    std::chrono::microseconds there_and_back{5000};

    template <class Request>
    [[nodiscard]] result<response_of<Request>> execute(Request const& request, call& context) const {
        std::this_thread::sleep_for(there_and_back / 2);
        auto answer = store.execute(request, context);
        std::this_thread::sleep_for(there_and_back / 2);
        return answer;
    }
    [[nodiscard]] entitable::profile profile() const { return store.profile(); }
};

struct drawn {
    std::vector<double> microseconds;
    std::uint64_t attempts{};
    std::uint64_t given_up{};
};

double quantile(std::vector<double>& sorted, double part) {
    return sorted.empty() ? 0 : sorted[static_cast<std::size_t>(part * static_cast<double>(sorted.size() - 1))];
}

template <class Store>
void line(Store const& store, std::uint32_t block, std::size_t clients) {
    using clock_type = std::chrono::steady_clock;
    std::atomic<bool> go{false};
    std::atomic<bool> stop{false};
    std::vector<drawn> all(clients);
    std::vector<std::thread> running;
    for (drawn& mine : all) {
        running.emplace_back([&] {
            sequence_options how;
            how.block = block;
            sequence const numbers{store, "counted", how};
            while (!go) { std::this_thread::yield(); }
            while (!stop) {
                auto const begin = clock_type::now();
                auto const number = numbers.next();
                std::chrono::duration<double, std::micro> const took = clock_type::now() - begin;
                if (number) {
                    mine.microseconds.push_back(took.count());
                    mine.attempts += number->attempts;
                } else {
                    ++mine.given_up;
                    mine.attempts += number.error().attempts;
                }
            }
        });
    }
    auto const begin = clock_type::now();
    go = true;
    std::this_thread::sleep_for(std::chrono::milliseconds{1000});
    stop = true;
    for (std::thread& each : running) { each.join(); }
    std::chrono::duration<double> const time = clock_type::now() - begin;
    drawn total;
    for (drawn const& each : all) {
        total.microseconds.insert(total.microseconds.end(), each.microseconds.begin(), each.microseconds.end());
        total.attempts += each.attempts;
        total.given_up += each.given_up;
    }
    std::sort(total.microseconds.begin(), total.microseconds.end());
    auto const count = static_cast<double>(total.microseconds.size());
    std::printf("| %3u | %2zu | %9.0f | %9.3f | %9.3f | %6.3f | %llu |\n", block, clients, count / time.count(),
        quantile(total.microseconds, 0.5) / 1000, quantile(total.microseconds, 0.99) / 1000,
        static_cast<double>(total.attempts) / std::max(count, 1.0), static_cast<unsigned long long>(total.given_up));
}

template <class Make>
void table_of(char const* name, Make const& make) {
    std::printf("\n%s\n\n| block | clients | numbers a second | p50, ms | p99, ms | writes a number | given up |\n"
                "| --- | --- | --- | --- | --- | --- | --- |\n",
        name);
    for (std::uint32_t const block : {1U, 10U, 100U}) {
        for (std::size_t const clients : {std::size_t{1}, std::size_t{4}, std::size_t{16}, std::size_t{64}}) {
            line(make(), block, clients);
        }
    }
}

} // namespace

int main() {
    table_of("memory, 5 ms away", [] { return distant{}; });
    table_of("memory", [] { return memory_backend{}; });
    entitable_test::temporary_folder const folder;
    int number = 0;
    table_of("durable file", [&] { return file_backend{folder / ("counter" + std::to_string(++number))}; });
    return 0;
}
