// SPDX-License-Identifier: MIT
// Copyright (c) 2026 the entitable authors
//
// expect: "no public member 'nam'"

#include <entitable/entitable.hpp>

struct runner {
    std::string name;
    std::int32_t bib{};
};

ENTITABLE(runner,
#if defined(BROKEN)
    partition_key(nam), row_key(width(bib, 5)))
#else
    partition_key(name), row_key(width(bib, 5)))
#endif
