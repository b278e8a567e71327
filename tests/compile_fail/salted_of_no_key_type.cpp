// SPDX-License-Identifier: MIT
// Copyright (c) 2026 the entitable authors
//
// expect: "the member 'speed'" "cannot be part of a key"

#include <entitable/entitable.hpp>

struct runner {
    std::string name;
#if defined(BROKEN)
    double speed{};
#else
    std::int64_t speed{};
#endif
};

ENTITABLE(runner,
    partition_key(salted(speed, 8)),
    row_key(name))
