// SPDX-License-Identifier: MIT
// Copyright (c) 2026 the entitable authors

/// \file
/// A list of books as CSV goes into a table; the struct changes while the rows are stored; the table goes out as JSON lines. Then two members
/// change while programs of both structs write.

#include <entitable/bulk.hpp>
#include <entitable/csv.hpp>
#include <entitable/entitable.hpp>
#include <entitable/json_lines.hpp>
#include <entitable/memory.hpp>
#include <entitable/schema.hpp>

#include <iostream>
#include <sstream>

namespace {

/// The struct of the first version.
struct book_of_2025 {
    std::string shelf;
    std::int32_t number{};
    std::string name;
    std::optional<std::int32_t> year;
    std::string price; // "12.90"
};
ENTITABLE(book_of_2025, partition_key(shelf), row_key(literal("BOOK:"), number), properties(name, year, price))

/// The struct of today: a name is changed, a price is a number under a new name, and books have a language.
struct book {
    std::string shelf;
    std::int32_t number{};
    std::string title;
    std::optional<std::int32_t> year;
    std::int64_t cents{};
    std::optional<std::string> language;
};
ENTITABLE(book, partition_key(shelf), row_key(literal("BOOK:"), number), properties(title, year, cents, language))

/// Converts a year of a book, which becomes a text: "1979" or "about 1900".
std::string year_as_text(std::int32_t year) { return std::to_string(year); }

/// The struct of tomorrow: it reads the rows of today, and programs of both structs write to the table until it is migrated.
struct book_of_2027 {
    std::string shelf;
    std::int32_t number{};
    std::string title;
    std::optional<std::string> published; // was: year, a number
    std::int64_t amount{};                // was: cents
    std::optional<std::string> language;
};
ENTITABLE(book_of_2027, partition_key(shelf), row_key(literal("BOOK:"), number),
    properties(title, formerly(retyped(published, year_as_text), "year"), formerly(amount, "cents"), language))

constexpr char const* list = "shelf,number,name,year,price\r\n"
                             "sea,1,\"Ships, and why\",1979,12.90\r\n"
                             "sea,2,\"The \"\"Fram\"\"\",,8.50\r\n"
                             "sea,three,Tides,1990,5.00\r\n"
                             "land,4,Roads,2001,unknown\r\n"
                             "land,5,\"Bridges\nand tunnels\",2011,20.00\r\n";

/// Converts a book of the first version; an error if its price is not a price.
entitable::result<book> converted(book_of_2025 const& from) {
    std::istringstream price{from.price};
    std::int64_t whole = 0;
    std::int64_t part = 0;
    char point = 0;
    if (!(price >> whole >> point >> part) || point != '.') {
        return entitable::failure{entitable::error_code::invalid_input, "the price is not a number"};
    }
    return book{from.shelf, from.number, from.name, from.year, 100 * whole + part, {}};
}

} // namespace

int main() {
    entitable::memory_backend const store;
    entitable::table<book_of_2025> const before{store, "books"};
    before.create().value();

    std::istringstream file{list};
    auto reader = entitable::read_csv<book_of_2025>(file).value();
    auto const loaded = entitable::bulk_insert(before, reader).value();
    std::cout << loaded.written << " books loaded, " << loaded.refused << " refused\n";
    for (entitable::refused_line const& each : reader.report().refusals) { std::cout << each.error.message << '\n'; }

    entitable::table<book> const books{store, "books"};
    std::cout << "\nbefore: " << entitable::schema_drift(books).value().to_string();
    auto const moved = entitable::migrate(before.scan_table(), books, converted).value();
    std::cout << '\n' << moved.written << " books rewritten, " << moved.refused << " refused\n";
    for (entitable::refused_row const& each : moved.refusals) {
        std::cout << each.partition_key << ' ' << each.row_key << ": " << each.error.message << '\n';
        before.update("land", 4, [](book_of_2025& of) { of.price = "0.00"; }).value(); // mended by hand, and once more
    }
    std::cout << entitable::migrate(before.scan_table(), books, converted).value().written << " more\n";
    std::cout << "\nafter: " << entitable::schema_drift(books).value().to_string() << '\n';

    entitable::write_json_lines(std::cout, books.scan_table()).value();

    entitable::table<book_of_2027> const next{store, "books"};
    using b = entitable::fields<book_of_2027>;
    next.update("sea", 2, [](book_of_2027& of) { of.published = "about 1900"; }).value();
    books.insert({"sea", 6, "Tides", 1990, 700, {}}).value(); // a program of the former struct
    auto const cheap = next.where(b::shelf == "sea" && b::amount < 1000);
    std::cout << '\n' << cheap.count().value() << " books at sea under 10.00\n" << cheap.explain().value().to_string();
    std::cout << '\n' << entitable::migrate(next).value().written << " books rewritten\n";
    std::cout << cheap.count().value() << " books at sea under 10.00\n" << cheap.explain().value().to_string() << '\n';
    entitable::write_json_lines(std::cout, next.scan_table()).value();
}
