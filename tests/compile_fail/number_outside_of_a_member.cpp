// SPDX-License-Identifier: MIT
// Copyright (c) 2026 the entitable authors
//
// expect: "an integer member must be compared with a value of its own type"

#include "orders.hpp"

void use(entitable::table<order> const& orders) {
#if defined(BROKEN)
    (void)orders.where(o::shop == "a" && o::number >= 5000000000).to();
#else
    (void)orders.where(o::shop == "a" && o::number >= 50).to();
#endif
}
