// SPDX-License-Identifier: MIT
// Copyright (c) 2026 the entitable authors

// Run as a test with: {examples}/data/books.csv

/// \file
/// A catalogue of books is loaded through a service on a bad day: requests and answers are lost, arrive late or
/// incomplete, and partitions go offline. Retries settle all of it, and in the end exactly the right books are stored.
/// Nothing waits: the clock is a test clock.
///
///     stormy [CSV]

#include "support/csv.hpp"
#include <entitable/entitable.hpp>
#include <entitable/memory.hpp>
#include <entitable/retrying.hpp>
#include <entitable/testing.hpp>

#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <map>
#include <optional>
#include <string>
#include <vector>

struct book {
    std::optional<std::int32_t> year;
    std::int32_t id{};
    std::string title;
    std::string authors;
};

ENTITABLE(book, partition_key(year), row_key(id), properties(title, authors))

namespace {

using namespace std::chrono_literals;
using entitable::testing::fault;

std::vector<book> read_books(std::istream& input) {
    std::vector<book> all;
    for (examples::csv_reader record{input}; record.next();) {
        book read;
        read.id = static_cast<std::int32_t>(std::strtol(record["book_id"].c_str(), nullptr, 10));
        if (std::string const& year = record["original_publication_year"]; !year.empty()) {
            read.year = static_cast<std::int32_t>(std::strtod(year.c_str(), nullptr));
        }
        read.title = record["title"];
        read.authors = record["authors"];
        all.push_back(std::move(read));
    }
    return all;
}

struct account {
    std::size_t batches{};
    std::size_t settled{}; ///< the inserts whose answer was lost and whose row was found
};

/// One batch per publication year, in tens; then the first book of each is corrected and read again, and some are
/// removed.
account load(entitable::any_store const& service, std::vector<book> const& all) {
    entitable::table<book> const books{service, "books"};
    books.create().value();
    account done;
    auto const submit = [&](entitable::batch<book>& batch) {
        auto const written = batch.submit().value();
        ++done.batches;
        done.settled += written.front().after_retry ? 1U : 0U;
        batch.clear();
    };
    std::map<std::optional<std::int32_t>, entitable::batch<book>> batches;
    for (book const& each : all) {
        auto& batch = batches.try_emplace(each.year, books.batch()).first->second;
        batch.insert(each);
        if (batch.size() == 10) { submit(batch); }
    }
    for (auto& [year, batch] : batches) {
        if (!batch.empty()) { submit(batch); }
    }
    for (std::size_t index = 0; index < all.size(); index += 3) {
        books.update(all[index].year, all[index].id, [](book& one) { one.title += " (corrected)"; }).value();
    }
    for (std::size_t index = 1; index < all.size(); index += 5) {
        books.remove(all[index].year, all[index].id, entitable::any_etag).value();
    }
    return done;
}

} // namespace

int main(int count, char** arguments) {
    std::ifstream input{count > 1 ? arguments[1] : "examples/data/books.csv", std::ios::binary};
    std::vector<book> const all = read_books(input);
    if (all.empty()) {
        std::fprintf(stderr, "no books were read\n");
        return 1;
    }

    entitable::memory_backend const calm;
    (void)load(calm, all);

    entitable::testing::manual_clock time;
    entitable::local_options options;
    options.time = &time;
    entitable::memory_backend const store{options};
    entitable::testing::faulty service{store, {.time = &time}};
    service.plan_random(2026, all.size() / 2, all.size(),
        {fault::refused(), fault::lost_before(), fault::lost_after(), fault::lost_after(), fault::half_answer(),
            fault::late(), fault::throttled(2s), fault::busy(), fault::status(500, true), fault::status(503, false),
            fault::status(504, true), fault::status(408, false), fault::slow(3s)});
    entitable::retrying_options how;
    how.policy = entitable::retry_policy::exponential(10, 50ms, 10ms, 10s);
    how.operation_rows = true; // each lost write is settled
    how.time = &time;
    how.seed = 1;
    auto const begun = time.steady();
    entitable::retrying const through{service, how};
    account const done = load(through, all);

    auto const expected = entitable::testing::read_contents(calm).value();
    auto const found = entitable::testing::without_system_rows(entitable::testing::read_contents(store).value());
    std::string const different = entitable::testing::difference(expected, found);
    std::printf(
        "%zu books in %zu batches, %zu of them settled after a lost answer\n", all.size(), done.batches, done.settled);
    std::printf("survived:\n");
    for (auto const& [name, times] : service.happened()) { std::printf("  %-12s %3zu\n", name.c_str(), times); }
    std::printf("every planned fault happened: %s\n", service.all_fired() ? "yes" : "no");
    std::printf("differences from the calm day: %s\n", different.empty() ? "none" : different.c_str());
    std::printf("it would have taken %lld s\n",
        static_cast<long long>(std::chrono::duration_cast<std::chrono::seconds>(time.steady() - begun).count()));
    return different.empty() ? 0 : 1;
}
