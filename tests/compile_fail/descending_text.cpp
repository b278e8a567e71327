// SPDX-License-Identifier: MIT
// Copyright (c) 2026 the entitable authors
//
// expect: "descending(member) needs a member of an integer type or entitable::date_time"

#include <entitable/entitable.hpp>

struct runner {
    std::string name;
    std::int32_t bib{};
};

ENTITABLE(runner,
#if defined(BROKEN)
    partition_key(descending(name)), row_key(bib))
#else
    partition_key(name), row_key(descending(bib)))
#endif
