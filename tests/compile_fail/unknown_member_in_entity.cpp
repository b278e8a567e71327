// SPDX-License-Identifier: MIT
// Copyright (c) 2026 the entitable authors
//
// expect: "no public member 'agee'"

#include <entitable/entitable.hpp>

struct runner {
    std::string name;
    std::int32_t bib{};
    std::int32_t age{};
};

ENTITABLE(runner,
#if defined(BROKEN)
    partition_key(name), row_key(bib), properties(agee))
#else
    partition_key(name), row_key(bib), properties(age))
#endif
