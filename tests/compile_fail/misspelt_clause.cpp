// SPDX-License-Identifier: MIT
// Copyright (c) 2026 the entitable authors
//
// expect: "'propertys(age)' is not a clause"

#include <entitable/entitable.hpp>

struct runner {
    std::string name;
    std::int32_t bib{};
    std::int32_t age{};
};

ENTITABLE(runner,
    partition_key(name),
    row_key(bib),
#if defined(BROKEN)
    propertys(age))
#else
    properties(age))
#endif
