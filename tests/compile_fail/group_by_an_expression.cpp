// SPDX-License-Identifier: MIT
// Copyright (c) 2026 the entitable authors
//
// expect: "a store does not compute with members"

#include "orders.hpp"

void use(entitable::table<order> const& orders) {
#if defined(BROKEN)
    (void)orders.where(o::shop == "a").group_by(o::cents / 100, entitable::count());
#else
    (void)orders.where(o::shop == "a").group_by(o::cents, entitable::count());
#endif
}
