// SPDX-License-Identifier: MIT
// Copyright (c) 2026 the entitable authors
//
// expect: "this is a reader"

#include "listed.hpp"

void use(orders_table const& orders) {
#if defined(BROKEN)
    entitable::reader<order> const table{orders.store(), "orders"};
#else
    auto const table = orders.unmaintained();
#endif
    (void)table.insert({"Kiel", 1, "ann", 100});
}
