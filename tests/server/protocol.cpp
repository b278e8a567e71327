// SPDX-License-Identifier: MIT
// Copyright (c) 2026 the entitable authors

// The answers of a server to requests as clients of other languages send them: statuses, header fields, bodies.

#include "served.hpp"

#include <limits>

using namespace entitable;
using namespace entitable_test;

namespace {

constexpr auto put = http_method::put;
constexpr auto patch = http_method::patch;
constexpr auto remove_ = http_method::delete_;

/// A server with a table, and a client of it.
asker with_table() {
    asker made{table_server{memory_backend{}, with_account()}};
    REQUIRE(said(made.post("/Tables", R"({"TableName":"Orders"})", {{"Prefer", "return-no-content"}})) == "204");
    return made;
}

/// Whether `text` contains all of these in this order.
bool has_in_order(std::string_view text, std::initializer_list<std::string_view> parts) {
    std::size_t at = 0;
    for (std::string_view const part : parts) {
        at = text.find(part, at);
        if (at == std::string_view::npos) { return false; }
        at += part.size();
    }
    return true;
}

constexpr std::string_view one = "/Orders(PartitionKey='p',RowKey='1')";

} // namespace

TEST_CASE("tables are created, listed, filtered and deleted") {
    asker const by{table_server{memory_backend{}, with_account()}};
    auto const made = by.post("/Tables", R"({"TableName":"Orders"})");
    CHECK(said(made) == "201");
    CHECK(made.body ==
        R"({"odata.metadata":"http://127.0.0.1:10002/acct/$metadata#Tables/@Element","TableName":"Orders"})");
    CHECK(field(made, "Location") == "http://127.0.0.1:10002/acct/Tables('Orders')");
    CHECK(said(by.post("/Tables", R"({"TableName":"orders"})")) == "409 TableAlreadyExists");
    CHECK(said(by.post("/Tables", R"({"TableName":"1xy"})")) == "400 InvalidResourceName");
    CHECK(said(by.post("/Tables", R"({"Name":"abc"})")) == "400 InvalidInput");
    CHECK(said(by.post("/Tables", "{")) == "400 InvalidInput");
    CHECK(said(by.post("/Tables", R"({"TableName":"Other"})", {{"Prefer", "return-no-content"}})) == "204");
    CHECK(by.get("/Tables").body ==
        R"({"odata.metadata":"http://127.0.0.1:10002/acct/$metadata#Tables","value":[{"TableName":"Orders"},{"TableName":"Other"}]})");
    CHECK(by.get("/Tables?$filter=TableName%20ge%20'Os'", {{"Accept", "application/json;odata=nometadata"}}).body ==
        R"({"value":[{"TableName":"Other"}]})");
    auto const page = by.get("/Tables?$top=1");
    CHECK(page.body.find("Other") == std::string::npos);
    std::string const token = field(page, "x-ms-continuation-NextTableName");
    REQUIRE(token.starts_with("1!"));
    CHECK(by.get("/Tables?$top=1&NextTableName=" + token).body.find("Other") != std::string::npos);
    CHECK(said(by.get("/Tables?NextTableName=1!4!abcd")) == "400 InvalidInput");
    CHECK(said(by.get("/Tables('orders')")) == "200");
    CHECK(said(by.get("/Tables('nothing')")) == "404 ResourceNotFound");
    CHECK(said(by.ask(remove_, "/Tables('Orders')")) == "204");
    CHECK(said(by.ask(remove_, "/Tables('Orders')")) == "404 ResourceNotFound");
    CHECK(said(by.get("/Orders")) == "404 TableNotFound");
}

TEST_CASE("an entity is inserted, read at each level of metadata, changed and removed") {
    asker const by = with_table();
    std::string const body =
        R"({"PartitionKey":"p","RowKey":"1","N":3,"D@odata.type":"Edm.Double","D":3.0,"L@odata.type":"Edm.Int64","L":"5",)"
        R"("T@odata.type":"Edm.DateTime","T":"2020-01-01T00:00:00.5Z","Null":null,"Timestamp":"2001-01-01T00:00:00Z"})";
    auto const made = by.post("/Orders", body);
    CHECK(said(made) == "201");
    std::string const version = field(made, "ETag");
    CHECK(version.starts_with("W/\"datetime'"));
    CHECK(has_in_order(made.body,
        {"Orders/@Element", "odata.etag", R"("PartitionKey":"p")", R"("Timestamp":"2)", R"("N":3,"D":3.0,)",
            R"("L@odata.type":"Edm.Int64","L":"5")", R"("T":"2020-01-01T00:00:00.5Z"})"}));
    CHECK(said(by.post("/Orders", body)) == "409 EntityAlreadyExists");
    CHECK(said(by.post("/Nothing", body)) == "404 TableNotFound");
    CHECK(said(by.post("/Orders", R"({"PartitionKey":"p"})")) == "400 PropertiesNeedValue");
    auto const read = by.get(one);
    CHECK(said(read) == "200");
    CHECK(read.body == made.body);
    CHECK(field(read, "ETag") == version);
    CHECK(by.get(one, {{"Accept", "application/json;odata=nometadata"}}).body.find("odata") == std::string::npos);
    auto const full = by.get(std::string{one} + "?$format=application/json;odata=fullmetadata").body;
    CHECK(has_in_order(full,
        {R"("odata.type":"acct.Orders")", "odata.id", "odata.editLink", R"("Timestamp@odata.type":"Edm.DateTime")"}));
    CHECK(has_in_order(by.get(std::string{one} + "?$select=N,Missing").body, {R"(etag)", R"("N":3,"Missing":null})"}));
    CHECK(said(by.get(one, {{"Accept", "application/atom+xml"}})) == "415 AtomFormatNotSupported");
    CHECK(said(by.get("/Orders(PartitionKey='p',RowKey='2')")) == "404 ResourceNotFound");

    CHECK(
        said(by.ask(patch, one, R"({"A":true})", {{"If-Match", "W/\"other\""}})) == "412 UpdateConditionNotSatisfied");
    auto const merged = by.ask(patch, one, R"({"A":true})", {{"If-Match", version}});
    CHECK(said(merged) == "204");
    CHECK(field(merged, "ETag") != version);
    CHECK(has_in_order(by.get(one).body, {R"("N":3)", R"("A":true)"}));
    CHECK(said(by.ask(put, one, R"({"PartitionKey":"p","RowKey":"1","B":"x"})", {{"If-Match", "*"}})) == "204");
    CHECK(by.get(one).body.find("\"N\"") == std::string::npos);
    CHECK(said(by.ask(put, one, R"({"PartitionKey":"q","RowKey":"1"})")) == "400 InvalidInput");
    CHECK(said(by.post(one, "{}", {{"X-HTTP-Method", "MERGE"}})) == "204");
    CHECK(said(by.ask(http_method::merge, "/Orders(PartitionKey='',RowKey='')", "{}")) == "204");
    CHECK(said(by.get("/Orders(PartitionKey='',RowKey='')?$select=RowKey")) == "200");
    CHECK(said(by.ask(put, "/Orders(PartitionKey='p',RowKey='none')", "{}", {{"If-Match", "*"}})) ==
        "404 ResourceNotFound");
    CHECK(said(by.ask(put, one, "{}", {{"If-None-Match", "*"}})) == "400 InvalidInput");
    CHECK(said(by.ask(put, one, "{}", {{"If-Match", "nonsense"}})) == "400 InvalidInput");
    CHECK(said(by.ask(put, one, "<x/>", {{"Content-Type", "application/atom+xml"}})) == "415 AtomFormatNotSupported");
    CHECK(said(by.ask(remove_, one)) == "400 MissingRequiredHeader");
    auto const removed = by.ask(remove_, one, {}, {{"If-Match", "*"}});
    CHECK(said(removed) == "204");
    CHECK(field(removed, "ETag").empty());
    CHECK(said(by.ask(remove_, one, {}, {{"If-Match", "*"}})) == "404 ResourceNotFound");
}

TEST_CASE("values are accepted in the forms that other clients write, and values that do not fit are refused") {
    asker const by = with_table();
    int number = 0;
    auto const insert = [&](std::string const& properties) {
        return said(by.post(
            "/Orders", R"({"PartitionKey":"v","RowKey":")" + std::to_string(number++) + R"(",)" + properties + "}"));
    };
    for (std::string const good : {R"("A@odata.type":"Edm.Int32","A":"12345")",
             R"("A@odata.type":"Edm.Boolean","A":"False")", R"("A@odata.type":"Edm.Double","A":"3.14")",
             R"("A@odata.type":"Edm.Double","A":"NaN")", R"("A@odata.type":"Edm.Int64","A":null)",
             R"("A":"a","A@odata.type":"Edm.String")", R"("A@odata.type":"Edm.Binary","A":"")", R"("odata.etag":"x")",
             R"("A@odata.type":"Edm.DateTime","A":"2020-01-01T00:00:00")"}) {
        CAPTURE(good);
        CHECK(insert(good) == "201");
    }
    for (std::string const bad : {R"("A@odata.type":"Edm.Int64","A":5)", R"("A@odata.type":"Edm.Int32","A":"x")",
             R"("A@odata.type":"Edm.Guid","A":"12")", R"("A@odata.type":"Edm.Binary","A":"a")",
             R"("A@odata.type":"Edm.Unknown","A":"1")", R"("A@odata.type":"Edm.DateTime","A":"1600-12-31T00:00:00Z")",
             R"("A@odata.type":"Edm.DateTime","A":"2020-02-30T00:00:00Z")", R"("A":[1])", R"("A":{"B":1})",
             R"("A":1e999)", R"("A@odata.type":"Edm.Int64","A":"9223372036854775808")"}) {
        CAPTURE(bad);
        CHECK(insert(bad) == "400 InvalidInput");
    }
    CHECK(insert(R"("A":1,"A":2)") == "400 DuplicatePropertiesSpecified");
    CHECK(insert(R"("1A":1)") == "400 PropertyNameInvalid");
    CHECK(insert(R"("A":")" + std::string(32'769, 'x') + R"(")") == "400 PropertyValueTooLarge");
    CHECK(said(by.post("/Orders", R"({"PartitionKey":1,"RowKey":"1"})")) == "400 InvalidInput");
    CHECK(said(by.post("/Orders", "\xEF\xBB\xBF[]")) == "400 InvalidInput");
    CHECK(said(by.post("/Orders", std::string(100'000, '['))) == "400 InvalidInput");
    CHECK(said(by.post("/Orders", std::string{"{\"PartitionKey\":\"\xFF\",\"RowKey\":\"1\"}"})) == "400 InvalidInput");
}

TEST_CASE("keys are read from addresses") {
    asker const by = with_table();
    auto const write = [&](std::string const& partition, std::string const& at) {
        return said(by.ask(put, "/Orders(PartitionKey='" + partition + "',RowKey='" + at + "')", "{}"));
    };
    CHECK(write("O%27%27Brien", "a''b") == "204");
    CHECK(has_in_order(by.get("/Orders(PartitionKey='O''Brien',RowKey='a%27%27b')").body, {"O'Brien", "a'b"}));
    CHECK(write("%25", "%2525") == "204");
    CHECK(has_in_order(
        by.get("/Orders(PartitionKey='%25',RowKey='%2525')").body, {R"("PartitionKey":"%")", R"("RowKey":"%25")"}));
    CHECK(write("+", "a%20b,c=(d)") == "204");
    CHECK(said(by.get("/Orders(PartitionKey='%2B',RowKey='a%20b%2Cc%3D%28d%29')")) == "200");
    CHECK(said(by.get("/Orders%28PartitionKey=%27%2B%27%2C%20RowKey=%27a%20b,c=(d)%27%29")) == "200");
    CHECK(said(by.get("/Orders(RowKey='a%20b,c=(d)',PartitionKey='+')")) == "200");
    CHECK(write("%F0%9F%98%80", "%E6%97%A5") == "204");
    for (std::string const bad :
        {"%2F", "a/b", "%5C", "%23", "%3F", "%00", "%1F", "%7F", "%C2%80", "%FF", "%ED%A0%80", "'", "a'b"}) {
        CAPTURE(bad);
        std::string const answer = write(bad, "1");
        CHECK(answer.substr(0, 4) == "400 ");
        CHECK(write("p", bad) == answer);
    }
    for (std::string const bad : {"/Orders(PartitionKey='p')", "/Orders(PartitionKey='p',PartitionKey='q')",
             "/Orders('p','q')", "/Orders(PartitionKey='p',RowKey='q'", "/Orders(PartitionKey='p',RowKey='q')x",
             "/Orders(PartitionKey='p';RowKey='q')", "/Orders/p", "//Orders", "/Tables('a)", "/Tables('a','b')", "/()",
             "/(PartitionKey='p',RowKey='q')"}) {
        CAPTURE(bad);
        CHECK(said(by.get(bad)) == "400 InvalidInput");
    }
}

TEST_CASE("queries have pages, tokens, ranges and options") {
    asker const by = with_table();
    for (std::string const partition : {"a", "b", "c"}) {
        for (int at = 0; at < 4; ++at) {
            REQUIRE(by.ask(put, "/Orders(PartitionKey='" + partition + "',RowKey='" + std::to_string(at) + "')",
                          R"({"N":)" + std::to_string(at) + "}")
                        .status == 204);
        }
    }
    /// All keys of a query, page after page.
    auto const keys_of = [&](std::string const& query) {
        std::string keys;
        std::string next;
        for (int pages = 0; pages < 20; ++pages) {
            auto const page = by.get("/Orders()?" + query + next, {{"Accept", "application/json;odata=nometadata"}});
            if (page.status != 200) { return said(page); }
            for (std::size_t at = 0; (at = page.body.find("\"PartitionKey\":\"", at)) != std::string::npos;) {
                at += 16;
                keys += page.body.substr(at, 1) + page.body.substr(page.body.find("\"RowKey\":\"", at) + 10, 1) + " ";
            }
            std::string const token = field(page, "x-ms-continuation-NextPartitionKey");
            if (token.empty()) { return keys; }
            next = "&NextPartitionKey=" + token;
        }
        return keys + "no end";
    };
    CHECK(keys_of("") == "a0 a1 a2 a3 b0 b1 b2 b3 c0 c1 c2 c3 ");
    CHECK(keys_of("$top=5") == "a0 a1 a2 a3 b0 b1 b2 b3 c0 c1 c2 c3 ");
    CHECK(keys_of("$filter=") == keys_of(""));
    CHECK(keys_of("%24filter=PartitionKey+eq+'b'") == "b0 b1 b2 b3 ");
    CHECK(keys_of("$top=1&$filter=(PartitionKey%20eq%20'c'%20and%20RowKey%20le%20'1')%20or%20(PartitionKey%20eq%20'a'%"
                  "20and%20"
                  "(RowKey%20eq%20'3'%20or%20RowKey%20eq%20'0'))") == "a0 a3 c0 c1 ");
    CHECK(keys_of("$filter=not(PartitionKey%20eq%20'b')%20and%20N%20ge%203") == "a3 c3 ");
    CHECK(keys_of("$filter=PartitionKey%20gt%20'b'%20and%20PartitionKey%20lt%20'b'").empty());
    CHECK(keys_of("$filter=false").empty());
    CHECK(keys_of("$filter=true") == keys_of(""));
    CHECK(keys_of("$top=0").empty());
    CHECK(keys_of("$top=1001") == "400 InvalidInput");
    CHECK(keys_of("$top=-1") == "400 InvalidInput");
    CHECK(keys_of("$top=x") == "400 InvalidInput");
    CHECK(keys_of("$top=1&$top=2") == "400 InvalidQueryParameterValue");
    CHECK(keys_of("$filter=startswith(A,'a')") == "501 NotImplemented");
    CHECK(keys_of("$orderby=N") == "501 NotImplemented");
    CHECK(keys_of("timeout=x") == "400 InvalidQueryParameterValue");
    CHECK(keys_of("NextPartitionKey=1!4!YWJj") == "400 InvalidInput");
    CHECK(keys_of("NextPartitionKey=") == "400 InvalidInput");
    CHECK(keys_of("NextRowKey=x") == "400 InvalidInput");
    CHECK(said(by.get("/Orders?$filter=PartitionKey%20eq%20'b'")) == "200");
    auto const selected = by.get("/Orders?$select=N&$filter=PartitionKey%20eq%20'b'%20and%20RowKey%20eq%20'2'");
    CHECK(has_in_order(selected.body, {"$metadata#Orders&$select=N\"", "odata.etag", "\"N\":2}]}"}));
    CHECK(selected.body.find("RowKey") == std::string::npos);

    // A token is only valid for its own query, however it is changed.
    std::string const token = field(by.get("/Orders?$top=5"), "x-ms-continuation-NextPartitionKey");
    CHECK(said(by.get("/Orders?$filter=N%20eq%201&NextPartitionKey=" + token)) == "400 InvalidInput");
    for (std::size_t at = 0; at < token.size(); ++at) {
        std::string changed = token;
        changed[at] = changed[at] == 'A' ? 'B' : 'A';
        CHECK(said(by.get("/Orders?NextPartitionKey=" + changed)) == "400 InvalidInput");
        CHECK(said(by.get("/Orders?NextPartitionKey=" + token.substr(0, at))) == "400 InvalidInput");
    }
}

TEST_CASE("transactions are executed in the forms that clients send") {
    asker const by = with_table();
    auto const send = [&](std::string const& body, std::string type = "multipart/mixed; boundary=batch_b") {
        return by.post("/$batch", body, {{"Content-Type", std::move(type)}});
    };
    auto const operation = [](std::string const& line, std::string const& fields, std::string const& body) {
        return "--changeset_c\r\nContent-Type: application/http\r\nContent-Transfer-Encoding: binary\r\n\r\n" + line +
            " HTTP/1.1\r\n" + fields + "\r\n" + body + "\r\n";
    };
    std::string const start = "--batch_b\r\nContent-Type: multipart/mixed; boundary=changeset_c\r\n\r\n";
    std::string const end = "--changeset_c--\r\n--batch_b--\r\n";
    std::string const base = "http://127.0.0.1:10002/acct/";
    auto const insert = [&](std::string const& at, std::string const& partition = "p") {
        return operation("POST " + base + "Orders", "Content-ID: " + at + "\r\nPrefer: return-no-content\r\n",
            R"({"PartitionKey":")" + partition + R"(","RowKey":")" + at + R"("})");
    };
    auto const good = send(start + insert("1") + insert("2") +
        operation("PUT " + base + "Orders(PartitionKey='p',RowKey='3')", "", "{\n  \"N\": 1\n}") +
        operation("DELETE /acct/Orders(PartitionKey='p',RowKey='0')", "If-Match: *\r\n", "") + end);
    CHECK(has_in_order(good.body, {"404 Not Found", "3:The specified resource does not exist."}));
    auto const done = send(start + insert("1") + insert("2") +
        operation("PATCH Orders(PartitionKey='p',RowKey='3')", "", "{\"N\": 1}") + end);
    CHECK(said(done) == "202");
    CHECK(field(done, "Content-Type").starts_with("multipart/mixed; boundary=batchresponse_"));
    CHECK(has_in_order(done.body,
        {"204 No Content", "Content-ID: 1", "ETag: W/", "204 No Content", "Content-ID: 2", "204 No Content", "ETag"}));
    CHECK(has_in_order(send(start + insert("4") + insert("1") + end).body,
        {"409 Conflict", "Content-ID: 1", "EntityAlreadyExists", "\"1:"}));
    CHECK(said(by.get("/Orders(PartitionKey='p',RowKey='4')")) == "404 ResourceNotFound");
    CHECK(has_in_order(
        send(start + insert("4") + insert("5", "q") + end).body, {"CommandsInBatchActOnDifferentPartitions", "\"1:"}));
    CHECK(has_in_order(send(start + insert("4") + insert("4") + end).body, {"InvalidDuplicateRow", "\"1:"}));
    CHECK(has_in_order(send(start + insert("4") + operation("POST " + base + "Other", "", "{}") + end).body,
        {"InvalidInput", "\"1:"}));
    CHECK(has_in_order(
        send(start + insert("4") + operation("POST http://127.0.0.1:10002/other/Orders", "", "{}") + end).body,
        {"InvalidInput", "\"1:"}));
    CHECK(has_in_order(send(start + operation("GET " + base + "Orders", "", "") + end).body, {"InvalidInput", "\"0:"}));
    CHECK(has_in_order(
        send(start + insert("4") + operation("PUT " + base + "Orders(PartitionKey='p',RowKey='5')", "", "{") + end)
            .body,
        {"400", "InvalidInput", "\"1:"}));
    std::string many = start;
    for (int at = 0; at < 101; ++at) { many += insert("m" + std::to_string(at)); }
    CHECK(has_in_order(send(many + end).body, {"InvalidInput", "\"99:The batch request operation exceeds"}));
    CHECK(said(by.get("/Orders(PartitionKey='p',RowKey='m0')")) == "404 ResourceNotFound");

    // Forms that other clients send: line feeds only, quotes, text before the first boundary, no last boundary.
    std::string plain = "preamble\n" + start + insert("5") + "--changeset_c--\r\n";
    std::string lines;
    for (char const each : plain) { lines += each == '\r' ? "" : std::string(1, each); }
    CHECK(has_in_order(send(lines, "Multipart/Mixed; charset=x; boundary=\"batch_b\"").body, {"204 No Content"}));
    auto const query = send("--batch_b\r\nContent-Type: application/http\r\n\r\nGET " + base +
        "Orders(PartitionKey='p',RowKey='5') HTTP/1.1\r\nAccept: application/json\r\n\r\n--batch_b--\r\n");
    CHECK(has_in_order(query.body,
        {"--batchresponse_", "200 OK", "ETag: ", "\r\n\r\n{", "\"RowKey\":\"5\"", "}\r\n--batchresponse_"}));

    // A truncated batch is not executed.
    std::string const whole = start + insert("6") + insert("7") + end;
    for (std::size_t size = 0; size + end.size() <= whole.size(); size += 7) {
        CHECK(said(send(whole.substr(0, size))) == "400 InvalidInput");
    }
    for (std::string const& bad :
        {start + end, start + insert("6") + end + start + insert("7") + end,
            start + insert("6") + "--changeset_c--\r\n" + start + insert("7") + end, std::string{"--batch_b--"},
            std::string{}, start + "--changeset_c\r\nContent-Type: text/plain\r\n\r\nPOST x HTTP/1.1\r\n\r\n\r\n" + end,
            start + operation("BREW " + base + "Orders", "", "{}") + end, start + operation("POST", "", "{}") + end,
            start + operation("POST " + base + "Orders", "no field\r\n", "{}") + end}) {
        CAPTURE(bad);
        CHECK(said(send(bad)) == "400 InvalidInput");
    }
    CHECK(said(send(whole, "multipart/mixed")) == "400 InvalidInput");
    CHECK(said(send(whole, "application/json")) == "400 InvalidInput");
    CHECK(said(by.get("/Orders(PartitionKey='p',RowKey='6')")) == "404 ResourceNotFound");
}

TEST_CASE("service settings, policies, statistics and preflight requests are answered") {
    asker const by = with_table();
    std::string const properties = "/?restype=service&comp=properties";
    CHECK(has_in_order(by.get(properties).body, {"<StorageServiceProperties>", "<Logging>", "<HourMetrics>", "<Cors"}));
    CHECK(said(by.ask(put, properties,
              "<StorageServiceProperties><Cors><CorsRule><AllowedOrigins>http://a.example</"
              "AllowedOrigins><AllowedMethods>GET,PUT"
              "</AllowedMethods><AllowedHeaders>x-ms-*</AllowedHeaders><ExposedHeaders>*</"
              "ExposedHeaders><MaxAgeInSeconds>60"
              "</MaxAgeInSeconds></CorsRule></Cors></StorageServiceProperties>")) == "202");
    CHECK(has_in_order(by.get(properties).body, {"<Cors>", "http://a.example"}));
    CHECK(said(by.ask(put, properties, "<x")) == "400 InvalidXmlDocument");
    CHECK(said(by.get("/?restype=service&comp=stats")) == "400 InvalidQueryParameterValue");
    CHECK(said(by.get("/")) == "400 InvalidQueryParameterValue");
    auto const preflight = [&](std::string origin, std::string method, std::string fields) {
        return by.server.answer(by.request(http_method::options, "/Orders", {},
            {{"Origin", std::move(origin)}, {"Access-Control-Request-Method", std::move(method)},
                {"Access-Control-Request-Headers", std::move(fields)}}));
    };
    auto const allowed = preflight("http://a.example", "PUT", "x-ms-date, x-ms-version");
    CHECK(said(allowed) == "200");
    CHECK(field(allowed, "Access-Control-Allow-Origin") == "http://a.example");
    CHECK(field(allowed, "Access-Control-Max-Age") == "60");
    CHECK(said(preflight("http://b.example", "PUT", "")) == "403 CorsPreflightFailure");
    CHECK(said(preflight("http://a.example", "DELETE", "")) == "403 CorsPreflightFailure");
    CHECK(said(preflight("http://a.example", "GET", "authorization")) == "403 CorsPreflightFailure");
    asker second = by;
    second.account = "acct-secondary";
    CHECK(by.get("/Orders?comp=acl").body.find("SignedIdentifiers") != std::string::npos);
    CHECK(said(by.get("/Nothing?comp=acl")) == "404 TableNotFound");
    CHECK(said(by.ask(put, "/Orders?comp=acl",
              "<SignedIdentifiers><SignedIdentifier><Id>p1</Id><AccessPolicy><Permission>r</Permission></AccessPolicy>"
              "</SignedIdentifier></SignedIdentifiers>")) == "204");
    CHECK(has_in_order(by.get("/Orders?comp=acl").body, {"<Id>p1</Id>", "<Permission>r</Permission>"}));
    CHECK(by.ask(http_method::head, "/Orders?comp=acl").body.empty());
    CHECK(said(by.ask(put, "/Orders?comp=acl", "nonsense")) == "400 InvalidXmlDocument");
}

TEST_CASE("each answer follows the rules for limits, methods, versions and header fields") {
    server_options options = with_account();
    options.max_body_size = 1'000;
    asker const by{table_server{memory_backend{}, options}};
    CHECK(said(by.post("/Tables", std::string(1'001, ' '))) == "413 RequestBodyTooLarge");
    CHECK(by.get("/Tables?x=" + std::string(33'000, 'x')).status == 414);
    CHECK(by.get("/Tables", {{"x-long", std::string(33'000, 'x')}}).status == 431);
    CHECK(said(by.ask(put, "/Tables")) == "405 UnsupportedHttpVerb");
    CHECK(said(by.post("/Tables", "{}", {{"X-HTTP-Method", "BREW"}})) == "400 XMethodIncorrectValue");
    CHECK(said(by.get("/Tables", {{"X-HTTP-Method", "MERGE"}})) == "400 XMethodNotUsingPost");
    CHECK(said(by.get("/Tables", {{"x-ms-version", "yesterday"}})) == "400 InvalidHeaderValue");
    CHECK(said(by.get("/Tables", {{"x-ms-version", "2030-01-01"}})) == "200");
    CHECK(said(by.get("/Tables?comp=nothing")) == "400 InvalidQueryParameterValue");
    auto const answer = by.get("/Nothing", {{"x-ms-client-request-id", "mine"}, {"x-ms-version", "2019-02-02"}});
    CHECK(field(answer, "x-ms-client-request-id") == "mine");
    CHECK(field(answer, "x-ms-version") == "2019-02-02");
    CHECK(field(answer, "x-ms-request-id").size() == 36);
    CHECK(field(answer, "Date").ends_with(" GMT"));
    CHECK(has_in_order(answer.body,
        {R"({"odata.error":{"code":"TableNotFound","message":{"lang":"en-US","value":)",
            R"(does not exist.\nRequestId:)", R"(\nTime:20)", "\"}}}"}));
    http_request odd;
    for (std::string const url :
        {"", "/x", "ftp://127.0.0.1/acct/Tables", "http://", "http://127.0.0.1/", "http://127.0.0.1",
            "http://127.0.0.1/acct/%zz", "http://127.0.0.1/acct/\x01", "http://u:p@127.0.0.1/acct/Tables"}) {
        odd.url = url;
        CHECK(by.server.answer(odd).status >= 400);
        CHECK(by.server.answer(odd).status < 500);
    }
}

TEST_CASE("a body that does not match its digest is refused") {
    memory_backend const store;
    asker const by{table_server{store, with_account()}};
    REQUIRE(by.post("/Tables", R"({"TableName":"Orders"})").status == 201);
    std::string const body = R"({"PartitionKey":"p","RowKey":"1"})";
    CHECK(said(by.post("/Orders", body, {{"Content-MD5", "1B2M2Y8AsgTpgAmY7PhCfg=="}})) ==
        "400 Md5Mismatch"); // the digest of an empty text
    CHECK(said(by.post("/Orders", body, {{"Content-MD5", "1B2M2Y8AsgTpgAmY7PhC"}})) == "400 InvalidMd5");
    CHECK(said(by.post("/Orders", body, {{"Content-MD5", "nonsense!"}})) == "400 InvalidMd5");
    CHECK(said(by.get("/Orders(PartitionKey='p',RowKey='1')")) == "404 ResourceNotFound");
    CHECK(said(by.post("/Orders", body, {{"Content-MD5", "Vmi+rJmfuZ748HKQ3PLndA=="}})) == "201");
    CHECK(said(by.get("/Orders", {{"Content-MD5", "1B2M2Y8AsgTpgAmY7PhCfg=="}})) == "200");
}

TEST_CASE("a request is refused before its body is read: by address, sender, version and size") {
    server_options options = with_account();
    options.max_body_size = 1'000;
    asker const by{table_server{memory_backend{}, options}};
    auto const refused = [&](http_request const& head, std::uint64_t size) {
        auto const made = by.server.refusal(head, size);
        return made ? said(*made) : std::string{"read"};
    };
    auto head = by.request(http_method::post, "/Tables");
    CHECK(refused(head, 10) == "403 AuthenticationFailed");
    CHECK(refused(head, 10'000) == "403 AuthenticationFailed"); // a stranger learns nothing else
    by.sign(head);
    CHECK(refused(head, 10) == "read");
    CHECK(refused(head, 1'000) == "read");
    CHECK(refused(head, 1'001) == "413 RequestBodyTooLarge");
    CHECK(refused(head, (std::numeric_limits<std::uint64_t>::max)()) == "413 RequestBodyTooLarge");
    auto const large = by.server.refusal(head, 1'001);
    REQUIRE(large);
    CHECK(field(*large, "x-ms-request-id").size() == 36);
    CHECK(large->body.find("RequestBodyTooLarge") != std::string::npos);
    auto old = by.request(http_method::post, "/Tables", {}, {{"x-ms-version", "2009-01-01"}});
    by.sign(old);
    CHECK(refused(old, 10) == "400 InvalidHeaderValue");
    auto encoded = by.request(http_method::post, "/Tables", {}, {{"Content-Encoding", "gzip"}});
    by.sign(encoded);
    CHECK(refused(encoded, 10) == "415 UnsupportedMediaType");
    auto late = by.request(http_method::post, "/Tables");
    by.sign(late, key_scheme::shared_key, date_time::from_date(2001, 1, 1));
    CHECK(refused(late, 10) == "403 AuthenticationFailed");
    head.url = "http://127.0.0.1:10002/acct/a/b";
    CHECK(refused(head, 10) == "400 InvalidInput");
    CHECK(refused(by.request(http_method::options, "/Tables"), 10) == "400 InvalidInput"); // no signature, no body
    // A digest is checked with the body.
    auto digest = by.request(http_method::post, "/Tables", {}, {{"Content-MD5", "nonsense"}});
    by.sign(digest);
    CHECK(refused(digest, 10) == "read");
}
