// SPDX-License-Identifier: MIT
// Copyright (c) 2026 the entitable authors
//
// expect: "insert"

#include <entitable/tables.hpp>

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
void use(entitable::table<order, sales> const& orders) {
#if defined(BROKEN)
    entitable::reader<order> const table{orders.transport(), "orders"};
#else
    auto const table = orders.unmaintained();
#endif
    (void)table.insert({"Kiel", 1, 100});
}
