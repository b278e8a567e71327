// SPDX-License-Identifier: MIT
// Copyright (c) 2026 the entitable authors
//
// expect: order result

#include "orders.hpp"

void use(entitable::table<order> const& orders) {
#if defined(BROKEN)
    order const found = orders.get("a", 1);
    (void)found;
#else
    order const found = orders.get("a", 1).value();
    (void)found;
#endif
}
