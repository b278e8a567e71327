// SPDX-License-Identifier: MIT
// Copyright (c) 2026 the entitable authors

// The content of a page. tests/pictures checks its appearance.

#include <entitable/advice.hpp>
#include <entitable/advice/report/detail/svg_picture.hpp>

#include <support/catch.hpp>
#include <support/temporary_folder.hpp>

#include <fstream>
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
