// SPDX-License-Identifier: MIT
// Copyright (c) 2026 the entitable authors
//
// expect: "is not an entity" ENTITABLE

#include "orders.hpp"

#if defined(BROKEN)
struct plain {
    std::string shop;
};
void use(entitable::any_store const& store) { entitable::table<plain> const rows{store, "orders"}; }
#else
void use(entitable::any_store const& store) { entitable::table<order> const rows{store, "orders"}; }
#endif
