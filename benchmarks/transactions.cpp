// SPDX-License-Identifier: MIT
// Copyright (c) 2026 the entitable authors

// The overhead of a transaction over a hand-written loop: read a counter, increment it, write the counter and a row in one batch, and
// start over on a conflict. In memory, without contention; requests of both are the same. Then 1 to 16 threads on one partition, as
// attempts and latencies of each.
//
//     g++ -std=c++20 -O3 -DNDEBUG -I . -I include -I tests benchmarks/transactions.cpp -o transactions -lpthread && ./transactions

#include <entitable/entitable.hpp>
#include <entitable/memory.hpp>
#include <entitable/tables.hpp>

#include <benchmarks/support/measure.hpp>

#include <algorithm>
#include <atomic>
#include <string>
#include <thread>

namespace benchmark_transactions {

struct counter {
    std::string tenant;
    std::int64_t last{};
};
ENTITABLE(counter, partition_key(tenant), row_key(literal("counter")), properties(last))

struct invoice {
    std::string tenant;
    std::int64_t number{};
    std::string customer;
    double total{};
};
ENTITABLE(invoice, partition_key(tenant), row_key(literal("invoice:"), number), properties(customer, total))

} // namespace benchmark_transactions

using namespace entitable;
using namespace benchmark_transactions;

namespace {

using books = table<counter, invoice>;

/// Attempts for one invoice.
std::uint32_t by_hand(table<counter> const& counters, books const& ledger, entitable::clock& time) {
    for (std::uint32_t attempts = 1;; ++attempts) {
        auto counted = counters.get_stored("ACME").value();
        counted.entity.last += 1;
        auto both = ledger.batch();
        both.replace(counted.entity, counted.etag).insert(invoice{"ACME", counted.entity.last, "ann", 12.5});
        auto const done = both.submit();
        if (done) { return attempts; }
        if (done.error().code != error_code::update_condition_not_satisfied) { (void)done.value(); }
        time.wait_until(time.steady() + std::chrono::microseconds{500});
    }
}

std::uint32_t by_transaction(books const& ledger) {
    return ledger
        .transact("ACME",
            [](transaction<counter, invoice>& all) -> result<void> {
                ENTITABLE_TRY(auto counted, all.get<counter>());
                counted.last += 1;
                all.replace(counted).insert(invoice{"ACME", counted.last, "ann", 12.5});
                return {};
            },
            {.max_attempts = 100'000})
        .value()
        .attempts;
}

/// A ledger of its own.
books opened() {
    books ledger{memory_backend{}, "ledger"};
    ledger.create().value();
    ledger.insert(counter{"ACME", 0}).value();
    return ledger;
}

template <class One>
double timed(std::size_t times, One const& one) {
    books const ledger = opened();
    table<counter> const counters = ledger.unmaintained<counter>();
    return measure::timed(times, [&] {
        for (std::size_t count = 0; count < times; ++count) { one(counters, ledger); }
    });
}

template <class One>
void contended(char const* name, int threads, One const& one) {
    constexpr int each = 500;
    books const ledger = opened();
    table<counter> const counters = ledger.unmaintained<counter>();
    std::atomic<std::uint64_t> attempts{0};
    std::vector<std::vector<double>> took(static_cast<std::size_t>(threads));
    std::vector<std::thread> running;
    for (std::vector<double>& own : took) {
        running.emplace_back([&] {
            for (int count = 0; count < each; ++count) {
                auto const begun = std::chrono::steady_clock::now();
                attempts += one(counters, ledger);
                own.push_back(
                    std::chrono::duration<double, std::micro>(std::chrono::steady_clock::now() - begun).count());
            }
        });
    }
    for (std::thread& thread : running) { thread.join(); }
    std::vector<double> all;
    for (std::vector<double> const& own : took) { all.insert(all.end(), own.begin(), own.end()); }
    std::sort(all.begin(), all.end());
    std::printf("%-16s %3d threads  %5.2f attempts  p50 %8.1f us  p99 %8.1f us\n", name, threads,
        static_cast<double>(attempts.load()) / static_cast<double>(all.size()), all[all.size() / 2],
        all[all.size() * 99 / 100]);
}

} // namespace

int main(int count, char** arguments) {
    auto const hand = [](table<counter> const& counters, books const& ledger) {
        return by_hand(counters, ledger, system_clock());
    };
    auto const ours = [](table<counter> const&, books const& ledger) { return by_transaction(ledger); };
    if (count > 1) { // for a profiler: by hand, or ours
        (void)(std::string{arguments[1]} == "hand" ? timed(5'000, hand) : timed(5'000, ours));
        return 0;
    }
    measure::heading();
    measure::compare(
        "read, count, write two rows", 1.10, 21, [&] { return timed(5'000, hand); },
        [&] { return timed(5'000, ours); });
    for (int const threads : {1, 4, 16}) {
        contended("by hand", threads, hand);
        contended("transaction", threads, ours);
    }
}
