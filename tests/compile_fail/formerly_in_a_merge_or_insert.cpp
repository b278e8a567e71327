// SPDX-License-Identifier: MIT
// Copyright (c) 2026 the entitable authors
//
// expect: "this merge cannot remove the former name" "replace(...)"

#include <entitable/entitable.hpp>

struct book {
    std::string shelf;
    std::int32_t number{};
    std::string title;
    std::int32_t year{};
};
ENTITABLE(book, partition_key(shelf), row_key(number), properties(formerly(title, "name"), year))

#if defined(BROKEN)
void use(entitable::table<book> const& books) { (void)books.insert_or_merge(book{}); }
#else
void use(entitable::table<book> const& books) { (void)books.merge(book{}, entitable::any_etag); }
#endif
