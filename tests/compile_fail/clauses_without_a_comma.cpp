// SPDX-License-Identifier: MIT
// Copyright (c) 2026 the entitable authors
//
// expect: "a comma is missing in" country

#include <entitable/client/mapping/mapping.hpp>

struct town {
    std::string country;
    std::int32_t number{};
    std::string name;
};

#if defined(BROKEN)
ENTITABLE(town, partition_key(country) row_key(number), properties(name))
#else
ENTITABLE(town, partition_key(country), row_key(number), properties(name))
#endif
