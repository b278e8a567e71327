// SPDX-License-Identifier: MIT
// Copyright (c) 2026 the entitable authors

// What a failed assertion of GoogleTest shows. Needs only its headers; empty if they are not installed.

#if __has_include(<gtest/gtest-printers.h>)

#include <entitable/entitable.hpp>
#include <entitable/print.hpp>

#include <gtest/gtest-printers.h>
#include <support/catch.hpp>

namespace printed_by_googletest {

struct book {
    std::string shelf;
    std::string isbn;
};
ENTITABLE(book,
    partition_key(shelf),
    row_key(isbn))

} // namespace printed_by_googletest

TEST_CASE("a failed assertion of GoogleTest shows entities, results and values of the library") {
    using printed_by_googletest::book;
    using ::testing::PrintToString;
    book const printed{"a", "b"};
    CHECK(PrintToString(printed) == R"(book{shelf: "a", isbn: "b"})");
    CHECK(PrintToString(std::vector{printed}) == R"({ book{shelf: "a", isbn: "b"} })");
    CHECK(PrintToString(std::optional{printed}) == R"((book{shelf: "a", isbn: "b"}))");
    CHECK(PrintToString(entitable::result<book>{printed}) == R"(book{shelf: "a", isbn: "b"})");
    CHECK(PrintToString(entitable::date_time{}) == "1601-01-01T00:00:00Z");
    CHECK(PrintToString(entitable::error_code::server_busy) == "ServerBusy");
    CHECK(PrintToString(entitable::query<book, entitable::access_path::table>{}).starts_with("error: InvalidInput"));
}

#endif
