// SPDX-License-Identifier: MIT
// Copyright (c) 2026 the entitable authors

#include <entitable/cloud/wire/detail/json_reader.hpp>
#include <entitable/core/random.hpp>
#include <entitable/testing/rows.hpp>

#include <support/long.hpp>
#include <support/vectors.hpp>

#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <cstring>

using namespace entitable;
using namespace entitable_test;

namespace {

constexpr std::string_view head = R"("PartitionKey":"p","RowKey":"r","Timestamp":"2026-07-27T12:28:53.12346Z")";

std::string entity(std::string_view members) {
    return "{" + std::string{head} + (members.empty() ? "" : ",") + std::string{members} + "}";
}

/// Reads one property called V, as "Edm.Type value".
std::string read_value(std::string_view members) {
    detail::json_reader reader;
    std::string body = entity(members);
    body.reserve(body.size() + 64);
    auto const read = reader.read_entity(body);
    auto const again = reader.read_entity(body); // of a known shape: walked
    CHECK(read.has_value() == again.has_value());
    if (!read) {
        CHECK(read.error().code == error_code::transport_failed);
        return "refused";
    }
    CHECK(check_payload(read->entity.payload()));
    CHECK(again->entity.payload() == read->entity.payload());
    auto const found = read->entity.view().find("V");
    return found ? std::string{to_string(found->type())} + " " + value{*found}.to_string() : "absent";
}

void refused(std::string_view document) {
    detail::json_reader reader;
    auto const read = reader.read_entity(std::string{document});
    CAPTURE(document.substr(0, 200));
    REQUIRE_FALSE(read);
    CHECK(read.error().code == error_code::transport_failed);
    page rows;
    bool const blank = document.find_first_not_of(' ') == std::string_view::npos; // a page may have no rows
    std::string body = "{\"value\":[" + std::string{document} + "]}";
    CHECK(blank == reader.read_page(body, rows).has_value());
    body.reserve(body.size() + 64); // then it is walked
    rows.clear();
    CHECK(blank == reader.read_page(body, rows).has_value());
    // The reader still works.
    CHECK(reader.read_entity(entity(R"("V":1)")));
}

} // namespace

TEST_CASE("a value has its annotated type, or the type of its JSON form if there is no annotation") {
    CHECK(read_value(R"("V":7)") == "Edm.Int32 7");
    CHECK(read_value(R"("V":-2147483648)") == "Edm.Int32 -2147483648");
    CHECK(read_value(R"("V":2147483648)") == "Edm.Int64 2147483648");
    CHECK(read_value(R"("V":3.0)") == "Edm.Double 3.0");
    CHECK(read_value(R"("V":1E+20)") == "Edm.Double 1e+20");
    CHECK(read_value(R"("V":123456789012345680.0)") == "Edm.Double 1.2345678901234568e+17");
    CHECK(read_value(R"("V":0.1234567890123456789012345)") == "Edm.Double 0.12345678901234568");
    CHECK(read_value(R"("V@odata.type":"Edm.Double","V":3)") == "Edm.Double 3.0");
    CHECK(read_value(R"("V@odata.type":"Edm.Double","V":"NaN")") == "Edm.Double nan");
    CHECK(read_value(R"("V":"NaN")") == "Edm.String \"NaN\"");
    CHECK(read_value(R"("V":"-5","V@odata.type":"Edm.Int64")") == "Edm.Int64 -5");
    CHECK(read_value(R"("V@odata.type":"Edm.DateTime","V":"1970-10-04T00:00:00Z")") ==
        "Edm.DateTime 1970-10-04T00:00:00Z");
    CHECK(read_value(R"("V":null)") == "absent");
    CHECK(read_value(R"("V@odata.type":"Edm.Int64","V":null)") == "absent");
    CHECK(read_value(R"("V":"","W":0)") == "Edm.String \"\"");
}

TEST_CASE("numbers of any length are read as the nearest double on every code path") {
    detail::json_reader reader;
    random_source random{20'260};
    for (int round = 0; round < 20'000; ++round) {
        std::int64_t const bits = static_cast<std::int64_t>(random.bits());
        double number{};
        std::memcpy(&number, &bits, sizeof number);
        if (!std::isfinite(number)) { continue; }
        number =
            round % 3 == 0 ? number : std::ldexp(number, -std::ilogb(number) + static_cast<int>(random.bits() % 64));
        char text[400];
        int const digits = 1 + static_cast<int>(random.bits() % 30);
        std::snprintf(text, sizeof text, round % 2 == 0 ? "%#.*g" : "%.*e", digits, number);
        std::string shown{text};
        if (std::size_t const point = shown.find('.'); point + 1 == shown.size() || shown[point + 1] == 'e') {
            shown.insert(point + 1, "0"); // JSON requires a digit there
        }
        std::string body = entity("\"V\":" + shown);
        body.reserve(body.size() + 64);
        auto const read = reader.read_entity(body);
        CAPTURE(shown);
        REQUIRE(read);
        REQUIRE(read->entity.view().find("V")->as_float64() == std::strtod(shown.c_str(), nullptr));
    }
}

TEST_CASE("invalid values are refused") {
    for (std::string_view const bad : {R"("V":NaN)", R"("V":1e400)", R"("V@odata.type":"Edm.Int32","V":2147483648)",
             R"("V@odata.type":"Edm.Int32","V":1.0)", R"("V@odata.type":"Edm.Int32","V":"1")",
             R"("V@odata.type":"Edm.Int64","V":"9223372036854775808")", R"("V@odata.type":"Edm.Int64","V":"5.0")",
             R"("V@odata.type":"Edm.Int64","V":" 5")", R"("V@odata.type":"Edm.Int64","V":"")",
             R"("V@odata.type":"Edm.Int64","V":"+5")", R"("V@odata.type":"Edm.Int64","V":5)",
             R"("V":18446744073709551615)", R"("V":99999999999999999999999)",
             R"("V@odata.type":"Edm.DateTime","V":"1600-12-31T23:59:59Z")",
             R"("V@odata.type":"Edm.DateTime","V":"2021-02-30T00:00:00Z")",
             R"("V@odata.type":"Edm.DateTime","V":"2021-02-03T24:00:00Z")",
             R"("V@odata.type":"Edm.DateTime","V":"2021-02-03T00:00:00.12345678Z")",
             R"("V@odata.type":"Edm.DateTime","V":"yesterday")", R"("V@odata.type":"Edm.DateTime","V":1)",
             R"("V@odata.type":"Edm.Guid","V":"zz")", R"("V@odata.type":"Edm.Guid","V":"")",
             R"("V@odata.type":"Edm.Binary","V":"@@@")", R"("V@odata.type":"Edm.Binary","V":"AA=\n")",
             R"("V@odata.type":"Edm.Binary","V":1)", R"("V@odata.type":"Edm.Decimal","V":"1")",
             R"("V@odata.type":7,"V":"1")", R"("V@odata.type":"Edm.Int64")",
             R"("V@odata.type":"Edm.Boolean","V":"true")", R"("V@odata.type":"Edm.Boolean","V":1)",
             R"("V@odata.type":"Edm.String","V":1)", R"("V@odata.type":"Edm.Double","V":"1.5")",
             R"("V@odata.type":"Edm.Double","V":true)", R"("V":{"a":1})", R"("V":[1])",
             R"("V@odata.type":"Edm.String","V":{})"}) {
        CAPTURE(bad);
        CHECK(read_value(bad) == "refused");
    }
}

TEST_CASE("invalid documents are refused") {
    refused("");
    refused(" ");
    refused("{");
    refused("<html><body>Bad Gateway</body></html>");
    refused("null");
    refused("[]");
    refused("{}");
    std::string const good = entity(R"("V":1,"W@odata.type":"Edm.Int64","W":"5")");
    for (std::size_t size = 0; size < good.size(); ++size) { refused(std::string_view{good}.substr(0, size)); }
    refused(good + good);
    refused(good + "x");
    refused(good + "]");
    refused(entity(R"("V":1,"V":1)"));
    refused(entity(R"("V":1,"\u0056":2)"));
    refused(entity(R"("PartitionKey":"p")"));
    refused(entity(R"("odata.etag":"a","odata.etag":"a")"));
    refused(entity(R"("V@odata.type":"Edm.Int64","V":"1","V@odata.type":"Edm.Int64")"));
    refused(entity("\"V\":\"\xFF\""));
    refused(entity("\"V\":\"\xC0\xAF\""));
    refused(entity("\"V\":\"\xED\xA0\x80\""));
    refused(entity(R"("V":"\ud800")"));
    refused(entity("\"V\":\"a\nb\""));
    refused(entity(R"("V":1,)"));
    refused(entity(R"("V":01)"));
    refused(entity(R"("V":tru)"));
    refused(entity(R"("V":1 /* comment */)"));
    std::string deep;
    for (int level = 0; level < 5000; ++level) { deep += "["; }
    refused(entity("\"V\":" + deep));
    refused(R"({"RowKey":"r","Timestamp":"2026-07-27T12:28:53Z"})");
    refused(R"({"PartitionKey":"p","Timestamp":"2026-07-27T12:28:53Z"})");
    refused(R"({"PartitionKey":1,"RowKey":"r","Timestamp":"2026-07-27T12:28:53Z"})");
    refused(R"({"PartitionKey":null,"RowKey":"r","Timestamp":"2026-07-27T12:28:53Z"})");
    refused(R"({"PartitionKey":"p","RowKey":"r","Timestamp":"now"})");
    refused(R"({"PartitionKey":"p","RowKey":"r","Timestamp":5})");
    std::string many;
    for (int index = 0; index < 9000; ++index) { many += ",\"P" + std::to_string(index) + "\":1"; }
    refused(entity(many.substr(1)));
}

TEST_CASE("a refused shape is not reused for the next row") {
    detail::json_reader reader;
    std::string const twice = entity(R"("V":1,"V":1)");
    for (int round = 0; round < 3; ++round) { CHECK_FALSE(reader.read_entity(twice)); }
    page rows;
    CHECK_FALSE(reader.read_page("{\"value\":[" + twice + "," + twice + "]}", rows));
}

TEST_CASE("the rows of a page may have one shape or several") {
    std::string const body = "{\"odata.metadata\":\"x\",\"value\":[" +
        entity(R"("A":1,"B@odata.type":"Edm.Int64","B":"2")") + "," +
        entity(R"("A":-1,"B@odata.type":"Edm.Int64","B":"3")") + "," +
        entity(R"("A":5000000000,"B@odata.type":"Edm.Int64","B":"4")") + "," +
        entity(R"("A":null,"B@odata.type":"Edm.Int64","B":"5")") + "," + entity(R"("A":1.5,"B":"6")") + "," +
        entity(R"("B":"7","A":"text")") + "," + entity("") + "," +
        entity(R"("A":"","B@odata.type":"Edm.Binary","B":"")") + "]}";
    detail::json_reader reader;
    page rows;
    REQUIRE(reader.read_page(body, rows));
    std::string shown;
    for (std::size_t index = 0; index < rows.size(); ++index) {
        CHECK(check_payload(rows[index].payload));
        CHECK(rows[index].timestamp() == date_time::parse("2026-07-27T12:28:53.12346Z"));
        for (std::string_view const name : {"A", "B"}) {
            auto const found = rows[index].find(name);
            shown += found ? value{*found}.to_string() + " " : "- ";
        }
    }
    CHECK(shown == R"(1 2 -1 3 5000000000 4 - 5 1.5 "6" "text" "7" - - "" X'' )");
}

namespace {

/// With space after it, so that it is walked; without, it is parsed into a document first.
std::string padded(std::string body) {
    body.reserve(body.size() + 64);
    return body;
}

std::string rows_in(page const& rows) {
    std::string shown;
    for (std::size_t index = 0; index < rows.size(); ++index) {
        row_view const each = rows[index];
        for (std::string_view const part : {each.partition_key, each.row_key, each.payload, each.etag_text}) {
            shown.append(part).append("|");
        }
    }
    return shown;
}

/// Reads a page both ways; true if it is valid.
bool read_alike(detail::json_reader& reader, std::string const& body) {
    detail::json_reader fresh;
    std::string exact = body;
    exact.shrink_to_fit();
    page by_document;
    page walked;
    page again;
    auto const expected = fresh.read_page(exact, by_document);
    auto const found = detail::json_reader{}.read_page(padded(body), walked);
    auto const by_habit = reader.read_page(padded(body), again); // after other pages
    bool const alike = found.has_value() == expected.has_value() && by_habit.has_value() == expected.has_value();
    if (!alike || (expected && (rows_in(walked) != rows_in(by_document) || rows_in(again) != rows_in(by_document)))) {
        FAIL("read in another way: " << body);
    }
    return expected.has_value();
}

} // namespace

TEST_CASE("walking a page gives the same rows as parsing its document") {
    std::string const members = R"("A":1,"D":2.5,"B":true,"L@odata.type":"Edm.Int64","L":"-2","T":"\u00e9\n")";
    auto const page_of = [&](std::string const& first, std::string const& second) {
        return R"({"odata.metadata":"m","value":[)" + first + "," + second + "," + entity(members) + "]}";
    };
    std::string const usual = entity(members);
    std::string const tagged = R"({"odata.etag":"W/\"1\"",)" + usual.substr(1);
    detail::json_reader reader;
    SECTION("any byte is removed or changed, or the document is cut off") {
        std::string const body = page_of(tagged, tagged);
        REQUIRE(read_alike(reader, body));
        std::size_t good = 0;
        for (std::size_t at = 0; at < body.size(); at += entitable_test::rounds(3, 1)) {
            good += read_alike(reader, body.substr(0, at)) ? 1U : 0U;
            good += read_alike(reader, std::string{body}.erase(at, 1)) ? 1U : 0U;
            for (char const other : std::string_view{"\"\\{}[],: 0-.en\x01\xC3\0", 17}) {
                std::string changed = body;
                changed[at] = other;
                good += read_alike(reader, changed) ? 1U : 0U;
            }
        }
        CHECK(good > 300); // in a value most bytes are interchangeable
    }
    SECTION("a single entity has any byte changed or is cut off at any byte") {
        std::size_t good = 0;
        auto const check = [&](std::string body) {
            body.shrink_to_fit();
            auto const expected = detail::json_reader{}.read_entity(body);
            REQUIRE(reader.read_entity(padded(usual))); // the shape
            auto const found = reader.read_entity(padded(body));
            if (found.has_value() != expected.has_value() ||
                (found && (found->entity.payload() != expected->entity.payload() || found->etag != expected->etag))) {
                FAIL("read in another way: " << body);
            }
            good += found ? 1U : 0U;
        };
        for (std::size_t at = 0; at < usual.size(); ++at) {
            check(usual.substr(0, at));
            check(usual + usual.substr(at));
            for (char const other : std::string_view{"\"\\{}[],: 0-.en\x01\xC3\0", 17}) {
                std::string changed = usual;
                changed[at] = other;
                check(changed);
            }
        }
        CHECK(good > 100);
    }
    SECTION("the page contains any value") {
        for (std::string_view const value : {"0", "-0", "01", "-", "+1", "1.", ".5", "1.0", "1e5", "1E+2", "1e",
                 "1e400", "5e-324", "2147483648", "-9223372036854775808", "9223372036854775808", "18446744073709551615",
                 "18446744073709551616", "99999999999999999999999", "0x1", "1 2", "1_", "true", "truex", "tru", "false",
                 "null", "nul", "nullx", "NaN", "Infinity", "\"\"", "\"NaN\"", "\"-Infinity\"", "\"1\"", "\"\\u0000\"",
                 "\"\\ud83d\\ude00\"", "\"\\ud800\"", "\"\\x\"", "\"\\u12\"", "\"\t\"", "\"\xC3\xA9\"", "\"\xC3\"",
                 "\"", "{}", "[]", "[1]", "{\"a\":1}", "[[[[[[[[[[[[[[[[[[1]]]]]]]]]]]]]]]]]]", "", ",", "1,\"A\":2",
                 "1,", "1}", "1},{", "1]", "1//"}) {
            for (std::string_view const name :
                {"V", "odata.x", "Timestamp", "odata.etag", "PartitionKey", "V@odata.type"}) {
                auto const with = [&](std::string_view before, std::string_view last) {
                    return "{\"PartitionKey\":\"p\",\"RowKey\":\"r\"," + std::string{before} + "\"" +
                        std::string{name} + "\":" + std::string{last} + "}";
                };
                for (std::string_view const before :
                    {"", R"("V@odata.type":"Edm.Double",)", R"("V@odata.type":"Edm.Int32",)"}) {
                    for (std::string_view const likewise :
                        {value, std::string_view{"1.5"}, std::string_view{"\"1\""}}) {
                        read_alike(reader, page_of(with(before, likewise), with(before, value)));
                    }
                }
            }
        }
    }
    SECTION("the page has any frame") {
        for (std::string_view const frame :
            {R"({"value":[@]})", R"({"value":[@],"odata.metadata":"m"})", R"({"value":[@],"value":[@]})",
                R"({"odata.metadata":"m","odata.metadata":"m","value":[@]})", R"({"odata.metadata":1,"value":[@]})",
                R"({"other":{},"value":[@]})", R"({"v\u0061lue":[@]})", R"({"value":[@],})", R"({"value":[@,]})",
                R"({"value":[,@]})", R"({"value":[@ @]})", R"({"value":@})", R"({"value":[@]}})", R"({"value":[@]}])",
                R"({"value":[@]} 1)", R"({"value":[@]},)", R"({"value":[@]]})", R"({"value":[@})", R"([{"value":[@]}])",
                R"( {"value" : [ @ , @ ] } )", R"({"value":[[@]]})", R"({"value":[1,@]})", R"({"value":[@,null]})",
                R"({"value":[@,{}]})", R"({"value":[]})", R"({})", "", " "}) {
            std::string body;
            for (char const each : frame) { body += each == '@' ? usual : std::string(1, each); }
            read_alike(reader, body);
        }
    }
    SECTION("the names contain escapes") {
        std::string const plain = entity(R"("ab":1)");
        for (std::string_view const name : {"a\\u0062", "a\\\"b", "ab\\\\", "\\u0061b"}) {
            std::string const other = entity("\"" + std::string{name} + "\":1");
            CHECK(read_alike(reader, page_of(plain, other)));
            CHECK(read_alike(reader, page_of(other, other)));
        }
        std::string const hidden = entity(R"("a\":1,\"b":1,"b":2)"); // a name that looks like two members
        std::string const two = entity(R"("a":1,"b":2)");
        CHECK(read_alike(reader, page_of(hidden, two)));
        CHECK(read_alike(reader, page_of(two, hidden)));
    }
}

TEST_CASE("full metadata: system annotations are skipped") {
    detail::json_reader reader;
    auto const read = reader.read_entity(
        R"({"odata.metadata":"m","odata.type":"a.T","odata.id":"i","odata.etag":"W/\"datetime'2026-07-27T12%3A28%3A53.1234600Z'\"",)"
        R"("odata.editLink":"e","PartitionKey":"p","RowKey":"r","Timestamp@odata.type":"Edm.DateTime",)"
        R"("Timestamp":"2026-07-27T12:28:53.1234600Z","A":1,"B@odata.navigationLinkUrl":"x"})");
    REQUIRE(read);
    CHECK(read->etag.to_string() == R"(W/"datetime'2026-07-27T12%3A28%3A53.1234600Z'")");
    CHECK(read->entity.view().etag() == read->etag);
    property_cursor cursor{read->entity.payload()};
    property_view property;
    REQUIRE(cursor.next(property));
    CHECK(property.name == "A");
    CHECK_FALSE(cursor.next(property));
}

TEST_CASE("an ETag is only stored if it does not correspond to the Timestamp") {
    auto const kept = [](std::string const& time, std::string const& tag) {
        detail::json_reader reader;
        page rows;
        auto const read = reader.read_page(R"({"value":[{"odata.etag":")" + tag +
                R"(","PartitionKey":"p","RowKey":"r","Timestamp":")" + time + R"("}]})",
            rows);
        REQUIRE(read);
        std::string plain;
        for (char const each : tag) { plain += each == '\\' ? "" : std::string(1, each); }
        CHECK(rows[0].etag().to_string() == plain);
        return !rows[0].etag_text.empty();
    };
    CHECK_FALSE(kept("2026-07-27T12:28:53.12346Z", R"(W/\"datetime'2026-07-27T12%3A28%3A53.12346Z'\")"));
    CHECK_FALSE(kept("1970-10-04T00:00:00Z", R"(W/\"datetime'1970-10-04T00%3A00%3A00Z'\")"));
    CHECK(kept("2026-07-27T12:28:53.1234560Z", R"(W/\"datetime'2026-07-27T12%3A28%3A53.1234560Z'\")"));
    CHECK(kept("2026-07-27T12:28:53.12346Z", R"(W/\"datetime'2026-07-27T12%3A28%3A53.12347Z'\")"));
    CHECK(kept("2026-07-27T12:28:53.12346Z", R"(W/\"0x5B168C7B6E589D2\")"));
    CHECK(kept("2026-07-27T12:28:53.12346Z", R"(W/\"datetime'2026-07-27T12:28:53.12346Z'\")"));
}

TEST_CASE("lists of tables are read") {
    detail::json_reader reader;
    auto const read = reader.read_tables(R"({"odata.metadata":"x","value":[{"TableName":"A"},{"TableName":"B"}]})");
    REQUIRE(read);
    CHECK(*read == std::vector<std::string>{"A", "B"});
    for (std::string const bad : {R"({"value":[{"TableName":1}]})", R"({"value":[{}]})", R"({"value":["A"]})",
             R"({"value":{}})", R"({})", R"({"value":[],"value":[]})"}) {
        CAPTURE(bad);
        CHECK_FALSE(reader.read_tables(bad));
    }
}

TEST_CASE("vectors: valid values are read, and invalid values are refused") {
    vectors const all{"property_encoding.json"};
    if (!all) { return; }
    for (auto const each : all.list("read")) {
        CAPTURE(text_of(each, "id"));
        std::string const type = text_of(each, "type");
        std::string const read = read_value(text_of(each, "json"));
        CHECK(read.starts_with(type == "absent" ? "absent" : "Edm." + type + " "));
        if (type == "Int32" || type == "Int64" || type == "Guid") {
            CHECK(read.ends_with(" " + text_of(each, "value")));
        } else if (type == "Double") {
            std::uint64_t const bits = std::stoull(text_of(each["value"].value(), "ieee754"), nullptr, 16);
            double expected{};
            std::memcpy(&expected, &bits, sizeof bits);
            double const found = std::strtod(read.c_str() + read.find(' '), nullptr);
            CHECK((found == expected || (found != found && expected != expected)));
        } else if (type == "DateTime") {
            auto const time = date_time::parse(read.substr(read.find(' ') + 1));
            REQUIRE(time);
            CHECK(std::to_string(time->ticks - date_time::unix_epoch) == text_of(each["value"].value(), "unix_100ns"));
        } else if (type == "Binary") {
            CHECK(read.ends_with("X'" + text_of(each["value"].value(), "hex") + "'"));
        } else if (type == "String") {
            CHECK(read == "Edm.String " + value{std::string_view{text_of(each, "value")}}.to_string());
        }
    }
    for (auto const each : all.list("write")) {
        std::string const answer = text_of(each["azurite"].value(), "read_minimalmetadata");
        CAPTURE(answer);
        CHECK(read_value(answer).starts_with("Edm." + text_of(each, "type") + " "));
    }
    for (auto const each : all.list("invalid")) {
        CAPTURE(text_of(each, "id"));
        bool const wide = text_of(each, "id") == "unannotated 2147483648"; // widened, not refused
        CHECK((read_value(text_of(each, "json")) == "refused") == !wide);
    }
}
