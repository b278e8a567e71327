// SPDX-License-Identifier: MIT
// Copyright (c) 2026 the entitable authors
//
// expect: "the table maintains this type: it can be read but not written"

#include "registration.hpp"
#include <entitable/tables.hpp>

struct order {
    std::string customer;
    std::int32_t id{};
    std::int64_t cents{};
};
ENTITABLE(order, partition_key(customer), row_key(literal("order:"), id), properties(cents))

struct total {
    std::string customer;
    std::int64_t cents{};
    static total key(order const& of) { return {of.customer}; }
    void add(order const& one) { cents += one.cents; }
    void subtract(order const& one) { cents -= one.cents; }
};
ENTITABLE(total, partition_key(customer), row_key(literal("total")), properties(cents))

void use(entitable::table<order, total> const& shop) {
#if defined(BROKEN)
    (void)shop.insert(total{"ann", 7});
#else
    (void)shop.insert(order{"ann", 1, 7});
#endif
}
