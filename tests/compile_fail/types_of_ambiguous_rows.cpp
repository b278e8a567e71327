// SPDX-License-Identifier: MIT
// Copyright (c) 2026 the entitable authors
//
// expect: "the row keys of two types of this table are ambiguous"

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
#if defined(BROKEN)
ENTITABLE(visit, partition_key(customer), row_key(literal("order:"), day))
#else
ENTITABLE(visit, partition_key(customer), row_key(literal("visit:"), day))
#endif

void use(entitable::table<order, visit> const& shop) { (void)shop.insert(order{"ann", 7}); }
