// SPDX-License-Identifier: MIT
// Copyright (c) 2026 the entitable authors
//
// expect: "a batch reads nothing" merge

#include "orders.hpp"

void use(entitable::table<order> const& orders) {
#if defined(BROKEN)
    orders.batch().update(order{});
#else
    orders.batch().replace(order{}, entitable::any_etag);
#endif
}
