// SPDX-License-Identifier: MIT
// Copyright (c) 2026 the entitable authors
//
// expect: "logged comes after the entities: table<order, logged>"

#include <entitable/changes.hpp>

struct order {
    std::string shop;
    std::int32_t number{};
};
ENTITABLE(order, partition_key(shop), row_key(literal("ORDER:"), number))

#if defined(BROKEN)
using orders_table = entitable::table<entitable::logged, order>;
#else
using orders_table = entitable::table<order, entitable::logged>;
#endif
auto use(orders_table const& orders) { return orders.insert(order{"Kiel", 1}); }
