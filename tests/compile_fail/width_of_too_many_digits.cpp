// SPDX-License-Identifier: MIT
// Copyright (c) 2026 the entitable authors
//
// expect: "the type of the member has fewer digits"

#include <entitable/entitable.hpp>

struct runner {
    std::string name;
    std::int32_t bib{};
};

ENTITABLE(runner,
#if defined(BROKEN)
    partition_key(name), row_key(width(bib, 11)))
#else
    partition_key(name), row_key(width(bib, 10)))
#endif
