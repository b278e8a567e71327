// SPDX-License-Identifier: MIT
// Copyright (c) 2026 the entitable authors

// expect: "explicit instantiation of" instantiated_entity
// expect-gcc: "in namespace" "does not enclose namespace"
// expect-clang: "not in a namespace enclosing"
// errors: 3
#include <entitable/entitable.hpp>

namespace shop {

struct order {
    std::string shop;
    std::int32_t number{};
};
ENTITABLE(order, partition_key(shop), row_key(number), properties())
#ifdef BROKEN
ENTITABLE_EXTERN(order)
#endif

} // namespace shop
#ifndef BROKEN
ENTITABLE_EXTERN(shop::order)
#endif
