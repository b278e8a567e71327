// SPDX-License-Identifier: MIT
// Copyright (c) 2026 the entitable authors

#include "all_types.hpp"
#include <entitable/bulk.hpp>
#include <entitable/json_lines.hpp>
#include <entitable/memory.hpp>

#include <sstream>

using namespace entitable;
using namespace exchange_test;
using entitable_test::ContainsSubstring;

namespace {

template <class Entity>
std::string lines_of(std::vector<Entity> const& rows) {
    std::ostringstream out;
    CHECK(write_json_lines(out, rows).value() == rows.size());
    return std::move(out).str();
}

template <class Entity>
readings<Entity> read_all(std::string const& text, json_lines_options const& options = {}) {
    std::istringstream in{text};
    auto reader = read_json_lines<Entity>(in, options);
    return collected<Entity>(reader);
}

struct line {
    std::string name;
    std::int32_t number{};
    std::optional<std::string> note;
    std::optional<double> weight;
    std::int64_t large{7};
    bool truth{};

    friend bool operator==(line const&, line const&) = default;
};
ENTITABLE(line, partition_key(name), row_key(number), properties(note, weight, large, property(truth, "Is \"true\"")))

} // namespace

TEST_CASE("10,000 books survive a round trip through JSON lines, and are written again byte for byte") {
    auto const books = made_books(10'000);
    std::string const text = lines_of(books);
    auto const again = read_all<book>(text);
    CHECK(again.errors.empty());
    CHECK(again.entities == books);
    CHECK(again.report.ended);
    CHECK(again.report.records == 10'000);
    CHECK(again.report.lines == 10'000);
    CHECK(lines_of(again.entities) == text);
    CHECK(lines_of(made_books(2)) ==
        "{\"language\":\"de\",\"number\":0,\"title\":\"The book, number "
        "0\",\"subtitle\":\"\",\"year\":1900,\"Price\":0,"
        "\"lent\":\"2020-01-01T00:00:00Z\"}\n"
        "{\"language\":\"en\",\"number\":1,\"title\":\"The book, number 1\",\"year\":1901,\"Price\":0.01}\n");
}

TEST_CASE("random entities of every type survive a round trip through JSON lines") {
    std::vector<everything> all;
    for (std::uint64_t seed = 0; seed < 10'000; ++seed) { all.push_back(random_everything(seed)); }
    std::string const text = lines_of(all);
    CHECK(static_cast<std::size_t>(std::count(text.begin(), text.end(), '\n')) == all.size());
    auto const again = read_all<everything>(text);
    CHECK(again.errors.empty());
    CHECK((again.entities == all));
    CHECK(lines_of(again.entities) == text);
}

TEST_CASE("a reader of JSON lines can be the input of a bulk load, and a query can be the input of a writer") {
    memory_backend store;
    table<book> books{store, "books"};
    books.create().value();
    std::istringstream in{lines_of(made_books(1'000)) + "{}\n"};
    auto reader = read_json_lines<book>(in);
    auto const report = bulk_insert(books, reader).value();
    CHECK(report.written == 1'000);
    REQUIRE(report.refusals.size() == 1);
    CHECK(report.refusals.front().index == 1'000);
    CHECK(report.refusals.front().index == reader.report().refusals.front().index);

    std::ostringstream out;
    CHECK(write_json_lines(out, books.scan_table()).value() == 1'000);
    CHECK(read_all<book>(out.str()).entities == books.scan_table().to().value());
}

TEST_CASE("JSON lines: spaces, escapes, any order, null, strings of digits and special numbers are read") {
    std::string const text =
        "\xEF\xBB\xBF \t{ \"number\" : 1 , \"name\":\"\\u0061\\u00e9\\uD83D\\ude00\\n\\/\\\\\\\"\\b\\f\\r\\t\\u0000\" "
        ",\"note\":null,"
        "\"weight\":\"-Infinity\",\"large\":\"-9223372036854775808\",\"Is "
        "\\\"true\\\"\":true,\"other\":[1,{\"a\":[]},null]}\t\r\n"
        "\r\n  \n"
        "{\"large\":9223372036854775807,\"name\":\"\",\"number\":-0,\"weight\":1e-7,\"Is \\\"true\\\"\":false}";
    auto const read = read_all<line>(text);
    CHECK(read.errors.empty());
    REQUIRE(read.entities.size() == 2);
    CHECK(read.entities[0] ==
        line{std::string{"a\xC3\xA9\xF0\x9F\x98\x80\n/\\\"\b\f\r\t\0", 16}, 1, {},
            -std::numeric_limits<double>::infinity(), std::numeric_limits<std::int64_t>::min(), true});
    CHECK(read.entities[1] == line{"", 0, {}, 1e-7, std::numeric_limits<std::int64_t>::max(), false});
    CHECK(read.report.lines == 4);
    CHECK(read_all<line>("").report.ended);
    CHECK(read_all<line>("").report.lines == 0);
}

TEST_CASE("each malformed or mismatched line is reported with its column, and no other line is lost") {
    struct refusal {
        std::string text;
        std::uint64_t column;
        std::string name;
        std::string message;
    };
    std::string const rest = ",\"large\":1,\"Is \\\"true\\\"\":true}";
    std::string const deep = R"({"x":)" + std::string(64, '[') + std::string(64, ']') + "}";
    refusal const all[] = {
        {"x", 1, "", "the line is not a JSON object"},
        {"[]", 1, "", "the line is not a JSON object"},
        {"  1", 3, "", "the line is not a JSON object"},
        {"{", 2, "", "a name in quotes is expected"},
        {"{,}", 2, "", "a name in quotes is expected"},
        {"{name:1}", 2, "", "a name in quotes is expected"},
        {"{\"a\" 1}", 6, "", "a colon is expected"},
        {"{\"a\":}", 6, "", "a value is expected"},
        {"{\"a\":", 6, "", "a value is expected"},
        {"{\"a\":nul}", 6, "", "a value is expected"},
        {"{\"a\":NaN}", 6, "", "a value is expected"},
        {"{\"a\":1,}", 8, "", "a name in quotes is expected"},
        {"{\"a\":1 \"b\":2}", 8, "", "a comma or } is expected"},
        {"{\"a\":01}", 7, "", "a comma or } is expected"},
        {"{\"a\":-}", 6, "", "a malformed number"},
        {"{\"a\":1.}", 6, "", "a malformed number"},
        {"{\"a\":1e}", 6, "", "a malformed number"},
        {"{\"a\":[1,]}", 9, "", "a value is expected"},
        {"{\"a\":[1 2]}", 9, "", "a comma or ] is expected"},
        {"{\"a\":{\"b\"}}", 10, "", "a colon is expected"},
        {"{\"a\":{b}}", 7, "", "a name in quotes is expected"},
        {"{\"a\":{\"b\":1 2}}", 13, "", "a comma or } is expected"},
        {"{\"a\":\"x}", 6, "", "a string begins here and does not end on this line"},
        {"{\"a\":\"x\ty\"}", 8, "", "a control character in a string must be escaped"},
        {"{\"a\":\"\\x\"}", 7, "", "an invalid escape in a string"},
        {"{\"a\":\"\\u12g4\"}", 7, "", "an invalid escape in a string"},
        {"{\"a\":\"\\", 7, "", "an escape is not complete"},
        {"{\"a\":\"\\uD800\"}", 7, "", "the escape of a high surrogate without a low surrogate"},
        {"{\"a\":\"\\uD800\\u0041\"}", 7, "", "the escape of a high surrogate without a low surrogate"},
        {"{\"a\":\"\\uDC00\"}", 7, "", "the escape of a low surrogate without a high surrogate"},
        {"{\"a\":\"\xC3\"}", 7, "", "a byte that is not valid UTF-8"},
        {"{} x", 4, "", "text follows the object: each line has one object"},
        {deep, 69, "", "more than 64 nested arrays or objects"},
        {"{\"name\":1,\"number\":1" + rest, 9, "name",
            "the value is not a value of the member, which is an Edm.String"},
        {"{\"name\":\"b\",\"number\":\"1\"" + rest, 22, "number", "the value is not a value of the member"},
        {"{\"name\":\"b\",\"number\":1.0" + rest, 22, "number", "the value is not a value of the member"},
        {"{\"name\":\"b\",\"number\":2147483648" + rest, 22, "number", "the value is not a value of the member"},
        {"{\"name\":\"b\",\"number\":true" + rest, 22, "number", "the value is not a value of the member"},
        {"{\"name\":\"b\",\"number\":[1]" + rest, 22, "number", "the value is not a value of the member"},
        {"{\"name\":\"b\",\"number\":null" + rest, 22, "number", "the value is null; make the member a std::optional"},
        {"{\"name\":\"b\",\"number\":1,\"weight\":\"1\"" + rest, 33, "weight",
            "the value is not a value of the member"},
        {"{\"name\":\"b\",\"number\":1,\"weight\":1e999" + rest, 33, "weight",
            "the value is not a value of the member"},
        {"{\"name\":\"b\",\"name\":\"c\",\"number\":1" + rest, 13, "name", "the object has two members with this name"},
        {"{\"name\":\"b\"" + rest, 41, "number",
            "the object does not have this member; make the member a std::optional"},
        {"{\"name\":\"" + std::string(300, 'x') + "\"}", 1, "", "the line has more than 200 bytes"},
    };
    std::string const first = "{\"name\":\"a\",\"number\":1" + rest + "\n";
    std::string const last = "{\"name\":\"c\",\"number\":3" + rest + "\n";
    for (refusal const& each : all) {
        CAPTURE(each.text);
        json_lines_options how;
        how.max_record = 200;
        std::vector<std::uint64_t> called;
        how.on_refused = [&](refused_line const& of) { called.push_back(of.index); };
        auto const read = read_all<line>(first + each.text + "\n" + last, how);
        CHECK(read.entities == std::vector<line>{{"a", 1, {}, {}, 1, true}, {"c", 3, {}, {}, 1, true}});
        CHECK(read.report.records == 3);
        CHECK(read.report.ended);
        CHECK(called == std::vector<std::uint64_t>{1});
        REQUIRE(read.report.refusals.size() == 1);
        refused_line const& found = read.report.refusals.front();
        CHECK(found.line == 2);
        CHECK(found.first_line == 2);
        CHECK(found.last_line == 2);
        CHECK(found.column == each.column);
        CHECK(found.name == each.name);
        CHECK_THAT(found.error.message, ContainsSubstring(each.message));
        CHECK(found.text == each.text.substr(0, 200));
        CHECK(found.is_cut == (each.text.size() > 200));
    }
}

TEST_CASE("JSON lines are read as strictly as requested") {
    std::string const text = "{\"name\":\"a\",\"number\":1,\"other\":2}\n";
    CHECK(read_all<line>(text).errors.size() == 1);
    json_lines_options how;
    how.reading = reading::lenient;
    auto const leniently = read_all<line>(text, how);
    REQUIRE(leniently.entities.size() == 1);
    CHECK(leniently.entities.front().large == 7);
    CHECK(read_all<line>("{\"name\":\"a\"}\n", how).errors.size() == 1);
    how.reading = reading::strict;
    auto const strictly = read_all<line>(text, how);
    REQUIRE(strictly.report.refusals.size() == 1);
    CHECK(strictly.report.refusals.front().column == 24);
    CHECK(strictly.report.refusals.front().name == "other");
}

TEST_CASE("reading of JSON lines ends after the allowed number of refused lines") {
    json_lines_options how;
    how.max_refused = 0;
    auto const read = read_all<book>(lines_of(made_books(1)) + "{}\n" + lines_of(made_books(3)), how);
    CHECK(read.entities.size() == 1);
    CHECK(read.errors.size() == 1);
    CHECK_FALSE(read.report.ended);
    CHECK(read_all<book>("\xFF\xFE{").errors.size() == 1);
    CHECK_FALSE(read_all<book>("\xFF\xFE{").report.ended);
}

TEST_CASE("a line of JSON with half of an optional reference is refused") {
    std::vector<everything> one{random_everything(1)};
    one.front().maybe_writer = reference<author>{"no", "Undset"};
    std::string text = lines_of(one);
    std::string const half = ",\"maybe_writer_PartitionKey\":\"no\"";
    std::size_t const at = text.find(half);
    REQUIRE(at != std::string::npos);
    text.erase(at, half.size());
    auto const read = read_all<everything>(text);
    REQUIRE(read.report.refusals.size() == 1);
    CHECK(read.report.refusals.front().name == "maybe_writer_PartitionKey");
}
