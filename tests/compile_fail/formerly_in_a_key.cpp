// SPDX-License-Identifier: MIT
// Copyright (c) 2026 the entitable authors
//
// expect: "is in a key, which stores values without names and types"

#include <entitable/entitable.hpp>

struct book {
    std::string shelf;
    std::int32_t number{};
    std::string title;
    std::int32_t year{};
};

#if defined(BROKEN)
ENTITABLE(book, partition_key(shelf), row_key(formerly(number, "no")), properties(title, year))
#else
ENTITABLE(book, partition_key(shelf), row_key(number), properties(title, year))
#endif
