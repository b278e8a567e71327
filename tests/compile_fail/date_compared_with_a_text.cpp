// SPDX-License-Identifier: MIT
// Copyright (c) 2026 the entitable authors
//
// expect: "a date_time must be compared with a value of its own type" parse_date

#include "orders.hpp"

void use(entitable::table<order> const& orders) {
#if defined(BROKEN)
    (void)orders.where(o::shop == "a" && o::at >= "2026-01-01").to();
#else
    (void)orders.where(o::shop == "a" && o::at >= entitable::date_time::from_date(2026, 1, 1)).to();
#endif
}
