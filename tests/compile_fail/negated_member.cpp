// SPDX-License-Identifier: MIT
// Copyright (c) 2026 the entitable authors
//
// expect: "a member alone is not a condition"

#include "orders.hpp"

void use(entitable::table<order> const& orders) {
#if defined(BROKEN)
    (void)orders.where(o::shop == "a" && !o::paid).to();
#else
    (void)orders.where(o::shop == "a" && o::paid == false).to();
#endif
}
