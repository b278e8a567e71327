// SPDX-License-Identifier: MIT
// Copyright (c) 2026 the entitable authors
//
// expect: "a merge cannot change it"

#include "orders.hpp"

void use(entitable::table<order> const& orders) {
#if defined(BROKEN)
    (void)orders.merge(entitable::at("a", 1), o::number = 5, entitable::any_etag);
#else
    (void)orders.merge(entitable::at("a", 1), o::cents = 5, entitable::any_etag);
#endif
}
