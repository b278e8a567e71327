// SPDX-License-Identifier: MIT
// Copyright (c) 2026 the entitable authors
//
// expect: "timestamp(changed)" "entitable::date_time"

#include <entitable/entitable.hpp>

struct runner {
    std::string name;
    std::int32_t bib{};
#if defined(BROKEN)
    std::int64_t changed{};
#else
    entitable::date_time changed;
#endif
};

ENTITABLE(runner,
    partition_key(name),
    row_key(bib),
    properties(timestamp(changed)))
