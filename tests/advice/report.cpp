// SPDX-License-Identifier: MIT
// Copyright (c) 2026 the entitable authors

// The content of a page. tests/pictures checks its appearance.

#include <entitable/advice.hpp>
#include <entitable/advice/report/detail/report_figures.hpp>
#include <entitable/advice/report/detail/svg_picture.hpp>

#include <support/catch.hpp>
#include <support/temporary_folder.hpp>

#include <fstream>
#include <numeric>
#include <sstream>

using namespace entitable;
using entitable_test::ContainsSubstring;

namespace report_test {

struct item {
    std::string owner;
    std::int32_t number{};
    std::string note;
};
ENTITABLE(item, partition_key(owner), row_key(number), properties(note))

std::vector<item> items(std::string const& owner = "owner ") {
    std::vector<item> all;
    for (std::int32_t number = 0; number < 1'000; ++number) {
        all.push_back({owner + std::to_string(number % 40), number, "note"});
    }
    return all;
}

std::size_t count(std::string_view text, std::string_view words) {
    std::size_t found = 0;
    for (std::size_t at = text.find(words); at != std::string_view::npos; at = text.find(words, at + 1)) { ++found; }
    return found;
}

} // namespace report_test

using namespace report_test;

TEST_CASE("a report contains the six pictures and declarations to copy") {
    table_sample const sample = sample_of(items(), {.arrival_order = true}).value();
    workload load;
    load.reads("of an owner", fields<item>::owner == "x", {.per_second = 20}).writes("new", {.per_second = 100});
    stress_outcome stress;
    stress.steps.emplace_back();
    advice_report report{"Items <of> owners"};
    report.add(advise(sample, load))
        .add(simulate(sample, load, {.minutes = 1}))
        .add(stress)
        .add(plan_throughput({.partitions = 5, .desired = 150'000}));
    std::string const page = report.to_html().value();
    CHECK(count(page, "<svg") == 6);
    CHECK(count(page, "</svg>") == 6);
    for (char const* id : {"sizes", "shares", "heat", "load", "stress", "units"}) {
        CHECK_THAT(page, ContainsSubstring("<figure id=\"" + std::string{id} + "\">"));
    }
    CHECK_THAT(page, ContainsSubstring("<title>Items &lt;of&gt; owners</title>"));
    CHECK_THAT(page, ContainsSubstring("ENTITABLE(item,\n    partition_key(owner),\n    row_key(number),\n"));
    CHECK_THAT(page, ContainsSubstring("Steps to 150,000 RU/s"));
    CHECK_THAT(page, ContainsSubstring("a server 2,000, an account 20,000 entities/s"));
    CHECK(page.find("<script") == std::string::npos);
    CHECK(page.find("http://") == page.find("http://www.w3.org/2000/svg")); // a name, not an address

    std::string const text = report.to_string().value();
    for (char const* words : {"Data", "Load over time, simulated", "Stress test of one partition", "timetable"}) {
        CHECK_THAT(text, ContainsSubstring(words));
    }
}

TEST_CASE("a report is written to a file, or an error explains why it was not written") {
    entitable_test::temporary_folder const folder;
    table_sample const sample = sample_of(items()).value();
    std::string const path = folder / "report.html";
    REQUIRE(write_report(path, advise(sample, {}), simulate(sample, {}, {.minutes = 1}),
        plan_throughput({.partitions = 5, .desired = 150'000})));
    std::stringstream read;
    read << std::ifstream{path}.rdbuf();
    advice_report same;
    same.add(advise(sample, {}))
        .add(simulate(sample, {}, {.minutes = 1}))
        .add(plan_throughput({.partitions = 5, .desired = 150'000}));
    CHECK(read.str() == same.to_html().value());

    CHECK(write_report(folder / "none/report.html", advise(sample, {})).error().code == error_code::store_failed);
    // The error of a part is the error of the report, and nothing is written.
    std::string const other = folder / "other.html";
    auto const refused = write_report(other, advise(sample, {}), plan_throughput({.desired = 1}), plan_ingest({}));
    CHECK(refused.error().message == plan_throughput({.desired = 1}).error().message);
    CHECK_FALSE(std::ifstream{other}.good());
    CHECK(write_report(other, advice{}).error().code == error_code::invalid_input);
}

TEST_CASE("a report escapes markup and characters that XML cannot contain") {
    using detail::escaped_html;
    CHECK(escaped_html("a < b && \"c\" > 'd'") == "a &lt; b &amp;&amp; &quot;c&quot; &gt; 'd'");
    CHECK(escaped_html(std::string_view{"\0\x1b\n", 3}) == "\\x00\\x1b\\x0a");
    CHECK(escaped_html("\xff") == "\\xff");
    CHECK(escaped_html("\xEF\xBF\xBF") == "?");
    advice_report report;
    report.add(advise(sample_of(items("</svg><script>&")).value(), {}));
    CHECK(report.to_html().value().find("<script>") == std::string::npos);
}

TEST_CASE("numbers in a drawing are short and use a decimal point") {
    using detail::axis_text;
    using detail::drawn_number;
    CHECK(drawn_number(0) == "0");
    CHECK(drawn_number(-0.001) == "0");
    CHECK(drawn_number(12.5) == "12.5");
    CHECK(drawn_number(-3.14159) == "-3.14");
    CHECK(drawn_number(7.05) == "7.05");
    CHECK(drawn_number(1.0 / 0.0) == "0");
    CHECK(axis_text(999) == "999");
    CHECK(axis_text(1'500) == "1.5k");
    CHECK(axis_text(2e6) == "2M");
    CHECK(detail::round_values(0, 10, 5) == std::vector<double>{0, 2, 4, 6, 8, 10});
    CHECK(detail::round_values(3, 3, 5) == std::vector<double>{3});
    CHECK(detail::round_values(0, 0.1, 2).size() == 3);
}

TEST_CASE("a heat picture joins neighbouring cells of one shade and omits empty cells") {
    detail::svg_picture picture{"x", "title", "words", 100, 50};
    double const cells[2][4] = {{1, 1, 0, 9}, {0, 0, 0, 0}};
    picture.heat({0, 1, 0, 100}, {0, 1, 50, 0}, 2, 4, 9,
        [&](std::size_t row, std::size_t column) { return cells[row][column]; });
    std::string const drawn = std::move(picture).finish();
    CHECK_THAT(drawn, ContainsSubstring("class=\"q7\" d=\"M75 50H100V25H75Z\""));
    CHECK_THAT(drawn, ContainsSubstring("d=\"M0 50H50V25H0Z\""));
    CHECK(count(drawn, "<path") == 2);
}

TEST_CASE("a picture of shards has a bar for each, or says how many share one") {
    table_sample const sample = sample_of(items()).value();
    auto const drawn = [&](std::uint32_t shards) {
        shard_advice made;
        made.candidates.push_back(score_shards(sample, {}, {"owner", {"owner"}, virtual_shards{shards}}).value());
        // Every shard has rows, so that every bar is drawn.
        std::iota(made.candidates[0].rows.begin(), made.candidates[0].rows.end(), 1.0);
        std::string const page = advice_report{}.add(made).to_html().value();
        return page.substr(page.find("<figure id=\"shards\">"));
    };
    for (std::uint32_t const shards : {1U, 11U, 200U, 256U}) {
        std::string const figure = drawn(shards);
        CHECK(count(figure, "<title>shard ") == shards);
        CHECK(count(figure, "<title>shards ") == 0);
        CHECK_THAT(figure,
            ContainsSubstring(
                "One bar for each of the " + std::to_string(shards) + (shards == 1 ? " shard." : " shards.")));
    }
    std::string const many = drawn(900);
    CHECK(count(many, "<title>shards ") == 225);
    CHECK_THAT(many, ContainsSubstring("900 shards in 225 bars: each is the fullest of 4 neighbours."));
    CHECK_THAT(many, ContainsSubstring("<title>shards 896 to 899: at most 900 rows"));
}

TEST_CASE("a wide table repeats the names of its columns for a narrow screen") {
    detail::text_table wide{{"name", "a", "b", "c", "d<"}};
    wide.add({"x", "1", "2", "3", "4"});
    std::string const html = detail::html_table(wide, "words");
    CHECK_THAT(html, ContainsSubstring("<table class=\"stacked\">"));
    CHECK_THAT(html, ContainsSubstring("<td data-name=\"name\">x</td>"));
    CHECK_THAT(html, ContainsSubstring("<td data-name=\"d&lt;\" class=\"n\">4</td>"));
    detail::text_table small{{"name", "a"}};
    small.add({"x", "1"});
    CHECK(detail::html_table(small, "words").find("data-name") == std::string::npos);
}
