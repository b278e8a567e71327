// SPDX-License-Identifier: MIT
// Copyright (c) 2026 the entitable authors
//
// expect: "only the mapping of its base class"

#include <entitable/entitable.hpp>

struct person {
    std::string name;
    std::int32_t number{};
};

ENTITABLE(person,
    partition_key(name),
    row_key(number))

struct runner : person {
    std::int32_t bib{};
};

#if !defined(BROKEN)
ENTITABLE(runner,
    partition_key(name),
    row_key(bib))
#endif

using fields = entitable::fields<runner>;
