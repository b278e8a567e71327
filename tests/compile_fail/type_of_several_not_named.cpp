// SPDX-License-Identifier: MIT
// Copyright (c) 2026 the entitable authors
//
// expect: "this table has several entity types: name one, as in get<invoice>(...)"

#include "registration.hpp"
#include <entitable/tables.hpp>

struct order {
    std::string customer;
    std::int32_t id{};
};
ENTITABLE(order, partition_key(customer), row_key(literal("order:"), id))

struct visit {
    std::string customer;
    std::int32_t day{};
};
ENTITABLE(visit, partition_key(customer), row_key(literal("visit:"), day))

void use(entitable::table<order, visit> const& shop) {
#if defined(BROKEN)
    (void)shop.get("ann", 7);
#else
    (void)shop.get<order>("ann", 7);
#endif
}
