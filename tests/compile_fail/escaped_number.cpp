// SPDX-License-Identifier: MIT
// Copyright (c) 2026 the entitable authors
//
// expect: "escaped(member) needs a std::string member"

#include <entitable/entitable.hpp>

struct runner {
    std::string name;
    std::int32_t bib{};
};

ENTITABLE(runner,
#if defined(BROKEN)
    partition_key(name), row_key(escaped(bib)))
#else
    partition_key(escaped(name)), row_key(bib))
#endif
