// SPDX-License-Identifier: MIT
// Copyright (c) 2026 the entitable authors

// expect: "duplicate explicit instantiation of"
// errors: 4
#include <entitable/entitable.hpp>

struct order {
    std::string shop;
    std::int32_t number{};
};
ENTITABLE(order, partition_key(shop), row_key(number), properties())
ENTITABLE_EXTERN(order)
ENTITABLE_INSTANTIATE(order)
#ifdef BROKEN
ENTITABLE_INSTANTIATE(order)
#endif
