// SPDX-License-Identifier: MIT
// Copyright (c) 2026 the entitable authors
//
// expect: "this table has several entity types: name one, as in get<invoice>(...)"

#include <entitable/async_tables.hpp>

struct counter {
    std::string tenant;
    std::int64_t last{};
};
ENTITABLE(counter, partition_key(tenant), row_key(literal("COUNTER")), properties(last))

struct invoice {
    std::string tenant;
    std::int32_t number{};
};
ENTITABLE(invoice, partition_key(tenant), row_key(literal("INVOICE:"), number))

void use(entitable::event_loop& loop, entitable::async_table<counter, invoice> const& books) {
#ifdef BROKEN
    (void)loop.run(books.remove("ACME", 7, entitable::any_etag));
#else
    (void)loop.run(books.remove<invoice>("ACME", 7, entitable::any_etag));
#endif
}
