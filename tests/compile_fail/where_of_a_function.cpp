// SPDX-License-Identifier: MIT
// Copyright (c) 2026 the entitable authors
//
// expect: "where(...) takes a condition on members" for_each

#include "orders.hpp"

void use(entitable::table<order> const& orders) {
#if defined(BROKEN)
    (void)orders.where([](order const& each) { return each.cents > 5; }).to();
#else
    (void)orders.where(o::shop == "a").to();
#endif
}
