// SPDX-License-Identifier: MIT
// Copyright (c) 2026 the entitable authors
//
// expect: "this query fans out over all shards"

#include <entitable/entitable.hpp>
#include <entitable/shards.hpp>

struct book {
    std::string isbn;
    std::int32_t edition{};
    std::string title;
};
ENTITABLE(book, partition_key(isbn), row_key(edition), properties(title))

void ask(entitable::sharded const& cloud) {
    entitable::table<book> const books{cloud, "books"};
    using b = entitable::fields<book>;
#ifdef BROKEN
    static_cast<void>(entitable::single_shard(books.scan_table(b::title == "x")));
#else
    static_cast<void>(entitable::single_shard(books.where(b::isbn == "978")));
#endif
}
