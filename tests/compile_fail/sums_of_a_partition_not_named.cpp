// SPDX-License-Identifier: MIT
// Copyright (c) 2026 the entitable authors
//
// expect: "name the partition by the components of its key"

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
    (void)orders.rebuild<sales>();
#else
    (void)orders.rebuild<sales>("kiel");
#endif
}
