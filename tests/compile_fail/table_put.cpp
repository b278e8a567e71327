// SPDX-License-Identifier: MIT
// Copyright (c) 2026 the entitable authors
//
// expect: "put is called insert_or_replace"

#include "orders.hpp"

void use(entitable::table<order> const& orders) {
#if defined(BROKEN)
    (void)orders.put(order{});
#else
    (void)orders.upsert(order{});
#endif
}
