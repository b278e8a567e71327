// SPDX-License-Identifier: MIT
// Copyright (c) 2026 the entitable authors
//
// expect: "default constructor"

#include <entitable/entitable.hpp>

struct runner {
#if defined(BROKEN)
    explicit runner(std::string given) : name(std::move(given)) {}
#endif
    std::string name;
    std::int32_t bib{};
};

ENTITABLE(runner,
    partition_key(name),
    row_key(bib))

using fields = entitable::fields<runner>;
