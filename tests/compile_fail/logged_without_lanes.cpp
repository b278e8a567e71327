// SPDX-License-Identifier: MIT
// Copyright (c) 2026 the entitable authors
//
// expect: "a change log must have 1 to 64 lanes"

#include <entitable/changes.hpp>

struct order {
    std::string shop;
    std::int32_t number{};
};
ENTITABLE(order, partition_key(shop), row_key(literal("ORDER:"), number))

#if defined(BROKEN)
using orders_table = entitable::table<order, entitable::logged_with<entitable::log_options{.lanes = 65}>>;
#else
using orders_table = entitable::table<order, entitable::logged_with<entitable::log_options{.lanes = 64}>>;
#endif
auto use(orders_table const& orders) { return orders.insert(order{"Kiel", 1}); }
