// SPDX-License-Identifier: MIT
// Copyright (c) 2026 the entitable authors
//
// expect: "this entity type does not belong to the table"

#include "shop.hpp"
#include <entitable/tables.hpp>

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
