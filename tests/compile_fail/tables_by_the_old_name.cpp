// SPDX-License-Identifier: MIT
// Copyright (c) 2026 the entitable authors
//
// expect: "tables<A, B> is now table<A, B>"

#include "shop.hpp"
#include <entitable/tables.hpp>

#if defined(BROKEN)
using shop_table = entitable::tables<order, visit>;
#else
using shop_table = entitable::table<order, visit>;
#endif

void use(entitable::any_store const& store) { shop_table const shop{store, "shop"}; }
