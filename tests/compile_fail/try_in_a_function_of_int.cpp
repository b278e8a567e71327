// SPDX-License-Identifier: MIT
// Copyright (c) 2026 the entitable authors
//
// expect: error_for_a_function_that_returns_entitable_result

#include "orders.hpp"

#if defined(BROKEN)
int cents_of(entitable::table<order> const& orders) {
    ENTITABLE_TRY(auto const found, orders.get("a", 1));
    return static_cast<int>(found.cents);
}
#else
entitable::result<int> cents_of(entitable::table<order> const& orders) {
    ENTITABLE_TRY(auto const found, orders.get("a", 1));
    return static_cast<int>(found.cents);
}
#endif
