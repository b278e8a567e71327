// SPDX-License-Identifier: MIT
// Copyright (c) 2026 the entitable authors
//
// expect: "the row keys of two types of this table are ambiguous"

#include <entitable/tables.hpp>

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
};
#if defined(BROKEN)
ENTITABLE(sales, partition_key(shop), row_key(literal("ORDER:"), day, width(part, 2)), properties(cents))
#else
ENTITABLE(sales, partition_key(shop), row_key(literal("SALES:"), day, width(part, 2)), properties(cents))
#endif

void use(entitable::any_store through) {
    (void)entitable::table<order, sales>{std::move(through), "orders"}.sum({"a", "b"});
}
