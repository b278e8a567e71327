// SPDX-License-Identifier: MIT
// Copyright (c) 2026 the entitable authors
//
// expect-gcc: "block scope"
// expect-clang: "outside"

#include "orders.hpp"

#if defined(BROKEN)
void use() {
    struct runner {
        std::string race;
        std::int32_t bib{};
    };
    ENTITABLE(runner, partition_key(race), row_key(bib), properties())
}
#else
struct runner {
    std::string race;
    std::int32_t bib{};
};
ENTITABLE(runner, partition_key(race), row_key(bib), properties())
#endif
