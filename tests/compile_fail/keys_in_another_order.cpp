// SPDX-License-Identifier: MIT
// Copyright (c) 2026 the entitable authors
//
// expect: "name all key components of the entity, in this order" "partition_key(shop)" "number"

#include "orders.hpp"

void use(entitable::table<order> const& orders) {
#if defined(BROKEN)
    (void)orders.get(1, "a");
#else
    (void)orders.get("a", 1);
#endif
}
