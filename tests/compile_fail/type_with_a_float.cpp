// SPDX-License-Identifier: MIT
// Copyright (c) 2026 the entitable authors
//
// expect: "'price' has a type that cannot be stored"

#include "orders.hpp"

#if defined(BROKEN)
struct runner {
    std::string race;
    std::int32_t bib{};
    float price{};
};
ENTITABLE(runner, partition_key(race), row_key(bib), properties(price))
#else
struct runner {
    std::string race;
    std::int32_t bib{};
    double price{};
};
ENTITABLE(runner, partition_key(race), row_key(bib), properties(price))
#endif
