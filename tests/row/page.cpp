// SPDX-License-Identifier: MIT
// Copyright (c) 2026 the entitable authors

#include <entitable/core/row/page.hpp>

#include <support/catch.hpp>

#include <span>
#include <string>
#include <vector>

using namespace entitable;

namespace {

row runner(int number) {
    row_builder builder{"event " + std::to_string(number / 10), "bib " + std::to_string(number)};
    builder.add("name", std::string_view{std::string(static_cast<std::size_t>(number), 'x')});
    return builder.build();
}

} // namespace

TEST_CASE("a new page is empty") {
    page const rows;
    CHECK(rows.empty());
    CHECK(rows.size() == 0);
    CHECK(rows.bytes() == 0);
}

TEST_CASE("a page keeps rows in the order they were added") {
    page rows;
    std::size_t bytes = 0;
    for (int number = 0; number < 100; ++number) {
        auto const one = runner(number);
        rows.append(one);
        bytes += one.partition_key().size() + one.row_key().size() + one.payload().size();
    }
    REQUIRE(rows.size() == 100);
    CHECK_FALSE(rows.empty());
    CHECK(rows.bytes() == bytes);
    for (int number = 0; number < 100; ++number) {
        auto const expected = runner(number);
        auto const found = rows[static_cast<std::size_t>(number)];
        CHECK(found.partition_key == expected.partition_key());
        CHECK(found.row_key == expected.row_key());
        CHECK(found.payload == expected.payload());
    }
}

TEST_CASE("a loop over a page visits each row in order") {
    page rows;
    for (row_view const each : rows) { FAIL(each.row_key); }
    for (int number = 0; number < 3; ++number) { rows.append(runner(number)); }
    std::string visited;
    for (row_view const each : rows) { visited += std::string{each.row_key} + ";"; }
    CHECK(visited == "bib 0;bib 1;bib 2;");
    CHECK(rows.begin() == rows.begin());
    CHECK_FALSE(rows.begin() == rows.end());
}

TEST_CASE("rows of one page are appended to another page together") {
    page from;
    for (int number = 0; number < 50; ++number) {
        row const one = runner(number);
        // every third row has an ETag of its own
        from.append(number % 3 == 0 ? row{one.partition_key(), one.row_key(), one.payload(), "\"x\""} : one);
    }
    for (std::size_t const before : {0, 1, 7}) {
        for (std::size_t first = 0; first < 50; first += 7) {
            for (std::size_t const count : {std::size_t{0}, std::size_t{1}, std::size_t{2}, 50 - first}) {
                if (first + count > 50) { continue; }
                CAPTURE(before, first, count);
                page to;
                page expected;
                for (std::size_t at = 0; at < before; ++at) {
                    to.append(from[at]);
                    expected.append(from[at]);
                }
                to.append(from, first, count);
                for (std::size_t at = first; at < first + count; ++at) { expected.append(from[at]); }
                to.append(from[3]); // the page continues as usual
                expected.append(from[3]);
                REQUIRE(to.size() == expected.size());
                CHECK(to.bytes() == expected.bytes());
                for (std::size_t at = 0; at < to.size(); ++at) {
                    CHECK(to[at].partition_key == expected[at].partition_key);
                    CHECK(to[at].row_key == expected[at].row_key);
                    CHECK(to[at].payload == expected[at].payload);
                    CHECK(to[at].etag_text == expected[at].etag_text);
                }
            }
        }
    }
}

TEST_CASE("rows are appended together as they are one by one, with keys of any size") {
    std::string const letters = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ";
    page together;
    page singly;
    for (std::size_t first = 0; first <= 18; first += 6) {
        std::vector<row_view> run;
        for (std::size_t size = 0; size < 40; ++size) {
            run.push_back({std::string_view{letters}.substr(0, size), std::string_view{letters}.substr(first, size % 9),
                std::string_view{letters}.substr(0, first + size % 7), std::string_view{letters}.substr(1, size / 2)});
        }
        together.append(run);
        for (row_view const& each : run) { singly.append(each); }
    }
    together.append(std::span<row_view const>{});
    REQUIRE(together.size() == 160);
    CHECK(together.bytes() == singly.bytes());
    for (std::size_t at = 0; at < together.size(); ++at) {
        INFO(at);
        CHECK(together[at].partition_key == letters.substr(0, at % 40));
        CHECK(together[at].partition_key == singly[at].partition_key);
        CHECK(together[at].row_key == singly[at].row_key);
        CHECK(together[at].payload == singly[at].payload);
        CHECK(together[at].etag_text == singly[at].etag_text);
    }
}

TEST_CASE("a page separates rows with empty keys and payloads") {
    page rows;
    rows.append(row_view{"", "", ""});
    rows.append(row_view{"p", "", ""});
    rows.append(row_view{"", "r", ""});
    rows.append(row_view{"", "", "payload"});
    REQUIRE(rows.size() == 4);
    CHECK(rows[0].partition_key.empty());
    CHECK(rows[1].partition_key == "p");
    CHECK(rows[1].row_key.empty());
    CHECK(rows[2].partition_key.empty());
    CHECK(rows[2].row_key == "r");
    CHECK(rows[3].payload == "payload");
}

TEST_CASE("a page with reserved space holds its rows without moving them") {
    page rows;
    rows.reserve(2, 1000);
    rows.append(row_view{"p", "r", "first"});
    auto const* const before = rows[0].payload.data();
    rows.append(row_view{"p", "s", "second"});
    CHECK(rows[0].payload.data() == before);
    CHECK(rows[0].payload == "first");
}

TEST_CASE("a page can be cleared and used again, and copies are independent") {
    page rows;
    rows.append(runner(3));
    auto const copy = rows;
    rows.clear();
    CHECK(rows.empty());
    CHECK(rows.bytes() == 0);
    rows.append(runner(4));
    REQUIRE(rows.size() == 1);
    CHECK(rows[0].row_key == "bib 4");
    REQUIRE(copy.size() == 1);
    CHECK(copy[0].row_key == "bib 3");
    auto const moved = std::move(rows);
    CHECK(moved[0].row_key == "bib 4");
}

TEST_CASE("an ETag that does not correspond to the Timestamp is stored with its row") {
    row const usual = runner(1);
    std::string_view const unusual = "W/\"datetime'2020-11-07T01%3A23%3A13.3773350Z'\"";
    row const other{"p", "r", usual.payload(), unusual};
    CHECK(other.payload() == usual.payload());
    CHECK(other.view().etag().to_string() == unusual);
    CHECK(row{other.view()}.view().etag().to_string() == unusual);
    page rows;
    rows.append(usual);
    rows.append(other);
    rows.append(usual);
    CHECK(rows[0].etag() == etag::of(usual.view().timestamp()));
    CHECK(rows[1].etag().to_string() == unusual);
    CHECK(rows[1].payload == usual.payload());
    CHECK(rows[2].etag_text.empty());
    CHECK(rows[2].payload == usual.payload());
}
