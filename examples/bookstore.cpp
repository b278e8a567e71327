// SPDX-License-Identifier: MIT
// Copyright (c) 2026 the entitable authors
// Run as a test with: {examples}/data/books.csv

/// \file
/// A book site on three files, or in three schemas of a PostgreSQL database. The shard key is the check digit of the ISBN, 0 to 10: 11 virtual
/// shards. One book is updated on its one shard, a catalogue query reads all of them, and a fourth store joins: it takes over virtual shards
/// while customers buy books.
///
///     bookstore [CSV] [--postgres DATABASE]
///
/// The columns it reads are book_id, title, authors, isbn and original_publication_year. Its files are in a new folder, which goes at the end;
/// schemas of a database have new names, bookstore_N_..., and stay. The output is the same.

#include "support/csv.hpp"
#include <entitable/bulk.hpp>
#include <entitable/entitable.hpp>
#include <entitable/file.hpp>
#include <entitable/retrying.hpp>
#include <entitable/shards.hpp>
#if defined(EXAMPLES_HAVE_POSTGRES) // if libpq is available
#include <entitable/postgres.hpp>
#endif

#include <atomic>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <map>
#include <random>
#include <thread>

struct book {
    std::string isbn; // text: it may begin with zeros and end with an X
    std::int32_t id{};
    std::string title, authors;
    std::int32_t year{};
};
ENTITABLE(book, partition_key(isbn), row_key(id), properties(title, authors, year))

struct sale {
    std::string isbn; // the same first component: sales are in the shard of their book, and move with it
    std::int32_t number{};
};
ENTITABLE(sale, partition_key(isbn), row_key(number), properties())

static_assert(entitable::sharded_by<book, &book::isbn>);
static_assert(entitable::same_shard<book, sale>);
using b = entitable::fields<book>;

namespace {

/// 0 to 9, and 10 for an X.
std::optional<std::uint32_t> isbn_check_digit(std::string_view isbn) {
    char const last = isbn.empty() ? '?' : isbn.back();
    if (last == 'X' || last == 'x') { return 10; }
    return last >= '0' && last <= '9' ? std::optional{static_cast<std::uint32_t>(last - '0')} : std::nullopt;
}

void show_balance(entitable::sharded const& cloud) {
    std::map<std::string, std::uint64_t> in_store;
    entitable::table<book> const books{cloud, "books"};
    auto& state = cloud.map().state();
    auto const map = state.current({}, state.now()).value();
    for (book const& each : books.scan_table().to().value()) {
        ++in_store[map->places[isbn_check_digit(each.isbn).value()].row.store];
    }
    for (auto const& [store, count] : in_store) {
        std::printf("  %s holds %llu books\n", store.c_str(), static_cast<unsigned long long>(count));
    }
}

struct folder_at_end {
    std::filesystem::path path;
    ~folder_at_end() {
        std::error_code ignored;
        std::filesystem::remove_all(path, ignored);
    }
};

} // namespace

int main(int argc, char** argv) {
    std::filesystem::path csv = std::filesystem::path{__FILE__}.parent_path() / "data" / "books.csv";
    std::string database; // none: files
    for (int index = 1; index < argc; ++index) {
        if (std::strcmp(argv[index], "--postgres") == 0 && index + 1 < argc) {
            database = argv[++index];
        } else {
            csv = argv[index];
        }
    }
    std::string const run = std::to_string(std::random_device{}());
    folder_at_end const folder{std::filesystem::temp_directory_path() / ("bookstore-" + run)};
    std::filesystem::create_directories(folder.path);

    entitable::file_options quick;
    quick.durability = entitable::durability::relaxed;
    auto const open_store = [&](std::string_view name) -> entitable::result<entitable::any_store> {
        if (!database.empty()) {
#if defined(EXAMPLES_HAVE_POSTGRES)
            entitable::postgres_options own;
            own.schema = "bookstore_" + run + "_" + std::string{name};
            auto connected = entitable::postgres_backend::connect(database, own);
            if (!connected) { return std::move(connected).as_failure(); }
            return entitable::any_store{*std::move(connected)};
#else
            return entitable::failure{entitable::error_code::not_supported, "this program was built without libpq"};
#endif
        }
        return entitable::any_store{
            entitable::file_backend{(folder.path / (std::string{name} + ".db")).string(), quick}};
    };
    // 0, 1, 2 and 9 in the first store, 3, 4, 5 and 10 in the second, 6, 7 and 8 in the third
    entitable::lookup_map_options brief;
    brief.lease = std::chrono::milliseconds{100}; // a minute by default: a move waits that long
    auto const map = entitable::lookup_map::make(open_store("catalogue").value(), "shardmap",
        entitable::virtual_shards{11, isbn_check_digit},
        {"bookdbshard0", "bookdbshard0", "bookdbshard0", "bookdbshard1", "bookdbshard1", "bookdbshard1", "bookdbshard2",
            "bookdbshard2", "bookdbshard2", "bookdbshard0", "bookdbshard1"},
        open_store, brief)
                         .value();
    entitable::sharded const cloud{map, open_store};
    entitable::table<book> const books{cloud, "books"};
    books.create().value();
    // A write that meets a moving shard is sent again; its operation row moves along and shows whether it was applied.
    entitable::retrying_options patient;
    patient.policy = entitable::retry_policy::fixed(1000, std::chrono::milliseconds{20});
    patient.quota = 0;
    patient.operation_rows = true;
    entitable::table<sale> const sales{entitable::retrying{cloud, patient}, "sales"};
    sales.create().value();

    std::ifstream input{csv};
    examples::csv_reader record{input};
    std::vector<book> read;
    std::size_t without = 0;
    while (record.next()) {
        book each{record["isbn"], static_cast<std::int32_t>(std::strtol(record["book_id"].c_str(), nullptr, 10)),
            record["title"], record["authors"],
            static_cast<std::int32_t>(std::strtod(record["original_publication_year"].c_str(), nullptr))};
        if (isbn_check_digit(each.isbn)) {
            read.push_back(std::move(each));
        } else {
            ++without;
        }
    }
    for (book const& each : read) { books.insert_or_replace(each).value(); }
    std::printf("%zu books with an ISBN, %zu without\n", read.size(), without);
    std::printf("%s", map.to_string().value().c_str());
    show_balance(cloud);

    // one book, on its one shard
    book const& first = read.front();
    auto const changed = books.update(first.isbn, first.id, [](book& each) { each.title += " (signed)"; }).value();
    static_cast<void>(changed);
    std::printf("%s\n", books.get(first.isbn, first.id).value().title.c_str());

    // a catalogue query, over all shards, in key order
    auto const old_books = books.scan_table(b::year < 1700);
    std::string const asked = cloud.explain("books").value();
    std::printf("%s\nbefore 1700: %llu books\n", asked.substr(0, asked.find('\n')).c_str(),
        static_cast<unsigned long long>(old_books.count().value()));
    std::uint64_t const before = books.scan_table().count().value();

    // a fourth store joins, while customers buy
    std::vector<entitable::move_plan> plans;
    for (int const shard : {2, 5, 8}) { plans.push_back(entitable::plan_move(cloud, shard, "bookdbshard3").value()); }
    std::atomic<bool> open{true};
    std::atomic<std::int32_t> sold{0};
    std::thread customer{[&] {
        for (std::int32_t number = 0; open; ++number) {
            sold += sales.insert({read[static_cast<std::size_t>(number) % read.size()].isbn, number}) ? 1 : 0;
        }
    }};
    bool sold_in_each = true;
    for (entitable::move_plan& plan : plans) {
        std::printf("%s", plan.to_string().c_str());
        std::int32_t const sold_before = sold;
        auto last = entitable::move_step::done;
        plan.run([&](entitable::move_progress const& at) {
                if (at.step != last) { std::printf("  %s\n", std::string{to_string(at.step)}.c_str()); }
                last = at.step;
                return true;
            })
            .value();
        sold_in_each = sold_in_each && sold > sold_before;
    }
    open = false;
    customer.join();
    bool const all_sales = sales.scan_table().count().value() == static_cast<std::uint64_t>(sold.load());
    std::printf("%s during each move, %s sale is there\n", sold_in_each ? "books were sold" : "no books were sold",
        all_sales ? "every" : "not every");
    show_balance(cloud);
    bool const same = before == books.scan_table().count().value();
    std::printf("%s\n", same ? "every book is there" : "books are missing");
    return same && all_sales ? 0 : 1;
}
