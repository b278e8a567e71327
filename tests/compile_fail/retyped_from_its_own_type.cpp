// SPDX-License-Identifier: MIT
// Copyright (c) 2026 the entitable authors
//
// expect: "retyped(year, function) needs a function from a property of another stored type"

#include <entitable/entitable.hpp>

struct book {
    std::string shelf;
    std::int32_t number{};
    std::string title;
    std::int32_t year{};
};

std::int32_t year_of_text(std::string const& text) { return static_cast<std::int32_t>(text.size()); }
std::int32_t year_of_year(std::int32_t year) { return year; }

#if defined(BROKEN)
ENTITABLE(book, partition_key(shelf), row_key(number), properties(title, retyped(year, year_of_year)))
#else
ENTITABLE(book, partition_key(shelf), row_key(number), properties(title, retyped(year, year_of_text)))
#endif
