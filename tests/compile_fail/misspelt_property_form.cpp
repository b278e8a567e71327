// SPDX-License-Identifier: MIT
// Copyright (c) 2026 the entitable authors
//
// expect: "is not a form of a property" "chunked(member)"

#include "orders.hpp"

#if defined(BROKEN)
struct runner {
    std::string race;
    std::int32_t bib{};
    std::string name;
};
ENTITABLE(runner, partition_key(race), row_key(bib), properties(chunk(name)))
#else
struct runner {
    std::string race;
    std::int32_t bib{};
    std::string name;
};
ENTITABLE(runner, partition_key(race), row_key(bib), properties(chunked(name)))
#endif
