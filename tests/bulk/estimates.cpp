// SPDX-License-Identifier: MIT
// Copyright (c) 2026 the entitable authors

#include "books.hpp"
#include <entitable/memory.hpp>
#include <entitable/testing.hpp>

#include <support/catch.hpp>
#include <support/temporary_folder.hpp>

#include <fstream>
#include <sstream>

using namespace entitable;
using namespace bulk_test;

TEST_CASE("an estimate equals the cost of the load and can be scaled") {
    memory_backend store;
    table<book> const books{store, "books"};
    books.create().value();
    auto const input = some_books(1'050);
    auto const cost = bulk_estimate(books, input, 1'050);
    auto const report = bulk_insert(books, input).value();
    CHECK(cost.transactions == report.transactions);
    CHECK(cost.refused == 0);
    CHECK(cost.bytes > 1'050 * 40);

    auto const million = bulk_estimate(books, input, 1'050'000);
    CHECK(million.transactions == 14'000); // a thousand times as many partitions
    CHECK(million.least_transactions == 10'500);
    CHECK(million.bytes == 1'000 * cost.bytes);
    CHECK(million.seconds == 75); // 150,000 rows in each of 7 partitions

    auto with_bad = input;
    with_bad[0].title = too_long();
    CHECK(bulk_estimate(books, with_bad, 1'050'000).refused == 1);
    CHECK(bulk_estimate(books, std::vector<book>{}, 1'000).transactions == 0);
}

TEST_CASE("large rows need more transactions than the number of rows suggests") {
    table<book> const books{memory_backend{}, "books"};
    std::vector<book> input = some_books(100, 1);
    for (book& each : input) { each.title = std::string(30'000, 'x'); }
    auto const cost = bulk_estimate(books, input, 10'000);
    CHECK(cost.transactions == 200);
    CHECK(cost.least_transactions == 145);
}

TEST_CASE("progress is printed as one line") {
    bulk_progress progress;
    progress.read = 45'100;
    progress.held = 100;
    progress.total = 100'000;
    progress.rows_a_second = 9'000.4;
    progress.left = std::chrono::seconds{6};
    progress.already_there = 12;
    progress.refused = 3;
    progress.in_flight = 32;
    CHECK(to_string(progress) ==
        "45,000 of 100,000 rows (45 %), 9,000 a second, 0:06 left; 12 already there, 3 refused, 32 in flight");
    CHECK(to_string(bulk_progress{}) == "0 rows");
    progress.total.reset();
    progress.ended = true;
    progress.elapsed = std::chrono::seconds{3'725};
    progress.in_flight = 0;
    progress.retried = 7;
    CHECK(to_string(progress) == "45,000 rows, 9,000 a second for 1:02:05; 12 already there, 3 refused, 7 sent again");
}

TEST_CASE("a log file gets a line every few seconds, and a final line") {
    entitable_test::temporary_folder const folder;
    std::string const path = folder / "progress.txt";
    std::FILE* const file = std::fopen(path.c_str(), "w");
    REQUIRE(file != nullptr);
    bulk_progress_line print{file};
    bulk_progress progress;
    for (int second = 1; second <= 12; ++second) {
        progress.read = static_cast<std::uint64_t>(second);
        progress.elapsed = std::chrono::seconds{second};
        progress.ended = second == 12;
        print(progress);
    }
    std::fclose(file);
    std::stringstream text;
    text << std::ifstream{path}.rdbuf();
    CHECK(text.str() == "5 rows\n10 rows\n12 rows for 0:12\n");
}

TEST_CASE("rows without a fixed schema can be loaded") {
    memory_backend store;
    row_table const rows{store, "rows"};
    rows.create().value();
    std::vector<entity> input;
    for (int number = 0; number < 300; ++number) {
        input.emplace_back("p", std::to_string(number)).set("number", number);
    }
    input.emplace_back("p", "~!mine");
    auto const report = bulk_insert(rows, input).value();
    CHECK(report.written == 300);
    REQUIRE(report.refusals.size() == 1);
    CHECK(report.refusals[0].error.code == error_code::key_reserved);
    CHECK(bulk_upsert(rows, std::vector<entity>{entity{"p", "7"}}).value().written == 1);
    CHECK(rows.get("p", "7")->properties().empty());
}

TEST_CASE("rows that a builder made can be loaded") {
    memory_backend store;
    row_table const rows{store, "rows"};
    rows.create().value();
    std::vector<result<row>> input;
    row_builder builder{"p", "1"};
    builder.add("number", value_view{1});
    builder.add("text", value_view{std::string_view{"of the first row only"}});
    input.emplace_back(builder.build());
    builder.restart("p", "2");
    builder.add("number", value_view{2});
    builder.build(*input.emplace_back(row{"longer", "keys", "and bytes"}));
    builder.restart("p", "~!mine");
    input.emplace_back(builder.build());
    input.emplace_back(failure{error_code::invalid_input, "no row"});
    auto const report = bulk_insert(rows, input).value();
    CHECK(report.written == 2);
    REQUIRE(report.refusals.size() == 2);
    CHECK(report.refusals[0].error.code == error_code::key_reserved);
    CHECK(report.refusals[1].error.message == "no row");
    CHECK(rows.get("p", "1")->properties().size() == 2);
    CHECK(rows.get("p", "2")->to_row().payload() == entity{"p", "2"}.set("number", 2).to_row().payload());
    CHECK(bulk_upsert(rows, std::vector<row>{row_builder{"p", "1"}.build()}).value().written == 1);
    CHECK(rows.get("p", "1")->properties().empty());
}
