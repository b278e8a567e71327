// SPDX-License-Identifier: MIT
// Copyright (c) 2026 the entitable authors
// Run as a test with: {examples}/data/books.csv

/// \file
/// A catalogue of books: reads a CSV file into a table in memory, one partition for each publication year, and queries it.
///
///     catalogue [CSV]
///
/// The columns it reads are book_id, title, authors, isbn, original_publication_year, average_rating, ratings_count and
/// language_code; years may be negative or missing.

#include "support/csv.hpp"
#include <entitable/bulk.hpp>
#include <entitable/entitable.hpp>
#include <entitable/memory.hpp>

#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <iostream>
#include <optional>
#include <string>
#include <vector>

struct book {
    std::optional<std::int32_t> year;
    std::int32_t id{};
    std::string title;
    std::string authors;
    std::optional<std::string> isbn; // text: it begins with zeros and may end with an X
    double rating{};
    std::int32_t ratings{};
    std::optional<std::string> language;
};

ENTITABLE(book,
    partition_key(year), // "0000001997", "-2147482898" for 750 BC, "~" if it is missing
    row_key(id),         // "0000000042"
    properties(title, authors, isbn, rating, ratings, language))

namespace {

std::optional<std::string> unless_empty(std::string const& text) {
    return text.empty() ? std::nullopt : std::optional{text};
}

std::optional<book> read_book(examples::csv_reader const& record) {
    char* end = nullptr;
    long const id = std::strtol(record["book_id"].c_str(), &end, 10);
    if (record["book_id"].empty() || *end != '\0' || record["title"].empty()) { return std::nullopt; }
    book read;
    read.id = static_cast<std::int32_t>(id);
    if (std::string const& year = record["original_publication_year"]; !year.empty()) {
        read.year = static_cast<std::int32_t>(std::strtod(year.c_str(), nullptr)); // "1997.0"
    }
    read.title = record["title"];
    read.authors = record["authors"];
    read.isbn = unless_empty(record["isbn"]);
    read.rating = std::strtod(record["average_rating"].c_str(), nullptr);
    read.ratings = static_cast<std::int32_t>(std::strtol(record["ratings_count"].c_str(), nullptr, 10));
    read.language = unless_empty(record["language_code"]);
    return read;
}

std::string year_text(std::optional<std::int32_t> year) { return year ? std::to_string(*year) : "none"; }

/// `text` truncated or padded to `width` characters; a character of UTF-8 may have several bytes.
std::string column(std::string const& text, std::size_t width) {
    std::string out;
    std::size_t characters = 0;
    for (char const byte : text) {
        bool const starts = (static_cast<unsigned char>(byte) & 0xC0U) != 0x80U;
        if (starts && characters++ == width) { return out; }
        out += byte;
    }
    return out + std::string(width - characters, ' ');
}

void print(book const& shown) {
    std::printf("  %6s  %6d  %4.2f  %9d  %s  %s\n", year_text(shown.year).c_str(), shown.id, shown.rating,
        shown.ratings, column(shown.authors, 30).c_str(), shown.title.c_str());
}

void heading(char const* text) { std::printf("\n%s\n", text); }

template <class Query>
void print_plan(Query const& query) {
    std::string const plan = query.explain().value().to_string();
    std::printf("%s", plan.c_str());
}

using b = entitable::fields<book>;

void load(entitable::table<book> const& books, std::vector<book> const& all) {
    auto const report =
        entitable::bulk_insert(books, all, {.watch = entitable::bulk_progress_line{}}).value().all().value();
    std::cout << report.written << " books loaded in " << books.scan_table().distinct(b::year).value().size()
              << " partitions\n";
}

std::optional<std::int32_t> year_of_most(entitable::table<book> const& books) {
    std::optional<std::int32_t> most;
    std::uint64_t greatest = 0;
    for (auto const& [year, of] : books.scan_table().group_by(b::year, entitable::count()).value()) {
        auto const [number] = of;
        if (number > greatest) {
            most = year;
            greatest = number;
        }
    }
    return most;
}

void show(entitable::table<book> const& books, book const& known, std::optional<std::int32_t> year) {
    heading("The first book of the file, by its keys");
    auto const point = books.where(b::year == known.year && b::id == known.id);
    print_plan(point);
    print(point.first().value().value());

    heading("The first 100 ids of the year with most books");
    auto row_range = books.where(b::year == year && b::id >= 1 && b::id <= 100);
    print_plan(row_range);
    for (book const& found : row_range) { print(found); }

    heading("From 1990 to 1999, rated 4.3 or more");
    auto const nineties = books.where(b::year >= 1990 && b::year <= 1999 && b::rating >= 4.3);
    print_plan(nineties);
    std::cout << "  " << nineties.count().value() << " books; the first of them:\n";
    for (book const& found : nineties.take(5)) { print(found); }

    heading("The five best rated, by rating and then by the number of ratings");
    auto const best = books.scan_table().order_by(descending(b::rating), descending(b::ratings)).take(5);
    print_plan(best);
    for (book const& found : best) { print(found); }

    heading("Decades");
    auto const decade = [](std::optional<std::int32_t> of) { return of.value_or(0) / 10 * 10; };
    auto const decades = books.scan_table(b::year >= 1960)
                             .group_by(entitable::computed(decade, b::year), entitable::count(), average(b::rating));
    for (auto const& [from, of] : decades.value()) {
        auto const [number, mean] = of;
        std::cout << "  " << from << "s: " << number << (number == 1 ? " book" : " books") << ", rated " << mean.value()
                  << " on average\n";
    }
}

/// Two writers read the same version; the second write is refused.
void lose_an_update(entitable::table<book> const& books, book const& known) {
    heading("Two writers, one book");
    auto mine = books.get_stored(known.year, known.id).value();
    auto theirs = books.get_stored(known.year, known.id).value();
    theirs.entity.ratings += 1;
    books.replace(theirs.entity, theirs.etag).value();
    std::printf("  the other writer: %d ratings\n", theirs.entity.ratings);
    mine.entity.ratings += 10;
    if (auto const second = books.replace(mine.entity, mine.etag); !second) {
        // The code is the same on every backend; the text around it differs.
        std::string const code{to_string(second.error().code)};
        std::printf("  this one lost:    %s\n", code.c_str());
    }
    std::printf("  stored:           %d ratings\n", books.get(known.year, known.id).value().ratings);
}

} // namespace

int main(int argc, char** argv) {
    char const* const path = argc > 1 ? argv[1] : "examples/data/books.csv";
    std::ifstream file{path};
    if (!file) {
        std::fprintf(stderr, "cannot read %s\n", path);
        return 1;
    }
    std::vector<book> all;
    std::size_t dropped = 0;
    for (examples::csv_reader record{file}; record.next();) {
        if (auto read = read_book(record)) {
            all.push_back(*std::move(read));
        } else {
            ++dropped;
        }
    }
    std::printf("%zu books read, %zu records dropped\n", all.size(), dropped);
    if (all.empty()) { return 1; }

    entitable::memory_backend store;
    entitable::table<book> books{store, "books"};
    books.create().value();
    load(books, all);
    show(books, all.front(), year_of_most(books));
    lose_an_update(books, all.front());
    return 0;
}
