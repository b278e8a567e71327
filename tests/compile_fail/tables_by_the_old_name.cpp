// SPDX-License-Identifier: MIT
// Copyright (c) 2026 the entitable authors
//
// expect: "tables<A, B> is now table<A, B>"

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

#if defined(BROKEN)
using shop_table = entitable::tables<order, visit>;
#else
using shop_table = entitable::table<order, visit>;
#endif

void use(entitable::any_transport const& store) { shop_table const shop{store, "shop"}; }
