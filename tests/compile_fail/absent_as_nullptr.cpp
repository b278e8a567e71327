// SPDX-License-Identifier: MIT
// Copyright (c) 2026 the entitable authors
//
// expect: "an absent member is std::nullopt"

#include "orders.hpp"

void use(entitable::table<order> const& orders) {
#if defined(BROKEN)
    (void)orders.where(o::shop == "a" && o::weight == nullptr).to();
#else
    (void)orders.where(o::shop == "a" && o::weight == std::nullopt).to();
#endif
}
