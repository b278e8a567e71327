// SPDX-License-Identifier: MIT
// Copyright (c) 2026 the entitable authors
//
// expect: "name the partition before the body of the transaction: transact(shop, body)"

#include "orders.hpp"

void use(entitable::table<order> const& orders) {
#if defined(BROKEN)
    (void)orders.transact([](entitable::transaction<order>&) -> entitable::result<void> { return {}; });
#else
    (void)orders.transact("a", [](entitable::transaction<order>&) -> entitable::result<void> { return {}; });
#endif
}
