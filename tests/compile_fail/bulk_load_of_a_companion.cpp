// SPDX-License-Identifier: MIT
// Copyright (c) 2026 the entitable authors
//
// expect: "the table maintains this type: it can be read but not written"

#include "listed.hpp"
#include <entitable/bulk.hpp>

void use([[maybe_unused]] orders_table const& orders, [[maybe_unused]] orders_reader const& shown) {
    std::vector<order> const all{{"Kiel", 1, "ann", 100}};
    (void)all;
#if defined(BROKEN)
    (void)entitable::bulk_insert(orders, std::vector<sales>{});
#else
    (void)entitable::bulk_insert(orders, all);
#endif
}
