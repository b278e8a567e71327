// SPDX-License-Identifier: MIT
// Copyright (c) 2026 the entitable authors
//
// expect: "aggregated_table<E, S> is now table<E, S>"

#include <entitable/aggregate.hpp>
#include <entitable/entitable.hpp>

struct order {
    std::string shop;
    std::int32_t number{};
    std::int64_t cents{};
};
ENTITABLE(order, partition_key(shop), row_key(literal("ORDER:"), number), properties(cents))
struct sales {
    std::string shop;
    std::int64_t cents{};
    static sales key(order const& of) { return {of.shop}; }
    void add(order const& one) { cents += one.cents; }
    void subtract(order const& one) { cents -= one.cents; }
};
ENTITABLE(sales, partition_key(shop), row_key(literal("SALES:")), properties(cents))

#if defined(BROKEN)
using orders_table = entitable::aggregated_table<order, sales>;
#else
using orders_table = entitable::table<order, sales>;
#endif

void use(entitable::any_store const& store) { orders_table const orders{store, "orders"}; }
