// SPDX-License-Identifier: MIT
// Copyright (c) 2026 the entitable authors
//
// expect: "sort is called order_by"

#include "orders.hpp"

void use(entitable::table<order> const& orders) {
#if defined(BROKEN)
    (void)orders.where(o::shop == "a").sort(o::cents).take(1);
#else
    (void)orders.where(o::shop == "a").order_by(o::cents).take(1);
#endif
}
