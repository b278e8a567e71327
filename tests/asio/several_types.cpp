// SPDX-License-Identifier: MIT
// Copyright (c) 2026 the entitable authors

// Awaited tables of several types on the io_context of a program.

#include <entitable/asio.hpp>
#include <entitable/async_tables.hpp>
#include <entitable/memory.hpp>

#include <async/books.hpp>
#include <boost/asio/io_context.hpp>
#include <companions/books.hpp>
#include <support/catch.hpp>

using namespace companion_tests;
using entitable_test::in_channel;

TEST_CASE("a table of several types on an io_context: companions stay correct under concurrent writers") {
    boost::asio::io_context context;
    asio_loop loop{context.get_executor()};
    memory_backend const store;
    open_books(store).create().value();
    any_store const cloud{in_channel{store}};
    async_table<counter, invoice, refund, by_customer, unique<by_reference>, elsewhere<by_account>, daily_sales,
        salted_aggregate<balance, &balance::part, 3>> const books{
        loop.loop(), cloud, "books", in_table<by_account>{cloud, "accounts"}};
    int written_invoices = 0;
    for (std::int32_t number = 1; number <= 10; ++number) {
        invoice const bill{"ACME", number, "ann", {}, "red", "mon", 100 * number};
        async_run(loop, books.insert(bill),
            [&](std::exception_ptr thrown, result<written> done) { written_invoices += !thrown && done ? 1 : 0; });
    }
    context.run();
    CHECK(written_invoices == 10);
    context.restart();
    std::size_t found = 0;
    async_run(loop, books.by<by_customer>().where(of_customer::tenant == "ACME").to(),
        [&](std::exception_ptr, result<std::vector<invoice>> all) { found = all.value().size(); });
    context.run();
    CHECK(found == 10);
    CHECK(found_rows{store}.right());
}
