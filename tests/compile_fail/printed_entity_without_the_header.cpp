// SPDX-License-Identifier: MIT
// Copyright (c) 2026 the entitable authors
//
// expect-gcc: what_entitable_print_hpp_prints_if_it_is_included
// expect-clang: "include <entitable/print.hpp>"

#include "orders.hpp"

#include <iostream>

void use(entitable::table<order> const& orders) {
#if defined(BROKEN)
    std::cout << order{};
#else
    std::cout << orders.get("a", 1).error();
#endif
}
