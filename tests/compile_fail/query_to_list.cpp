// SPDX-License-Identifier: MIT
// Copyright (c) 2026 the entitable authors
//
// expect: "to_list is called to_vector"

#include "orders.hpp"

void use(entitable::table<order> const& orders) {
#if defined(BROKEN)
    (void)orders.where(o::shop == "a").to_list().take(1);
#else
    (void)orders.where(o::shop == "a").take(1);
#endif
}
