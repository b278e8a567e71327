// SPDX-License-Identifier: MIT
// Copyright (c) 2026 the entitable authors
//
// expect: runner "two properties with the same name"

#include <entitable/entitable.hpp>

struct runner {
    std::string name;
    std::int32_t bib{};
    std::int32_t age{};
    std::string club;
};

ENTITABLE(runner,
#if defined(BROKEN)
    partition_key(name), row_key(bib), properties(age, property(club, "age")))
#else
    partition_key(name), row_key(bib), properties(age, property(club, "Age")))
#endif
