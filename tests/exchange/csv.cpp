// SPDX-License-Identifier: MIT
// Copyright (c) 2026 the entitable authors

#include "all_types.hpp"
#include <entitable/bulk.hpp>
#include <entitable/csv.hpp>
#include <entitable/memory.hpp>

#include <sstream>

using namespace entitable;
using namespace exchange_test;
using entitable_test::ContainsSubstring;

namespace {

template <class Entity>
std::string csv_of(std::vector<Entity> const& rows, csv_write_options const& options = {}) {
    std::ostringstream out;
    CHECK(write_csv(out, rows, options).value() == rows.size());
    return std::move(out).str();
}

template <class Entity>
readings<Entity> read_all(std::string const& text, csv_read_options const& options = {}) {
    std::istringstream in{text};
    auto reader = read_csv<Entity>(in, options).value();
    return collected<Entity>(reader);
}

struct line {
    std::string name;
    std::int32_t number{};
    std::optional<std::string> note;
    std::optional<double> weight;

    friend bool operator==(line const&, line const&) = default;
};
ENTITABLE(line, partition_key(name), row_key(number), properties(note, weight))

constexpr std::string_view header = "name,number,note,weight\n";

std::string lines(std::string_view rest) { return std::string{header}.append(rest); }

result<void> header_of(std::string const& text, csv_read_options const& options = {}) {
    std::istringstream in{text};
    auto made = read_csv<line>(in, options);
    return made ? result<void>{} : std::move(made).as_failure();
}

} // namespace

TEST_CASE("10,000 books survive a round trip through CSV, and are written again byte for byte") {
    auto const books = made_books(10'000);
    for (bool const crlf : {false, true}) {
        csv_write_options how;
        how.crlf = crlf;
        how.bom = crlf;
        std::string const text = csv_of(books, how);
        auto const again = read_all<book>(text);
        CHECK(again.errors.empty());
        CHECK(again.entities == books);
        CHECK(again.report.ended);
        CHECK(again.report.records == 10'000);
        CHECK(csv_of(again.entities, how) == text);
    }
    CHECK(csv_of(made_books(2)) ==
        "language,number,title,subtitle,year,Price,lent\n"
        "de,0,\"The book, number 0\",\"\",1900,0,2020-01-01T00:00:00Z\n"
        "en,1,\"The book, number 1\",,1901,0.01,\n");
}

TEST_CASE("random entities of every type survive a round trip through CSV with every separator") {
    std::vector<everything> all;
    for (std::uint64_t seed = 0; seed < 10'000; ++seed) { all.push_back(random_everything(seed)); }
    for (char const separator : {',', ';', '\t', '|', '.', 'a', '\0'}) {
        csv_write_options how;
        how.separator = separator;
        csv_read_options read;
        read.separator = separator;
        std::string const text = csv_of(all, how);
        auto const again = read_all<everything>(text, read);
        CHECK(again.errors.empty());
        CHECK((again.entities == all));
        CHECK(csv_of(again.entities, how) == text);
    }
}

TEST_CASE("a reader of CSV can be the input of a bulk load, and a query can be the input of a writer") {
    memory_backend store;
    table<book> books{store, "books"};
    books.create().value();
    std::string const text = csv_of(made_books(1'000)) + "it,x,y,,1,2,\n";
    std::istringstream in{text};
    auto reader = read_csv<book>(in).value();
    auto const report = bulk_insert(books, reader).value();
    CHECK(report.written == 1'000);
    REQUIRE(report.refusals.size() == 1);
    CHECK(report.refusals.front().index == 1'000);
    CHECK(report.refusals.front().index == reader.report().refusals.front().index);
    CHECK_THAT(report.refusals.front().error.message, ContainsSubstring("(\"number\"): the text is not a value"));

    std::ostringstream out;
    CHECK(write_csv(out, books.scan_table()).value() == 1'000);
    auto const again = read_all<book>(out.str());
    CHECK(again.entities == books.scan_table().to().value());
}

TEST_CASE("an empty field is absent, and two quotes are an empty text") {
    auto const read = read_all<line>(lines("a,1,,\nb,2,\"\",1.5\n\"\",3,\" x \",\"2\"\n,4,x,\n"));
    CHECK(read.errors.empty());
    CHECK(
        read.entities == std::vector<line>{{"a", 1, {}, {}}, {"b", 2, "", 1.5}, {"", 3, " x ", 2.0}, {"", 4, "x", {}}});
}

TEST_CASE("empty lines, a missing last line end, CR LF and a byte order mark are accepted") {
    std::vector<line> const two{{"a", 1, {}, {}}, {"b", 2, "x\ny", {}}};
    CHECK(read_all<line>(lines("\na,1,,\n\n\nb,2,\"x\ny\",")).entities == two);
    CHECK(read_all<line>("\xEF\xBB\xBFname,number,note,weight\r\n\r\na,1,,\r\nb,2,\"x\ny\",\r\n").entities == two);
    CHECK(read_all<line>("\xEF\xBB\xBF\"name\",number,note,weight\na,1,,\nb,2,\"x\ny\",\n").entities == two);
    CHECK(read_all<line>(lines("")).entities.empty());
    CHECK(read_all<line>(lines("")).report.lines == 1);
    CHECK(read_all<line>(lines("a,1,,")).report.lines == 2);
    CHECK(read_all<line>(lines("a,1,,\n")).report.lines == 2);
}

TEST_CASE("columns are found by name in any order; optional columns may be missing, and unknown columns are ignored") {
    std::istringstream in{"weight,unknown,number,name\n1,\"?\n?\",2,a\n"};
    auto reader = read_csv<line>(in).value();
    CHECK(reader.unknown_columns() == std::vector<std::string>{"unknown"});
    CHECK(reader.missing_columns() == std::vector<std::string>{"note"});
    CHECK(reader.begin()->value() == line{"a", 2, {}, 1.0});

    CHECK(header_of("number,note\n").error().code == error_code::row_mismatch);
    CHECK(header_of("number,note\n").error().message ==
        "the header does not have the columns \"name\", which the entity line needs; its columns are \"number\", "
        "\"note\"");
    csv_read_options strictly;
    strictly.reading = reading::strict;
    CHECK(header_of(std::string{header}, strictly));
    CHECK(header_of("name,number,note,weight,a,b\n", strictly).error().message ==
        "the header has the columns \"a\", \"b\", which the entity line does not have; reading::standard ignores them");
}

TEST_CASE("a lenient reader leaves a property without a column at its initial value, but needs the keys") {
    csv_read_options leniently;
    leniently.reading = reading::lenient;
    auto const read = read_all<book>("language,number,title\nen,1,x\n", leniently);
    REQUIRE(read.entities.size() == 1);
    CHECK(read.entities.front().year == 0);
    std::istringstream in{"language,title\nen,x\n"};
    CHECK_THAT(read_csv<book>(in, leniently).error().message, ContainsSubstring("\"number\""));
}

TEST_CASE("a header that cannot be used is an error of the call") {
    CHECK_THAT(header_of("").error().message, ContainsSubstring("the text is empty"));
    CHECK_THAT(header_of("\n\n").error().message, ContainsSubstring("the text is empty"));
    CHECK(header_of("name,number,name\n").error().message ==
        "line 1, column 13 (\"name\"): the header has two columns with this name");
    CHECK_THAT(header_of("na\"me,number\n").error().message,
        ContainsSubstring("line 1, column 3: the header is malformed: a quote inside a field"));
    CHECK_THAT(header_of("\xFF\xFEn").error().message, ContainsSubstring("UTF-16"));
    csv_read_options how;
    for (char const separator : {'"', '\n', '\r'}) {
        how.separator = separator;
        CHECK(header_of(std::string{header}, how).error().code == error_code::invalid_input);
        std::ostringstream out;
        csv_write_options write;
        write.separator = separator;
        CHECK(write_csv(out, std::vector<line>{}, write).error().code == error_code::invalid_input);
    }
}

namespace {

/// A text whose second record is refused, between two that are not.
struct refusal {
    std::string record;
    std::uint64_t at_line;
    std::uint64_t column;
    std::string name;
    std::string message;
    std::uint64_t last_line;
};

} // namespace

TEST_CASE("each malformed or mismatched record is reported with line and column, and no other record is lost") {
    std::string const long_text(300, 'x');
    refusal const all[] = {
        {"b,x,,", 3, 3, "number", "the text is not a value of the member, which is an Edm.Int32", 3},
        {"b, 2,,", 3, 3, "number", "the text is not a value of the member, which is an Edm.Int32", 3},
        {"b,+2,,", 3, 3, "number", "the text is not a value of the member, which is an Edm.Int32", 3},
        {"b,2.0,,", 3, 3, "number", "the text is not a value of the member, which is an Edm.Int32", 3},
        {"b,2147483648,,", 3, 3, "number", "the text is not a value of the member, which is an Edm.Int32", 3},
        {"b,,,", 3, 3, "number", "the field is empty; make the member a std::optional to allow that", 3},
        {"b,2,,x", 3, 6, "weight", "the text is not a value of the member, which is an Edm.Double", 3},
        {"b,2,,1e999", 3, 6, "weight", "the text is not a value of the member, which is an Edm.Double", 3},
        {"b,2,,nan", 3, 6, "weight", "the text is not a value of the member, which is an Edm.Double", 3},
        {"b,2,,\"\"", 3, 6, "weight", "the text is not a value of the member, which is an Edm.Double", 3},
        {"b,2,\xC3,", 3, 5, "note", "the text is not a value of the member, which is an Edm.String", 3},
        {"b,2,\"x\ny\",z", 4, 4, "weight", "the text is not a value of the member, which is an Edm.Double", 4},
        {"b,2,", 3, 5, "weight", "the record has 3 fields, and the header has 4", 3},
        {"b", 3, 2, "number", "the record has 1 field, and the header has 4", 3},
        {"b,2,,,", 3, 7, "", "the record has 5 fields, and the header has 4", 3},
        {"b,2,x\"y,", 3, 6, "",
            "a quote inside a field that does not begin with one: quote the field and double the quote", 3},
        {"b,2,\"x\"y,", 3, 8, "", "text follows a closing quote: a quote inside a quoted field is written twice", 3},
        {"b,2,\"x\n\" y,", 4, 2, "", "text follows a closing quote: a quote inside a quoted field is written twice", 4},
        {"b,2,x\ry,", 3, 6, "", "a carriage return without a line feed must be inside quotes", 3},
        {"b,2," + long_text + ",", 3, 1, "", "the record has more than 200 bytes", 3},
        {"b,2,\"" + long_text + "\n\",", 3, 1, "", "the record has more than 200 bytes", 4},
    };
    for (refusal const& each : all) {
        for (std::string_view const line_end : {"\n", "\r\n"}) {
            CAPTURE(each.record);
            std::string const text = "name,number,note,weight" + std::string{line_end} + "a,1,,1" +
                std::string{line_end} + each.record + std::string{line_end} + "c,3,,3" + std::string{line_end};
            csv_read_options how;
            how.max_record = 200;
            std::vector<std::uint64_t> called;
            how.on_refused = [&](refused_line const& of) { called.push_back(of.index); };
            auto const read = read_all<line>(text, how);
            CHECK(read.entities == std::vector<line>{{"a", 1, {}, 1.0}, {"c", 3, {}, 3.0}});
            CHECK(read.report.ended);
            CHECK(read.report.records == 3);
            CHECK(read.report.refused == 1);
            CHECK(called == std::vector<std::uint64_t>{1});
            REQUIRE(read.report.refusals.size() == 1);
            refused_line const& found = read.report.refusals.front();
            CHECK(found.index == 1);
            CHECK(found.line == each.at_line);
            CHECK(found.column == each.column);
            CHECK(found.name == each.name);
            CHECK_THAT(found.error.message, ContainsSubstring(each.message));
            CHECK(read.errors.front() == found.error.message);
            CHECK(found.first_line == 3);
            CHECK(found.last_line == each.last_line);
            CHECK(found.is_cut == (each.record.size() > 200));
            CHECK(found.text == each.record.substr(0, 200));
        }
    }
}

TEST_CASE("a quote that is never closed is reported where it opens, with all the text that it encloses") {
    auto const read = read_all<line>(lines("a,1,,\nb,2,\"x,\nc,3,,\n"));
    CHECK(read.entities.size() == 1);
    REQUIRE(read.report.refusals.size() == 1);
    CHECK(read.report.refusals.front().error.message == "line 3, column 5: a quote opens here and is never closed");
    CHECK(read.report.refusals.front().text == "b,2,\"x,\nc,3,,\n");
    CHECK(read.report.refusals.front().first_line == 3);
}

TEST_CASE("half of an optional reference is refused, in the header and in a record") {
    std::vector<everything> one{random_everything(1)};
    one.front().maybe_writer = reference<author>{"no", "Undset"};
    std::string text = csv_of(one);
    std::size_t const at = text.rfind("no,Undset");
    REQUIRE(at != std::string::npos);
    text.erase(at, 2);
    auto const read = read_all<everything>(text);
    REQUIRE(read.report.refusals.size() == 1);
    CHECK(read.report.refusals.front().name == "maybe_writer_PartitionKey");

    std::size_t const name = text.find(",maybe_writer_PartitionKey");
    text.erase(name, std::string_view{",maybe_writer_PartitionKey"}.size());
    std::istringstream in{text};
    CHECK_THAT(read_csv<everything>(in).error().message, ContainsSubstring("\"maybe_writer_PartitionKey\""));
}

TEST_CASE("reading ends after the allowed number of refused records, and reports this") {
    csv_read_options how;
    how.max_refused = 1;
    how.keep_refused = 1;
    auto const read = read_all<line>(lines("x\na,1,,\ny\nb,2,,\n"), how);
    CHECK(read.entities.size() == 1);
    CHECK(read.errors.size() == 2);
    CHECK_FALSE(read.report.ended);
    CHECK(read.report.refused == 2);
    CHECK(read.report.refusals.size() == 1);
    how.max_refused = 0;
    CHECK(read_all<line>(lines("a,1,,\ny\nb,2,,\n"), how).entities.size() == 1);
}

namespace {

/// Gives a text, then fails.
struct failing_buffer : std::streambuf {
    explicit failing_buffer(std::string given) : text(std::move(given)) {
        setg(text.data(), text.data(), text.data() + text.size());
    }
    int_type underflow() override { throw std::runtime_error{"the disk is gone"}; }
    std::string text;
};

/// Takes some bytes and no more.
struct full_buffer : std::streambuf {
    std::streamsize left{100};
    std::streamsize xsputn(char const*, std::streamsize count) override {
        std::streamsize const taken = (std::min)(left, count);
        left -= taken;
        return taken;
    }
};

} // namespace

TEST_CASE("a stream that fails is an error, and not the end of the text") {
    failing_buffer buffer{lines("a,1,,\nb,2,")};
    std::istream in{&buffer};
    auto reader = read_csv<line>(in);
    if (reader) {
        std::vector<std::string> errors;
        for (auto& each : *reader) {
            if (!each) { errors.push_back(each.error().to_string()); }
        }
        REQUIRE(errors.size() == 1);
        CHECK_THAT(errors.front(), ContainsSubstring("StoreFailed"));
        CHECK_FALSE(reader->report().ended);
    } else {
        CHECK(reader.error().code == error_code::store_failed);
    }

    full_buffer narrow;
    std::ostream out{&narrow};
    CHECK(write_csv(out, made_books(10)).error().code == error_code::store_failed);
}

TEST_CASE("an error of the range stops a writer, and so does a value without a text") {
    std::ostringstream out;
    std::vector<result<line>> rows;
    rows.emplace_back(line{"a", 1, {}, {}});
    rows.emplace_back(failure{error_code::server_busy, "later"});
    CHECK(write_csv(out, rows).error().code == error_code::server_busy);

    std::vector<everything> one{random_everything(3)};
    one.front().time.ticks = -1;
    CHECK_THAT(write_csv(out, one).error().message, ContainsSubstring("the member \"time\""));
    one.front() = random_everything(3);
    one.front().paint = static_cast<colour>(9);
    CHECK_THAT(write_csv(out, one).error().message, ContainsSubstring("the member \"paint\""));
    one.front() = random_everything(3);
    one.front().long_text = "\xFF";
    CHECK_THAT(write_csv(out, one).error().message, ContainsSubstring("the member \"long_text\""));
}

namespace {

struct slot {
    std::optional<std::int32_t> number;

    friend bool operator==(slot const&, slot const&) = default;
};
ENTITABLE(slot, partition_key(literal("slots")), row_key(number))

} // namespace

TEST_CASE("an empty line is a record if the text has one column") {
    std::vector<slot> const three{{{}}, {1}, {{}}};
    CHECK(csv_of(three) == "number\n\n1\n\n");
    CHECK(read_all<slot>(csv_of(three)).entities == three);
}
