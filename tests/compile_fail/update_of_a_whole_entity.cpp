// SPDX-License-Identifier: MIT
// Copyright (c) 2026 the entitable authors
//
// expect: "update(keys..., change)" "replace(entity, etag)"

#include "orders.hpp"

void use(entitable::table<order> const& orders) {
#if defined(BROKEN)
    (void)orders.update(order{});
#else
    (void)orders.update("a", 1, [](order& found) { found.cents = 5; });
#endif
}
