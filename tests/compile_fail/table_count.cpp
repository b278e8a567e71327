// SPDX-License-Identifier: MIT
// Copyright (c) 2026 the entitable authors
//
// expect: "scan_table().count()"

#include "orders.hpp"

void use(entitable::table<order> const& orders) {
#if defined(BROKEN)
    (void)orders.count();
#else
    (void)orders.scan_table().count();
#endif
}
