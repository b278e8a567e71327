// SPDX-License-Identifier: MIT
// Copyright (c) 2026 the entitable authors
//
// expect: "this entity type does not belong to the table"

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

struct stay {
    std::string customer;
};
ENTITABLE(stay, partition_key(customer), row_key(literal("stay")))

void use(entitable::table<order, visit> const& shop) {
#if defined(BROKEN)
    (void)shop.insert(stay{"ann"});
#else
    (void)shop.insert(visit{"ann", 1});
#endif
}
