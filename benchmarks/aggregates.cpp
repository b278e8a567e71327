// SPDX-License-Identifier: MIT
// Copyright (c) 2026 the entitable authors

// A hot aggregate: 8 writers of one row of sums, and of eight. Measures the latency of an insert and the attempts, in memory, with a service
// that takes half a millisecond for a request.
//
//     g++ -std=c++20 -O3 -DNDEBUG -I . -I include -I tests benchmarks/aggregates.cpp -o aggregates -lpthread && ./aggregates

#include <entitable/entitable.hpp>
#include <entitable/memory.hpp>
#include <entitable/tables.hpp>

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <mutex>
#include <thread>
#include <vector>

namespace benchmark_aggregates {

struct order {
    std::string shop;
    std::int32_t number{};
    std::string day;
    std::int64_t cents{};
};
ENTITABLE(order, partition_key(shop), row_key(literal("ORDER:"), number), properties(day, cents))

struct sales {
    std::string shop;
    std::string day;
    std::int32_t part{};
    std::int64_t cents{};

    static sales key(order const& of) { return {of.shop, of.day}; }
    void add(order const& one) { cents += one.cents; }
    void subtract(order const& one) { cents -= one.cents; }
    void combine(sales const& other) { cents += other.cents; }
};
ENTITABLE(sales, partition_key(shop), row_key(literal("SALES:"), day, width(part, 2)), properties(cents))

/// Delays each request, like a service.
struct distant {
    using is_transport = void;
    entitable::any_store behind;
    [[nodiscard]] entitable::profile profile() const { return behind.profile(); }
    template <entitable::table_request Request>
        requires(!std::same_as<Request, entitable::read_entity>)
    [[nodiscard]] entitable::result<entitable::response_of<Request>> execute(
        Request const& request, entitable::call& context) const {
        std::this_thread::sleep_for(std::chrono::microseconds{500});
        return behind.execute(request, context);
    }
};

template <class Table>
void run(char const* what, std::int32_t writers, std::int32_t inserts) {
    entitable::memory_backend store;
    Table const orders{distant{store}, "orders", {.max_attempts = 10'000}};
    orders.create().value();
    std::mutex guard;
    std::vector<double> taken;
    std::size_t attempts = 0;
    std::vector<std::thread> threads;
    for (std::int32_t writer = 0; writer < writers; ++writer) {
        threads.emplace_back([&, writer] {
            for (std::int32_t number = 0; number < inserts; ++number) {
                auto const begun = std::chrono::steady_clock::now();
                auto const done = orders.insert({"kiel", writer * 1'000'000 + number, "mon", 3}).value();
                std::chrono::duration<double, std::milli> const took = std::chrono::steady_clock::now() - begun;
                std::lock_guard const lock{guard};
                taken.push_back(took.count());
                attempts += done.attempts;
            }
        });
    }
    for (std::thread& each : threads) { each.join(); }
    std::sort(taken.begin(), taken.end());
    std::printf("%-34s %2d writers  p50 %7.2f ms  p99 %7.2f ms  %5.2f attempts  sum %s\n", what, writers,
        taken[taken.size() / 2], taken[taken.size() * 99 / 100],
        static_cast<double>(attempts) / static_cast<double>(taken.size()),
        orders.sum({"kiel", "mon"}).value().cents == 3LL * writers * inserts ? "right" : "WRONG");
}

} // namespace benchmark_aggregates

int main() {
    using namespace benchmark_aggregates;
    using hot = entitable::table<order, sales>;
    using salted = entitable::table<order, entitable::salted_aggregate<sales, &sales::part, 8>>;
    run<hot>("one row of sums", 1, 200);
    run<hot>("one row of sums", 8, 100);
    run<salted>("salted, 8 rows of sums", 8, 100);
    return 0;
}
