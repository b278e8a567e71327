// SPDX-License-Identifier: MIT
// Copyright (c) 2026 the entitable authors
//
// expect: "a query has one condition"

#include "orders.hpp"

void use(entitable::table<order> const& orders) {
#if defined(BROKEN)
    (void)orders.where(o::shop == "a").where(o::cents == 5).take(1);
#else
    (void)orders.where(o::shop == "a").take(1);
#endif
}
