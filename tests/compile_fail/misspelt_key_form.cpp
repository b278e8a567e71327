// SPDX-License-Identifier: MIT
// Copyright (c) 2026 the entitable authors
//
// expect: "'descend(bib)' is not a form of a key component" "descending(member)"

#include "orders.hpp"

#if defined(BROKEN)
struct runner {
    std::string race;
    std::int32_t bib{};
};
ENTITABLE(runner, partition_key(race), row_key(descend(bib)), properties())
#else
struct runner {
    std::string race;
    std::int32_t bib{};
};
ENTITABLE(runner, partition_key(race), row_key(descending(bib)), properties())
#endif
