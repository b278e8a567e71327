// SPDX-License-Identifier: MIT
// Copyright (c) 2026 the entitable authors

#include <companions/books.hpp>
#include <support/catch.hpp>

using namespace companion_tests;

TEST_CASE("moved from: indexed_pages") {
    memory_backend const store;
    all_books const books = open_books(store);
    books.create().value();
    books.insert(invoice{"ACME", 1, "ann", {}, "red", "mon", 100}).value();
    auto pages = books.by<by_customer>().scan_index().pages();
    auto taken = std::move(pages);
    CHECK(pages.next().error().code == error_code::invalid_input); // NOLINT(bugprone-use-after-move)
    CHECK(taken.next().value()->size() == 1);
    pages = std::move(taken);
    CHECK_FALSE(pages.next().value());
}
