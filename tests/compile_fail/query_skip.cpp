// SPDX-License-Identifier: MIT
// Copyright (c) 2026 the entitable authors
//
// expect: "resume(token)"

#include "orders.hpp"

void use(entitable::table<order> const& orders) {
#if defined(BROKEN)
    (void)orders.where(o::shop == "a").skip(5).take(1);
#else
    (void)orders.where(o::shop == "a").take(1);
#endif
}
