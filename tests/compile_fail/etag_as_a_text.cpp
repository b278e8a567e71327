// SPDX-License-Identifier: MIT
// Copyright (c) 2026 the entitable authors
//
// expect: "a condition is an ETag, not a text"

#include "orders.hpp"

void use(entitable::table<order> const& orders) {
#if defined(BROKEN)
    (void)orders.replace(order{}, "5");
#else
    (void)orders.replace(order{}, entitable::etag{"5"});
#endif
}
