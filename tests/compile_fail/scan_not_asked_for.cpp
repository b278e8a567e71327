// SPDX-License-Identifier: MIT
// Copyright (c) 2026 the entitable authors
//
// expect: "would scan the whole table" "event, distance" "scan_table()"
// errors: 1

#include "registration.hpp"

void use(entitable::table<registration> const& runners) {
    using r = entitable::fields<registration>;
#if defined(BROKEN)
    (void)runners.where(r::age >= 50);
#else
    (void)runners.scan_table(r::age >= 50);
#endif
}
