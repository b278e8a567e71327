// SPDX-License-Identifier: MIT
// Copyright (c) 2026 the entitable authors
//
// expect: "this query would scan the whole table" shop

#include "orders.hpp"

void use(entitable::table<order> const& orders) {
#if defined(BROKEN)
    (void)orders.where(o::shop == "a" || o::cents == 5);
#else
    (void)orders.scan_table(o::shop == "a" || o::cents == 5);
#endif
}
