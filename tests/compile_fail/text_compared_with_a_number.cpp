// SPDX-License-Identifier: MIT
// Copyright (c) 2026 the entitable authors
//
// expect: "a text must be compared"

#include "orders.hpp"

void use(entitable::table<order> const& orders) {
#if defined(BROKEN)
    (void)orders.where(o::shop == "a" && o::customer == 5).to();
#else
    (void)orders.where(o::shop == "a" && o::customer == "5").to();
#endif
}
