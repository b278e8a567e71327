// SPDX-License-Identifier: MIT
// Copyright (c) 2026 the entitable authors
//
// expect: "a bulk load needs an input range"

#include "orders.hpp"
#include <entitable/bulk.hpp>

void use(entitable::table<order> const& orders) {
#if defined(BROKEN)
    (void)entitable::bulk_insert(orders, 5);
#else
    (void)entitable::bulk_insert(orders, std::vector<order>{});
#endif
}
