// SPDX-License-Identifier: MIT
// Copyright (c) 2026 the entitable authors
//
// expect: "'bib' has a type that cannot be part of a key"

#include "orders.hpp"

#if defined(BROKEN)
struct runner {
    std::string race;
    double bib{};
};
ENTITABLE(runner, partition_key(race), row_key(bib), properties())
#else
struct runner {
    std::string race;
    std::int32_t bib{};
};
ENTITABLE(runner, partition_key(race), row_key(bib), properties())
#endif
