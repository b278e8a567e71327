// SPDX-License-Identifier: MIT
// Copyright (c) 2026 the entitable authors
//
// expect: "members of a different entity type"

#include "orders.hpp"

void use(entitable::table<order> const& orders) {
#if defined(BROKEN)
    (void)orders.where(v::shop == "a").to();
#else
    (void)orders.where(o::shop == "a").to();
#endif
}
