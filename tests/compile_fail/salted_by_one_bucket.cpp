// SPDX-License-Identifier: MIT
// Copyright (c) 2026 the entitable authors
//
// expect: "takes 2 to 1000 buckets"

#include <entitable/entitable.hpp>

struct runner {
    std::string name;
    std::int32_t bib{};
};

ENTITABLE(runner,
#if defined(BROKEN)
    partition_key(salted(name, 1)), row_key(bib))
#else
    partition_key(salted(name, 2)), row_key(bib))
#endif
