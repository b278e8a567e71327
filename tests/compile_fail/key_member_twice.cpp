// SPDX-License-Identifier: MIT
// Copyright (c) 2026 the entitable authors
//
// expect: "runner has a member that is twice in its keys"

#include "orders.hpp"

#if defined(BROKEN)
struct runner {
    std::string race;
    std::int32_t bib{};
};
ENTITABLE(runner, partition_key(race), row_key(race, bib), properties())
#else
struct runner {
    std::string race;
    std::int32_t bib{};
};
ENTITABLE(runner, partition_key(race), row_key(bib), properties())
#endif
