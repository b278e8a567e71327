// SPDX-License-Identifier: MIT
// Copyright (c) 2026 the entitable authors
//
// expect: "async_table of several types requires #include <entitable/async_tables.hpp>"

#include <entitable/async.hpp>
#ifndef BROKEN
#include <entitable/async_tables.hpp>
#endif

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

void use(entitable::event_loop& loop, entitable::any_store const& store) {
    entitable::async_table<counter, invoice> const books{loop, store, "books"};
    (void)books;
}
