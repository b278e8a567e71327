// SPDX-License-Identifier: MIT
// Copyright (c) 2026 the entitable authors
//
// expect: "scan_table().to()"

#include "orders.hpp"

void use(entitable::table<order> const& orders) {
#if defined(BROKEN)
    (void)orders.all();
#else
    (void)orders.scan_table().to();
#endif
}
