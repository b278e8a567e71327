// SPDX-License-Identifier: MIT
// Copyright (c) 2026 the entitable authors
//
// expect: "a table has one change log: list logged once"

#include <entitable/changes.hpp>

struct order {
    std::string shop;
    std::int32_t number{};
};
ENTITABLE(order, partition_key(shop), row_key(literal("ORDER:"), number))

#if defined(BROKEN)
using orders_table =
    entitable::table<order, entitable::logged, entitable::logged_with<entitable::log_options{.lanes = 8}>>;
#else
using orders_table = entitable::table<order, entitable::logged_with<entitable::log_options{.lanes = 8}>>;
#endif
auto use(orders_table const& orders) { return orders.insert(order{"Kiel", 1}); }
