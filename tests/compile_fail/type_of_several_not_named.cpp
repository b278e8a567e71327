// SPDX-License-Identifier: MIT
// Copyright (c) 2026 the entitable authors
//
// expect: "this table has several entity types: name one, as in get<invoice>(...)"

#include "shop.hpp"
#include <entitable/tables.hpp>

void use(entitable::table<order, visit> const& shop) {
#if defined(BROKEN)
    (void)shop.get("ann", 7);
#else
    (void)shop.get<order>("ann", 7);
#endif
}
