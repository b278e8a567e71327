// SPDX-License-Identifier: MIT
// Copyright (c) 2026 the entitable authors

/// \file
/// Sums that are always right: the takings of a shop are stored in a row next to its orders, and change in the same transaction. Writes of a
/// program that does not know the sums are detected and corrected.

#include <entitable/entitable.hpp>
#include <entitable/memory.hpp>
#include <entitable/tables.hpp>

#include <cstdio>
#include <thread>
#include <vector>

struct order {
    std::string shop;
    std::int32_t number{};
    std::string day;
    std::int64_t cents{};
};
ENTITABLE(order, partition_key(shop), row_key(literal("ORDER:"), number), properties(day, cents))

struct daily_sales {
    std::string shop;
    std::string day;
    std::int64_t cents{};
    std::int64_t orders{};

    static daily_sales key(order const& of) { return {of.shop, of.day}; }
    void add(order const& one) { cents += one.cents, ++orders; }
    void subtract(order const& one) { cents -= one.cents, --orders; }
};
ENTITABLE(daily_sales, partition_key(shop), row_key(literal("SALES:"), day), properties(cents, orders))

using sales_table = entitable::table<order, daily_sales>;

static void show(sales_table const& orders, char const* day) {
    daily_sales const taken = orders.sum({"Kiel", day}).value();
    std::printf("%s: %lld orders, %lld.%02lld\n", day, static_cast<long long>(taken.orders),
        static_cast<long long>(taken.cents / 100), static_cast<long long>(taken.cents % 100));
}

int main() {
    entitable::memory_backend store;
    sales_table const orders{store, "orders", {.max_attempts = 1'000}};
    orders.create().value();

    std::vector<std::thread> tills; // four tills at once
    for (std::int32_t till = 0; till < 4; ++till) {
        tills.emplace_back([&orders, till] {
            for (std::int32_t number = 1; number <= 25; ++number) {
                orders.insert({"Kiel", till * 100 + number, "Monday", 250}).value();
            }
        });
    }
    for (std::thread& each : tills) { each.join(); }
    show(orders, "Monday");

    orders.update("Kiel", 101, [](order& each) { each.day = "Tuesday"; }).value(); // from one sum to another
    orders.remove("Kiel", 102, entitable::any_etag).value();
    show(orders, "Monday");
    show(orders, "Tuesday");

    std::puts("a program that knows nothing of sums writes");
    orders.unmaintained().insert({"Kiel", 900, "Tuesday", 1'000}).value();
    auto const found = orders.verify<daily_sales>("Kiel").value();
    std::printf("verify: %llu orders, %llu sums wrong, %s\n", static_cast<unsigned long long>(found.indexes.entities),
        static_cast<unsigned long long>(found.wrong_sums), found.wrong_sums_first.front().row_key.c_str());
    std::printf("rebuild: %llu written\n",
        static_cast<unsigned long long>(orders.rebuild<daily_sales>("Kiel").value().wrong_sums));
    show(orders, "Tuesday");
    return 0;
}
