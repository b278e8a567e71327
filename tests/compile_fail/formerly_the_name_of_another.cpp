// SPDX-License-Identifier: MIT
// Copyright (c) 2026 the entitable authors
//
// expect: "former name is the name of another property"

#include <entitable/entitable.hpp>

struct book {
    std::string shelf;
    std::int32_t number{};
    std::string title;
    std::int32_t year{};
};

#if defined(BROKEN)
ENTITABLE(book, partition_key(shelf), row_key(number), properties(formerly(title, "year"), year))
#else
ENTITABLE(book, partition_key(shelf), row_key(number), properties(formerly(title, "name"), year))
#endif
