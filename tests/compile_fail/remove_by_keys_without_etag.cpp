// SPDX-License-Identifier: MIT
// Copyright (c) 2026 the entitable authors
//
// expect: "a removal needs an ETag" any_etag

#include "orders.hpp"

void use(entitable::table<order> const& orders) {
#if defined(BROKEN)
    (void)orders.remove("a", 1);
#else
    (void)orders.remove("a", 1, entitable::any_etag);
#endif
}
