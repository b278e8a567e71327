// SPDX-License-Identifier: MIT
// Copyright (c) 2026 the entitable authors
//
// expect: "the changes of a wide entity cannot be logged"

#include <entitable/changes.hpp>
#include <entitable/wide.hpp>

struct order {
    std::string shop;
    std::int32_t number{};
};
ENTITABLE(order, partition_key(shop), row_key(literal("ORDER:"), number))

struct photo {
    std::string shop;
    std::int32_t number{};
    std::string bytes;
};
ENTITABLE(photo, partition_key(shop), row_key(literal("PHOTO:"), number), properties(bytes))

#if defined(BROKEN)
using orders_table = entitable::table<order, entitable::wide<photo>, entitable::logged>;
#else
using orders_table = entitable::table<order, photo, entitable::logged>;
#endif
auto use(orders_table const& orders) { return orders.insert(order{"Kiel", 1}); }
