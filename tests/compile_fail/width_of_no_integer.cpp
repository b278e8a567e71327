// SPDX-License-Identifier: MIT
// Copyright (c) 2026 the entitable authors
//
// expect: "width(member, digits) needs an integer member"

#include <entitable/entitable.hpp>

struct runner {
    std::string name;
    std::int32_t bib{};
};

ENTITABLE(runner,
#if defined(BROKEN)
    partition_key(width(name, 5)), row_key(bib))
#else
    partition_key(name), row_key(width(bib, 5)))
#endif
