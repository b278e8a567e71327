// SPDX-License-Identifier: MIT
// Copyright (c) 2026 the entitable authors
//
// expect: "migrate(table) needs members with formerly(...) or retyped(...)"

#include <entitable/entitable.hpp>
#include <entitable/schema.hpp>

struct book {
    std::string shelf;
    std::int32_t number{};
    std::string title;
    std::int32_t year{};
};
ENTITABLE(book, partition_key(shelf), row_key(number), properties(title, year))

#if defined(BROKEN)
void use(entitable::table<book> const& books) { (void)entitable::migrate(books); }
#else
void use(entitable::table<book> const& books) { (void)entitable::schema_drift(books); }
#endif
