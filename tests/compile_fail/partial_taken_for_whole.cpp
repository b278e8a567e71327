// SPDX-License-Identifier: MIT
// Copyright (c) 2026 the entitable authors
//
// expect: "partial_result"

#include <entitable/entitable.hpp>
#include <entitable/shards.hpp>

struct book {
    std::string isbn;
    std::int32_t edition{};
    std::string title;
};
ENTITABLE(book, partition_key(isbn), row_key(edition), properties(title))

std::vector<book> ask(entitable::sharded const& cloud) {
    auto const some = entitable::partial(cloud,
        [](entitable::any_store const& there) { return entitable::table<book>{there, "books"}.scan_table().to(); });
#ifdef BROKEN
    return *some;
#else
    return some->whole().value();
#endif
}
