// SPDX-License-Identifier: MIT
// Copyright (c) 2026 the entitable authors
//
// expect: "name the partition by the components of its key"

#include "listed.hpp"

void use(orders_table const& orders) {
#if defined(BROKEN)
    (void)orders.rebuild<sales>();
#else
    (void)orders.rebuild<sales>("kiel");
#endif
}
