// SPDX-License-Identifier: MIT
// Copyright (c) 2026 the entitable authors
//
// expect: "a removal needs an ETag"

#include "orders.hpp"
#include <entitable/tables.hpp>

#if defined(BROKEN)
struct by_customer : order {};
ENTITABLE(by_customer, partition_key(shop), row_key(literal("CUSTOMER:"), escaped(customer), number), properties())
void use(entitable::table<order, by_customer> const& orders) { (void)orders.remove(order{}); }
#else
struct by_customer : order {};
ENTITABLE(by_customer, partition_key(shop), row_key(literal("CUSTOMER:"), escaped(customer), number), properties())
void use(entitable::table<order, by_customer> const& orders) { (void)orders.remove(order{}, entitable::any_etag); }
#endif
