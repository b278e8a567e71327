// SPDX-License-Identifier: MIT
// Copyright (c) 2026 the entitable authors
//
// expect: "erase is called remove"

#include "orders.hpp"

void use(entitable::table<order> const& orders) {
#if defined(BROKEN)
    (void)orders.erase("a", 1);
#else
    (void)orders.remove("a", 1, entitable::any_etag);
#endif
}
