// SPDX-License-Identifier: MIT
// Copyright (c) 2026 the entitable authors
//
// expect: "this table has no change log: add logged to its types"

#include <entitable/changes.hpp>

struct order {
    std::string shop;
    std::int32_t number{};
};
ENTITABLE(order, partition_key(shop), row_key(literal("ORDER:"), number))

void use(entitable::any_store through) {
#if defined(BROKEN)
    entitable::table<order> const orders{std::move(through), "orders"};
#else
    entitable::table<order, entitable::logged> const orders{std::move(through), "orders"};
#endif
    (void)entitable::changes_of(orders, "Kiel");
}
