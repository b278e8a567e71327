// SPDX-License-Identifier: MIT
// Copyright (c) 2026 the entitable authors

#include <entitable/rest/detail/json_reader.hpp>
#include <entitable/testing/rows.hpp>

#include <support/vectors.hpp>

#include <cmath>

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
    auto const read = reader.read_entity(entity(members));
    if (!read) {
        CHECK(read.error().code == error_code::transport_failed);
        return "refused";
    }
    CHECK(check_payload(read->entity.payload()));
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
    CHECK(blank == reader.read_page("{\"value\":[" + std::string{document} + "]}", rows).has_value());
    // The reader is as good as before.
    CHECK(reader.read_entity(entity(R"("V":1)")));
}

} // namespace

TEST_CASE("traps 20, 22, 24: values by the type beside them, or by their own form") {
    CHECK(read_value(R"("V":7)") == "Edm.Int32 7");
    CHECK(read_value(R"("V":-2147483648)") == "Edm.Int32 -2147483648");
    CHECK(read_value(R"("V":2147483648)") == "Edm.Int64 2147483648");
    CHECK(read_value(R"("V":3.0)") == "Edm.Double 3.0");
    CHECK(read_value(R"("V":1E+20)") == "Edm.Double 1e+20");
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

TEST_CASE("reliability 39 to 48: values that are none") {
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

TEST_CASE("reliability 50, 87 to 92: documents that are none") {
    refused("");
    refused(" ");
    refused("{");
    refused("<html><body>Bad Gateway</body></html>");
    refused("null");
    refused("[]");
    refused("{}");
    std::string const good = entity(R"("V":1,"W@odata.type":"Edm.Int64","W":"5")");
    for (std::size_t size = 0; size < good.size(); ++size) {
        refused(std::string_view{good}.substr(0, size));
    }
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
    for (int level = 0; level < 5000; ++level) {
        deep += "[";
    }
    refused(entity("\"V\":" + deep));
    refused(R"({"RowKey":"r","Timestamp":"2026-07-27T12:28:53Z"})");
    refused(R"({"PartitionKey":"p","Timestamp":"2026-07-27T12:28:53Z"})");
    refused(R"({"PartitionKey":1,"RowKey":"r","Timestamp":"2026-07-27T12:28:53Z"})");
    refused(R"({"PartitionKey":null,"RowKey":"r","Timestamp":"2026-07-27T12:28:53Z"})");
    refused(R"({"PartitionKey":"p","RowKey":"r","Timestamp":"now"})");
    refused(R"({"PartitionKey":"p","RowKey":"r","Timestamp":5})");
    std::string many;
    for (int index = 0; index < 9000; ++index) {
        many += ",\"P" + std::to_string(index) + "\":1";
    }
    refused(entity(many.substr(1)));
}

TEST_CASE("a shape that was refused is no example for the next row") {
    detail::json_reader reader;
    std::string const twice = entity(R"("V":1,"V":1)");
    for (int round = 0; round < 3; ++round) {
        CHECK_FALSE(reader.read_entity(twice));
    }
    page rows;
    CHECK_FALSE(reader.read_page("{\"value\":[" + twice + "," + twice + "]}", rows));
}

TEST_CASE("rows of a page, of one shape and of many") {
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

TEST_CASE("trap 35, full metadata: what is not the user's is passed over") {
    detail::json_reader reader;
    auto const read = reader.read_entity(
        R"({"odata.metadata":"m","odata.type":"a.T","odata.id":"i","odata.etag":"W/\"datetime'2026-07-27T12%3A28%3A53.1234600Z'\"",)"
        R"("odata.editLink":"e","PartitionKey":"p","RowKey":"r","Timestamp@odata.type":"Edm.DateTime",)"
        R"("Timestamp":"2026-07-27T12:28:53.1234600Z","A":1,"B@odata.navigationLinkUrl":"x"})");
    REQUIRE(read);
    CHECK(read->etag.text() == R"(W/"datetime'2026-07-27T12%3A28%3A53.1234600Z'")");
    CHECK(read->entity.view().etag() == read->etag);
    property_cursor cursor{read->entity.payload()};
    property_view property;
    REQUIRE(cursor.next(property));
    CHECK(property.name == "A");
    CHECK_FALSE(cursor.next(property));
}

TEST_CASE("an ETag is kept only where it does not follow from the Timestamp") {
    auto const kept = [](std::string const& time, std::string const& tag) {
        detail::json_reader reader;
        page rows;
        auto const read = reader.read_page(R"({"value":[{"odata.etag":")" + tag +
                R"(","PartitionKey":"p","RowKey":"r","Timestamp":")" + time + R"("}]})",
            rows);
        REQUIRE(read);
        std::string plain;
        for (char const each : tag) {
            plain += each == '\\' ? "" : std::string(1, each);
        }
        CHECK(rows[0].etag().text() == plain);
        return !rows[0].etag_text.empty();
    };
    CHECK_FALSE(kept("2026-07-27T12:28:53.12346Z", R"(W/\"datetime'2026-07-27T12%3A28%3A53.12346Z'\")"));
    CHECK_FALSE(kept("1970-10-04T00:00:00Z", R"(W/\"datetime'1970-10-04T00%3A00%3A00Z'\")"));
    CHECK(kept("2026-07-27T12:28:53.1234560Z", R"(W/\"datetime'2026-07-27T12%3A28%3A53.1234560Z'\")"));
    CHECK(kept("2026-07-27T12:28:53.12346Z", R"(W/\"datetime'2026-07-27T12%3A28%3A53.12347Z'\")"));
    CHECK(kept("2026-07-27T12:28:53.12346Z", R"(W/\"0x5B168C7B6E589D2\")"));
    CHECK(kept("2026-07-27T12:28:53.12346Z", R"(W/\"datetime'2026-07-27T12:28:53.12346Z'\")"));
}

TEST_CASE("lists of tables") {
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

TEST_CASE("vectors: values read, and values that are none") {
    vectors const all{"property_encoding.json"};
    if (!all) {
        return;
    }
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
