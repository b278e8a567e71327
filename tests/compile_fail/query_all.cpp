// SPDX-License-Identifier: MIT
// Copyright (c) 2026 the entitable authors
//
// expect: "all is called to"

#include "orders.hpp"

void use(entitable::table<order> const& orders) {
#if defined(BROKEN)
    (void)orders.where(o::shop == "a").all().take(1);
#else
    (void)orders.where(o::shop == "a").take(1);
#endif
}
