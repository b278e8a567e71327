// SPDX-License-Identifier: MIT
// Copyright (c) 2026 the entitable authors
//
// expect: runner "exactly one row_key(...) clause"

#include <entitable/entitable.hpp>

struct runner {
    std::string name;
    std::int32_t bib{};
};

ENTITABLE(runner,
#if defined(BROKEN)
    partition_key(name))
#else
    partition_key(name),
    row_key(bib))
#endif
