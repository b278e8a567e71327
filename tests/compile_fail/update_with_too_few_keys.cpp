// SPDX-License-Identifier: MIT
// Copyright (c) 2026 the entitable authors
//
// expect: "name all key components of the entity"

#include "orders.hpp"

void use(entitable::table<order> const& orders) {
#if defined(BROKEN)
    (void)orders.update("a", [](order& found) { found.cents = 5; });
#else
    (void)orders.update("a", 1, [](order& found) { found.cents = 5; });
#endif
}
