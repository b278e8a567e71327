// SPDX-License-Identifier: MIT
// Copyright (c) 2026 the entitable authors
//
// expect: "a shard key must consist of the first components of the partition key"

#include <entitable/entitable.hpp>
#include <entitable/shards.hpp>

struct book {
    std::string isbn;
    std::int32_t edition{};
    std::string title;
};
ENTITABLE(book, partition_key(isbn), row_key(edition), properties(title))

#ifdef BROKEN
static_assert(entitable::sharded_by<book, &book::title>);
#else
static_assert(entitable::sharded_by<book, &book::isbn>);
#endif
