// SPDX-License-Identifier: MIT
// Copyright (c) 2026 the entitable authors

// expect: "ENTITABLE_INSTANTIATE(order) must be after ENTITABLE(order, ...)"
// errors: 1
#include <entitable/entitable.hpp>

struct order {
    std::string shop;
    std::int32_t number{};
};
#ifdef BROKEN
ENTITABLE_INSTANTIATE(order)
#endif
ENTITABLE(order, partition_key(shop), row_key(number), properties())
