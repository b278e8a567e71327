// SPDX-License-Identifier: MIT
// Copyright (c) 2026 the entitable authors

// Loads the CSV file that the script tool makes with bulk_insert: what the command `entitable import` is compared with.
//   g++ -std=c++20 -O2 -DNDEBUG -I include benchmarks/load_csv.cpp -o load_csv -lsqlite3
//   ./load_csv books.csv books.db             read by read_csv
//   ./load_csv books.csv books.db --by-hand   lines split at commas, which reads no other file

#include <entitable/bulk.hpp>
#include <entitable/csv.hpp>
#include <entitable/entitable.hpp>
#include <entitable/file.hpp>

#include <algorithm>
#include <charconv>
#include <cstdio>
#include <fstream>
#include <iterator>
#include <string>
#include <string_view>
#include <utility>

namespace {

struct listed_book {
    std::string shelf;
    std::string isbn;
    std::string title;
    std::int32_t pages{};
    double price{};
    std::int64_t sold{};
};

ENTITABLE(listed_book, partition_key(shelf), row_key(isbn), properties(title, pages, price, sold))

/// The lines of the file, without quotes.
class lines_of {
public:
    explicit lines_of(std::istream& in) : in_(in) {}

    struct iterator {
        using iterator_concept = std::input_iterator_tag;
        using value_type = listed_book;
        using difference_type = std::ptrdiff_t;

        listed_book const& operator*() const { return from->made_; }
        iterator& operator++() {
            from->read();
            return *this;
        }
        void operator++(int) { ++*this; }
        friend bool operator==(iterator const& at, std::default_sentinel_t) { return at.from->ended(); }

        lines_of* from;
    };
    [[nodiscard]] iterator begin() {
        std::getline(in_, line_); // the names
        read();
        return {this};
    }
    [[nodiscard]] static std::default_sentinel_t end() { return {}; }
    [[nodiscard]] bool ended() const { return !in_; }

private:
    std::string_view field() {
        std::size_t const begin = at_;
        std::size_t const comma = (std::min)(line_.find(',', begin), line_.size());
        at_ = comma + 1;
        return std::string_view{line_}.substr(begin, comma - begin);
    }
    template <class Number>
    void number(Number& to) {
        std::string_view const text = field();
        std::from_chars(text.data(), text.data() + text.size(), to);
    }
    void read() {
        if (!std::getline(in_, line_)) { return; }
        at_ = 0;
        made_.shelf = field();
        made_.isbn = field();
        made_.title = field();
        number(made_.pages);
        number(made_.price);
        number(made_.sold);
    }

    std::istream& in_;
    std::string line_;
    std::size_t at_{};
    listed_book made_;
};

} // namespace

int main(int count, char** words) {
    if (count != 3 && count != 4) {
        std::fputs("load_csv LIST.csv TABLES.db [--by-hand]\n", stderr);
        return 2;
    }
    std::ifstream in{words[1], std::ios::binary};
    auto store = entitable::file_backend::open(words[2]);
    if (!in || !store) {
        std::fputs("a file cannot be opened\n", stderr);
        return 1;
    }
    entitable::table<listed_book> const books{*store, "books"};
    if (auto made = books.create_if_absent(); !made) {
        std::fprintf(stderr, "%s\n", made.error().to_string().c_str());
        return 1;
    }
    auto const load = [&]() -> entitable::result<entitable::bulk_report> {
        if (count == 4) { return bulk_insert(books, lines_of{in}); }
        auto records = entitable::read_csv<listed_book>(in);
        return records ? bulk_insert(books, *records) : std::move(records).as_failure();
    };
    auto const loaded = load();
    auto const done = loaded ? loaded->all() : loaded;
    if (!done) { std::fprintf(stderr, "%s\n", done.error().to_string().c_str()); }
    return done ? 0 : 1;
}
