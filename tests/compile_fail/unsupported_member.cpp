// SPDX-License-Identifier: MIT
// Copyright (c) 2026 the entitable authors
//
// expect: "the member 'extras'" "cannot be stored"

#include <entitable/entitable.hpp>

struct runner {
    std::string name;
    std::int32_t bib{};
#if defined(BROKEN)
    std::vector<std::string> extras;
#else
    std::string extras;
#endif
};

ENTITABLE(runner,
    partition_key(name),
    row_key(bib),
    properties(extras))
