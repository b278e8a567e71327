// SPDX-License-Identifier: MIT
// Copyright (c) 2026 the entitable authors
//
// expect: "this type derives from another one of the table"

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

struct by_id : order {};
ENTITABLE(by_id, partition_key(customer), row_key(literal("by_id:"), id))

#if defined(BROKEN)
using shop_table = entitable::table<order, by_id>;
#else
using shop_table = entitable::table<order, entitable::as_entity<by_id>>;
#endif

void use(shop_table const& shop) { (void)shop.insert(order{"ann", 7}); }
