// SPDX-License-Identifier: MIT
// Copyright (c) 2026 the entitable authors
//
// expect: "a table with several entity types needs #include <entitable/tables.hpp>"

#include "shop.hpp"
#include <entitable/entitable.hpp>

#if !defined(BROKEN)
#include <entitable/tables.hpp>
#endif

void use(entitable::any_store const& store) {
    entitable::table<order, visit> const shop{store, "shop"};
    (void)shop.name();
}
