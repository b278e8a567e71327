// SPDX-License-Identifier: MIT
// Copyright (c) 2026 the entitable authors
//
// expect: "this is an index of an entity that is not a type of the table"

#include "registration.hpp"
#include <entitable/tables.hpp>

struct order {
    std::string customer;
    std::int32_t id{};
    std::int64_t cents{};
};
ENTITABLE(order, partition_key(customer), row_key(literal("order:"), id), properties(cents))

struct by_price : order {};
ENTITABLE(by_price, partition_key(customer), row_key(literal("price:"), cents, id))

struct visit {
    std::string customer;
    std::int32_t day{};
};
ENTITABLE(visit, partition_key(customer), row_key(literal("visit:"), day))

#if defined(BROKEN)
using shop_table = entitable::table<visit, entitable::unique<by_price>>;
#else
using shop_table = entitable::table<visit, order, by_price>;
#endif

void use(entitable::any_store const& store) { (void)shop_table{store, "shop"}.insert(visit{"ann", 7}); }
