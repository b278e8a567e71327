// SPDX-License-Identifier: MIT
// Copyright (c) 2026 the entitable authors
//
// expect: "this is a reader: pass the table that maintains its indexes and sums"

#include "listed.hpp"
#include <entitable/expiry.hpp>

void use([[maybe_unused]] orders_table const& orders, [[maybe_unused]] orders_reader const& shown) {
    std::vector<order> const all{{"Kiel", 1, "ann", 100}};
    (void)all;
#if defined(BROKEN)
    (void)entitable::expire(entitable::reader<order>{orders.store(), "orders"},
        shown.where(entitable::fields<order>::shop == "Kiel"), std::chrono::hours{24});
#else
    (void)entitable::expire(orders, shown.where(entitable::fields<order>::shop == "Kiel"), std::chrono::hours{24});
#endif
}
