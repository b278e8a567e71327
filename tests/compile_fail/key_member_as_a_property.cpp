// SPDX-License-Identifier: MIT
// Copyright (c) 2026 the entitable authors
//
// expect: "the member 'race' is in the key already"

#include "orders.hpp"

#if defined(BROKEN)
struct runner {
    std::string race;
    std::int32_t bib{};
    std::string name;
};
ENTITABLE(runner, partition_key(race), row_key(bib), properties(race, name))
#else
struct runner {
    std::string race;
    std::int32_t bib{};
    std::string name;
};
ENTITABLE(runner, partition_key(race), row_key(bib), properties(name))
#endif
