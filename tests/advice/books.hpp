// SPDX-License-Identifier: MIT
// Copyright (c) 2026 the entitable authors
#pragma once

/// \file
/// The books of the file in ENTITABLE_BOOKS_CSV, with four declarations of keys.

#include "../../examples/support/csv.hpp"
#include <entitable/advice.hpp>

#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <vector>

namespace entitable_test {

struct book_data {
    std::optional<std::int32_t> year;
    std::int32_t id{};
    std::string title;
    std::string authors;
    double rating{};
    std::string language;
};

struct book_by_year : book_data {};
ENTITABLE(book_by_year, partition_key(year), row_key(id), properties(title, authors, rating, language))
struct book_by_id : book_data {};
ENTITABLE(book_by_id, partition_key(id), row_key(year), properties(title, authors, rating, language))
struct book_by_author : book_data {};
ENTITABLE(book_by_author, partition_key(authors), row_key(id), properties(year, title, rating, language))
struct book_by_language : book_data {};
ENTITABLE(book_by_language, partition_key(language), row_key(id), properties(year, title, authors, rating))

/// Without ENTITABLE_BOOKS_CSV returns nothing and prints a line that says so.
template <class Book>
[[nodiscard]] std::vector<Book> read_books() {
    std::vector<Book> all;
    char const* const path = std::getenv("ENTITABLE_BOOKS_CSV");
    if (path == nullptr) {
        std::puts("skipped: ENTITABLE_BOOKS_CSV names no list of books");
        return all;
    }
    std::ifstream file{path};
    for (examples::csv_reader record{file}; record.next();) {
        Book& read = all.emplace_back();
        read.id = static_cast<std::int32_t>(std::strtol(record["book_id"].c_str(), nullptr, 10));
        if (std::string const& year = record["original_publication_year"]; !year.empty()) {
            read.year = static_cast<std::int32_t>(std::strtod(year.c_str(), nullptr));
        }
        read.title = record["title"];
        read.authors = record["authors"];
        read.rating = std::strtod(record["average_rating"].c_str(), nullptr);
        read.language = record["language_code"];
    }
    return all;
}

} // namespace entitable_test
