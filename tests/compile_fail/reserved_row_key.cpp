// SPDX-License-Identifier: MIT
// Copyright (c) 2026 the entitable authors
//
// expect: "the row key of note begins with" "which is reserved for the library"

#include <entitable/entitable.hpp>

struct note {
    std::string book;
    std::int32_t number{};
    std::int32_t stars{};
};

#ifdef BROKEN
ENTITABLE(note, partition_key(book), row_key(literal("~"), literal("!mine!"), number), properties(stars))
#else
ENTITABLE(note, partition_key(book), row_key(literal("~mine!"), number), properties(stars))
#endif
