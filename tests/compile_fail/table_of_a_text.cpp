// SPDX-License-Identifier: MIT
// Copyright (c) 2026 the entitable authors
//
// expect: "the first argument of a table is its store" azure_backend

#include "orders.hpp"

void use(entitable::table<order> const& orders) {
#if defined(BROKEN)
    entitable::table<order> const rows{"UseDevelopmentStorage=true", "orders"};
    (void)orders;
#else
    entitable::table<order> const rows{entitable::memory_backend{}, "orders"};
    (void)orders;
#endif
}
