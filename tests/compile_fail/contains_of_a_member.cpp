// SPDX-License-Identifier: MIT
// Copyright (c) 2026 the entitable authors
//
// expect: "no store searches within a text" "starts_with(member, prefix)"

#include "orders.hpp"

void use(entitable::table<order> const& orders) {
#if defined(BROKEN)
    (void)orders.where(o::shop == "a" && o::customer.contains("x")).to();
#else
    (void)orders.where(o::shop == "a" && starts_with(o::customer, "x")).to();
#endif
}
