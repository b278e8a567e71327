// SPDX-License-Identifier: MIT
// Copyright (c) 2026 the entitable authors
//
// expect: "a table needs its name"

#include "orders.hpp"

void use(entitable::table<order> const& orders) {
#if defined(BROKEN)
    entitable::table<order> const rows{entitable::memory_backend{}};
    (void)orders;
#else
    entitable::table<order> const rows{entitable::memory_backend{}, "orders"};
    (void)orders;
#endif
}
