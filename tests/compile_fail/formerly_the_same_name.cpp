// SPDX-License-Identifier: MIT
// Copyright (c) 2026 the entitable authors
//
// expect: "two members with the same former name"

#include <entitable/entitable.hpp>

struct book {
    std::string shelf;
    std::int32_t number{};
    std::string title;
    std::int32_t year{};
};

#if defined(BROKEN)
ENTITABLE(book, partition_key(shelf), row_key(number), properties(formerly(title, "old"), formerly(year, "old")))
#else
ENTITABLE(book, partition_key(shelf), row_key(number), properties(formerly(title, "name"), year))
#endif
