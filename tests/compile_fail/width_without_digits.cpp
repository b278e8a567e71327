// SPDX-License-Identifier: MIT
// Copyright (c) 2026 the entitable authors
//
// expect: "has the wrong arguments" width(number)

#include <entitable/client/mapping/mapping.hpp>

struct town {
    std::string country;
    std::int32_t number{};
    std::string name;
};

#if defined(BROKEN)
ENTITABLE(town, partition_key(country), row_key(width(number)), properties(name))
#else
ENTITABLE(town, partition_key(country), row_key(width(number, 4)), properties(name))
#endif
