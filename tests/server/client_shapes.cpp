// SPDX-License-Identifier: MIT
// Copyright (c) 2026 the entitable authors

// Requests in the shapes in which official clients send them: method, path style, header fields, literals of the body. The texts are
// invented; the shapes are those of recorded exchanges and of the sources of the clients.

#include "served.hpp"
#include <entitable/core/text.hpp>

#include <set>

using namespace entitable;
using namespace entitable_test;

namespace {

/// One request of a client, and the expected response.
struct shape {
    http_method method;
    std::string_view path;
    asker::fields fields;
    std::string_view body;
    std::string_view expected;
};

constexpr auto get = http_method::get;
constexpr auto post = http_method::post;
constexpr auto put = http_method::put;
constexpr auto patch = http_method::patch;
constexpr auto merge = http_method::merge;
constexpr auto remove_ = http_method::delete_;

constexpr std::string_view nothing = "application/json;odata=nometadata";
constexpr std::string_view least = "application/json;odata=minimalmetadata";
constexpr std::string_view all = "application/json;odata=fullmetadata";
constexpr std::string_view acl = "/Shapes?comp=acl";
constexpr std::string_view one = "/Shapes(PartitionKey='p',RowKey='r')";

constexpr std::string_view settings = "/?restype=service&comp=properties";
constexpr std::string_view statistics = "/?restype=service&comp=stats";

/// What a client can ask of a table service.
std::set<std::string> const verbs{"create table", "list tables", "delete table", "get policies", "set policies",
    "get settings", "set settings", "statistics", "insert", "get", "query", "replace", "merge", "insert or replace",
    "insert or merge", "delete", "transaction"};

std::string verb_of(shape const& each) {
    bool matches = false;
    std::string method{to_string(each.method)};
    for (auto const& [name, value] : each.fields) {
        matches = matches || name == "If-Match";
        if (name == "X-HTTP-Method") { method = value; }
    }
    auto const has = [&](std::string_view part) { return each.path.find(part) != std::string_view::npos; };
    if (has("comp=acl")) { return method == "GET" ? "get policies" : "set policies"; }
    if (has("comp=properties")) { return method == "GET" ? "get settings" : "set settings"; }
    if (has("comp=stats")) { return "statistics"; }
    if (has("$batch")) { return "transaction"; }
    if (each.path.starts_with("/Tables")) {
        return method == "GET" ? "list tables" : method == "POST" ? "create table" : "delete table";
    }
    if (!has("(PartitionKey=")) { return method == "GET" ? "query" : "insert"; }
    if (method == "GET") { return "get"; }
    if (method == "DELETE") { return "delete"; }
    return (matches ? "" : "insert or ") + std::string{method == "PUT" ? "replace" : "merge"};
}

/// Plays the requests of a client, which must use every verb. Statistics are those of the secondary.
void play(std::string_view client, std::vector<shape> const& requests) {
    asker const by{table_server{memory_backend{}, with_account()}};
    std::size_t number = 0;
    std::set<std::string> used;
    for (shape const& each : requests) {
        CAPTURE(client, ++number, each.path);
        auto made = by.request(each.method, each.path, std::string{each.body}, each.fields);
        if (each.path == statistics) { made.url = text::joined({by.origin, "/acct-secondary", each.path}); }
        by.sign(made);
        http_response const response = by.server.answer(made);
        CHECK(said(response) == each.expected);
        // The status of a transaction is in its parts.
        CHECK((each.path != "/$batch" || response.body.find("HTTP/1.1 4") == std::string::npos));
        used.insert(verb_of(each));
    }
    CHECK(used == verbs);
}

/// A change set in the form of a client: its line ends, the position of Content-ID, relative or absolute URLs.
std::string batch_of(std::string_view line_end, std::string_view request_line, std::string_view fields,
    std::string_view body, std::string_view before_boundary = {}) {
    std::string made{before_boundary};
    for (std::string_view const line :
        {std::string_view{"--batch_1"}, std::string_view{"Content-Type: multipart/mixed; boundary=changeset_1"},
            std::string_view{}, std::string_view{"--changeset_1"}, std::string_view{"Content-Type: application/http"},
            std::string_view{"Content-Transfer-Encoding: binary"}, std::string_view{}, request_line}) {
        made.append(line).append(line_end);
    }
    made.append(fields).append(line_end).append(body).append(line_end);
    made.append("--changeset_1--").append(line_end).append("--batch_1--").append(line_end);
    return made;
}

} // namespace

TEST_CASE("shapes of requests: the client for JavaScript") {
    play("JavaScript",
        {{post, "/Tables",
             {{"Content-Type", nothing}, {"Accept", least}, {"DataServiceVersion", "3.0"},
                 {"Prefer", "return-no-content"}},
             R"({"TableName":"Shapes"})", "204"},
            {post, "/Shapes",
                {{"Content-Type", nothing}, {"Accept", least}, {"Prefer", "return-no-content"},
                    {"DataServiceVersion", "3.0"}},
                R"({"PartitionKey":"p","RowKey":"r","now":1790000000000,"n":1,"d":1.5,"t":"2021-04-01T01:01:01.123Z","t@odata.type":"Edm.DateTime","b":"AQI=","b@odata.type":"Edm.Binary","big":"9007199254740993","big@odata.type":"Edm.Int64"})",
                "204"},
            {get, "/Shapes(PartitionKey='p',RowKey='r')?$format=application%2Fjson%3Bodata%3Dfullmetadata",
                {{"Accept", least}, {"DataServiceVersion", "3.0"}}, {}, "200"},
            {patch, one, {{"Content-Type", "application/json"}, {"Accept", "application/json"}, {"If-Match", "*"}},
                R"({"n":2})", "204"},
            {patch, one, {{"Content-Type", "application/json"}}, R"({"PartitionKey":"p","RowKey":"r","n":2})", "204"},
            {put, one, {{"Content-Type", "application/json"}, {"If-Match", "*"}},
                R"({"PartitionKey":"p","RowKey":"r","n":3})", "204"},
            {put, one, {{"Content-Type", "application/json"}, {"Accept", "application/json"}},
                R"({"PartitionKey":"p","RowKey":"r","n":4})", "204"},
            {get, settings, {{"Accept", "application/xml"}}, {}, "200"},
            {put, settings, {{"Content-Type", "application/xml"}, {"Accept", "application/xml"}},
                "<?xml version=\"1.0\" encoding=\"UTF-8\" "
                "standalone=\"yes\"?><StorageServiceProperties><Cors/></StorageServiceProperties>",
                "202"},
            {get, statistics, {{"Accept", "application/xml"}}, {}, "200"},
            {get,
                "/Shapes()?$format=application%2Fjson%3Bodata%3Dminimalmetadata&$top=1000&$filter=PartitionKey%20eq%20%"
                "27p%27",
                {{"Accept", least}}, {}, "200"},
            {get, "/Tables?$format=application%2Fjson%3Bodata%3Dminimalmetadata", {{"Accept", least}}, {}, "200"},
            {put, acl, {{"Content-Type", "application/xml"}},
                "<?xml version=\"1.0\" encoding=\"UTF-8\" standalone=\"yes\"?><SignedIdentifiers/>", "204"},
            {get, acl, {{"Accept", "application/xml"}}, {}, "200"},
            {post, "/$batch", {{"Content-Type", "multipart/mixed; boundary=batch_1"}, {"Accept", "application/json"}},
                batch_of("\r\n", "PATCH http://127.0.0.1:10002/acct/Shapes(PartitionKey='p',RowKey='r') HTTP/1.1",
                    "content-type: application/json\r\naccept: application/json\r\ndataserviceversion: "
                    "3.0\r\nif-match: *\r\n",
                    "{}"),
                "202"},
            {remove_, one, {{"If-Match", "*"}, {"Accept", "application/json"}}, {}, "204"},
            {remove_, "/Tables('Shapes')", {{"Accept", "application/json"}}, {}, "204"}});
}

TEST_CASE("shapes of requests: the client for Python") {
    play("Python",
        {{post, "/Tables", {{"Content-Type", nothing}, {"Accept", least}, {"DataServiceVersion", "3.0"}},
             R"({"TableName": "Shapes"})", "201"},
            {put, acl, {{"Content-Type", "application/xml"}, {"Accept", "application/xml"}}, {}, "204"},
            {put, acl, {{"Content-Type", "application/xml"}},
                "<?xml version='1.0' encoding='utf-8'?>\n<SignedIdentifiers><SignedIdentifier><Id>x</Id><AccessPolicy "
                "/></SignedIdentifier></SignedIdentifiers>",
                "204"},
            {post, "/Shapes", {{"Content-Type", nothing}, {"Accept", least}, {"Prefer", "return-no-content"}},
                R"({"PartitionKey": "p", "PartitionKey@odata.type": "Edm.String", "RowKey": "r", "RowKey@odata.type": "Edm.String", "t": "2021-04-01T01:01:01.000000Z", "t@odata.type": "Edm.DateTime", "b": true, "n": 5, "d": 1.0, "d@odata.type": "Edm.Double"})",
                "204"},
            {merge, one, {{"Content-Type", "application/json"}, {"If-Match", "*"}},
                R"({"PartitionKey": "p", "RowKey": "r"})", "204"},
            {patch, one, {{"Content-Type", "application/json"}, {"If-Match", "*"}, {"DataServiceVersion", "3.0"}},
                R"({"n": 1})", "204"},
            {get, "/Shapes()?$filter=n%20ge%201%20and%20t%20gt%20datetime'2020-01-01T00:00:00Z'&$select=n,t",
                {{"Accept", least}}, {}, "200"},
            {get, "/?restype=service&comp=properties", {{"Accept", "application/xml"}}, {}, "200"},
            {put, "/?restype=service&comp=properties", {{"Content-Type", "application/xml"}},
                "<?xml version='1.0' "
                "encoding='utf-8'?>\n<StorageServiceProperties><Logging><Version>1.0</Version><Delete>true</"
                "Delete><Read>false</Read><Write>true</Write><RetentionPolicy><Enabled>true</Enabled><Days>5</Days></"
                "RetentionPolicy></Logging></StorageServiceProperties>",
                "202"},
            {put, "/?restype=service&comp=properties", {{"Content-Type", "application/xml"}},
                "<StorageServiceProperties><HourMetrics><Version>1.0</Version><Enabled>true</"
                "Enabled><RetentionPolicy><Enabled>true</Enabled><Days>366</Days></RetentionPolicy></HourMetrics></"
                "StorageServiceProperties>",
                "400 InvalidXmlDocument"},
            {get, statistics, {{"Accept", "application/xml"}}, {}, "200"},
            {get, acl, {{"Accept", "application/xml"}}, {}, "200"},
            {get, one, {{"Accept", least}, {"DataServiceVersion", "3.0"}}, {}, "200"},
            {put, one, {{"Content-Type", "application/json"}, {"If-Match", "*"}, {"Accept", "application/json"}},
                R"({"PartitionKey": "p", "PartitionKey@odata.type": "Edm.String", "RowKey": "r", "n": 2})", "204"},
            {put, one, {{"Content-Type", "application/json"}, {"Accept", "application/json"}},
                R"({"PartitionKey": "p", "RowKey": "r", "n": 3})", "204"},
            {patch, one, {{"Content-Type", "application/json"}, {"Accept", "application/json"}},
                R"({"PartitionKey": "p", "RowKey": "r", "n": 4})", "204"},
            {get, "/Tables?$filter=TableName%20eq%20%27Shapes%27", {{"Accept", least}, {"DataServiceVersion", "3.0"}},
                {}, "200"},
            {post, "/$batch",
                {{"Content-Type", "multipart/mixed; boundary=batch_1"}, {"Accept", "application/json"},
                    {"DataServiceVersion", "3.0"}},
                batch_of("\r\n", "DELETE http://127.0.0.1:10002/acct/Shapes(PartitionKey='p',RowKey='r') HTTP/1.1",
                    "x-ms-version: 2019-02-02\r\nDataServiceVersion: 3.0\r\nIf-Match: *\r\nAccept: "
                    "application/json;odata=minimalmetadata\r\nContent-Length: 0\r\n",
                    {}),
                "202"},
            {remove_, one, {{"If-Match", "*"}}, {}, "404 ResourceNotFound"},
            {remove_, "/Tables('Shapes')", {{"Accept", "application/json"}}, {}, "204"}});
}

TEST_CASE("shapes of requests: the client for C#") {
    play("C#",
        {{post, "/Tables?$format=application%2Fjson%3Bodata%3Dminimalmetadata",
             {{"Content-Type", "application/json; odata=nometadata"},
                 {"Accept", "application/json; odata=minimalmetadata"}, {"Prefer", "return-no-content"},
                 {"DataServiceVersion", "3.0"}},
             R"({"TableName":"Shapes"})", "204"},
            {post, "/Shapes?$format=application%2Fjson%3Bodata%3Dfullmetadata",
                {{"Content-Type", "application/json; odata=nometadata"}, {"Prefer", "return-no-content"}},
                R"({"PartitionKey":"p","RowKey":"r","t":"2021-04-01T01:01:01.1234567Z","t@odata.type":"Edm.DateTime","g":"c9da6455-213d-42c9-9a79-3e9149a57833","g@odata.type":"Edm.Guid","l":"5","l@odata.type":"Edm.Int64","d":1.0,"d@odata.type":"Edm.Double"})",
                "204"},
            {get, "/Shapes(PartitionKey='p',RowKey='r')?$format=application%2Fjson%3Bodata%3Dfullmetadata&$select=",
                {{"Accept", "application/json; odata=fullmetadata"}}, {}, "200"},
            {get,
                "/Shapes?$format=application%2Fjson%3Bodata%3Dfullmetadata&$top=10&$filter=PartitionKey%20eq%20%27p%27%"
                "20and%20l%20ge%205L",
                {{"Accept", "application/json"}}, {}, "200"},
            {patch, "/Shapes(PartitionKey='p',RowKey='r')?$format=application%2Fjson%3Bodata%3Dfullmetadata",
                {{"If-Match", "*"}, {"Content-Type", "application/json"}}, R"({"n":1})", "204"},
            {put, one, {{"Content-Type", "application/json"}}, R"({"PartitionKey":"p","RowKey":"r"})", "204"},
            {remove_, one, {{"If-Match", "*"}, {"Accept", "application/json;odata=minimalmetadata"}}, {}, "204"},
            {post, "/$batch",
                {{"Content-Type", "multipart/mixed; boundary=\"batch_1\""}, {"Accept", "application/json"}},
                batch_of("\r\n",
                    "POST http://127.0.0.1:10002/acct/Shapes?$format=application%2Fjson%3Bodata%3Dfullmetadata "
                    "HTTP/1.1",
                    "Host: 127.0.0.1:10002\r\nContent-Type: application/json; odata=nometadata\r\nPrefer: "
                    "return-no-content\r\nContent-Length: 33\r\n",
                    R"({"PartitionKey":"p","RowKey":"b"})"),
                "202"},
            {patch, "/Shapes(PartitionKey='p',RowKey='r')?$format=application%2Fjson%3Bodata%3Dfullmetadata",
                {{"Content-Type", "application/json"}}, R"({"PartitionKey":"p","RowKey":"r","n":1})", "204"},
            {put, "/Shapes(PartitionKey='p',RowKey='r')?$format=application%2Fjson%3Bodata%3Dfullmetadata",
                {{"Content-Type", "application/json"}, {"If-Match", "*"}}, R"({"PartitionKey":"p","RowKey":"r"})",
                "204"},
            {get, "/Tables?$format=application%2Fjson%3Bodata%3Dminimalmetadata&$filter=TableName%20eq%20%27Shapes%27",
                {{"Accept", "application/json; odata=minimalmetadata"}, {"DataServiceVersion", "3.0"}}, {}, "200"},
            {put, acl, {{"Content-Type", "application/xml"}, {"Accept", "application/xml"}},
                "<SignedIdentifiers><SignedIdentifier><Id>x</Id><AccessPolicy><Start>2021-04-01T01:01:01.0000000Z</"
                "Start><Expiry>2099-04-01T01:01:01.0000000Z</Expiry><Permission>raud</Permission></AccessPolicy></"
                "SignedIdentifier></SignedIdentifiers>",
                "204"},
            {get, acl, {{"Accept", "application/xml"}}, {}, "200"},
            {put, settings, {{"Content-Type", "application/xml"}, {"Accept", "application/xml"}},
                "<StorageServiceProperties><HourMetrics><Version>1.0</Version><Enabled>true</"
                "Enabled><IncludeAPIs>true</"
                "IncludeAPIs><RetentionPolicy><Enabled>true</Enabled><Days>5</Days></RetentionPolicy></HourMetrics></"
                "StorageServiceProperties>",
                "202"},
            {get, settings, {{"Accept", "application/xml"}}, {}, "200"},
            {get, statistics, {{"Accept", "application/xml"}}, {}, "200"},
            {remove_, "/Tables('Shapes')", {{"Accept", "application/json"}}, {}, "204"}});
}

TEST_CASE("shapes of requests: the clients for Java and Go") {
    play("Java",
        {{post, "/Tables", {{"Content-Type", "application/json"}, {"Accept", all}, {"Prefer", "return-no-content"}},
             R"({"TableName":"Shapes"})", "204"},
            {post, "/Shapes?$format=application/json%3Bodata%3Dfullmetadata",
                {{"Content-Type", "application/json"}, {"Prefer", "return-no-content"}},
                R"({"PartitionKey":"p","RowKey":"r","t":"2021-04-01T01:01:01.123456789Z","t@odata.type":"Edm.DateTime","l":"5","l@odata.type":"Edm.Int64"})",
                "204"},
            {patch, one, {{"Content-Type", "application/json"}, {"If-Match", "*"}},
                R"({"PartitionKey":"p","RowKey":"r"})", "204"},
            {get, "/Shapes()?$format=application/json%3Bodata%3Dfullmetadata", {{"Accept", all}}, {}, "200"},
            {get, "/Shapes(PartitionKey='p',RowKey='r')?$format=application/json%3Bodata%3Dfullmetadata",
                {{"Accept", all}, {"DataServiceVersion", "3.0"}}, {}, "200"},
            {put, one, {{"Content-Type", "application/json"}, {"If-Match", "*"}, {"Accept", "application/json"}},
                R"({"PartitionKey":"p","RowKey":"r","n":1})", "204"},
            {put, one, {{"Content-Type", "application/json"}, {"Accept", "application/json"}},
                R"({"PartitionKey":"p","RowKey":"r","n":2})", "204"},
            {patch, one, {{"Content-Type", "application/json"}, {"Accept", "application/json"}},
                R"({"PartitionKey":"p","RowKey":"r","n":3})", "204"},
            {get, "/Tables?$format=application/json%3Bodata%3Dfullmetadata&$top=10", {{"Accept", all}}, {}, "200"},
            {put, acl, {{"Content-Type", "application/xml"}, {"Accept", "application/xml"}},
                "<?xml version='1.0' encoding='UTF-8'?><SignedIdentifiers><SignedIdentifier><Id>x</Id><AccessPolicy>"
                "<Permission>r</Permission></AccessPolicy></SignedIdentifier></SignedIdentifiers>",
                "204"},
            {get, acl, {{"Accept", "application/xml"}}, {}, "200"},
            {put, settings, {{"Content-Type", "application/xml"}, {"Accept", "application/xml"}},
                "<?xml version='1.0' "
                "encoding='UTF-8'?><StorageServiceProperties><Logging><Version>1.0</Version><Delete>"
                "true</Delete><Read>true</Read><Write>true</Write><RetentionPolicy><Enabled>false</Enabled></"
                "RetentionPolicy></Logging></StorageServiceProperties>",
                "202"},
            {get, settings, {{"Accept", "application/xml"}}, {}, "200"},
            {get, statistics, {{"Accept", "application/xml"}}, {}, "200"},
            {post, "/$batch",
                {{"Content-Type", "multipart/mixed; boundary=batch_1"}, {"Accept", "application/json"},
                    {"DataServiceVersion", "3.0"}},
                batch_of("\r\n", "PATCH /acct/Shapes(PartitionKey='p',RowKey='r') HTTP/1.1",
                    "DataServiceVersion: 3.0\r\nIf-Match: *\r\nAccept: application/json\r\nContent-Type: "
                    "application/json\r\nContent-Length: 39\r\n",
                    R"({"PartitionKey":"p","RowKey":"r","n":9})"),
                "202"},
            {remove_, one, {{"If-Match", "*"}, {"Accept", "application/json"}}, {}, "204"},
            {remove_, "/Tables('Shapes')", {{"Accept", "application/json"}}, {}, "204"}});
    play("Go",
        {{post, "/Tables",
             {{"Content-Type", nothing}, {"Accept", "application/json;odata=minimalmetadata"},
                 {"DataServiceVersion", "3.0"}},
             R"({"TableName":"Shapes"})", "201"},
            {post, "/Shapes",
                {{"Content-Type", nothing}, {"Accept", least}, {"Prefer", "return-no-content"},
                    {"DataServiceVersion", "3.0"}},
                R"({"PartitionKey":"p","RowKey":"r","t":"2021-04-01T01:01:01.000000001Z","t@odata.type":"Edm.DateTime","l":"12","l@odata.type":"Edm.Int64"})",
                "204"},
            {patch, one, {{"Content-Type", "application/json"}, {"If-Match", "*"}, {"Accept", "application/json"}},
                R"({"n":1})", "204"},
            {put, one, {{"Content-Type", "application/json"}, {"Accept", "application/json"}}, R"({"n":1})", "204"},
            {get, "/Shapes()?$filter=PartitionKey+eq+%27p%27&$format=application%2Fjson%3Bodata%3Dminimalmetadata",
                {{"Accept", least}}, {}, "200"},
            {get, "/Tables/", {{"Accept", least}}, {}, "200"},
            {get, "/Shapes(PartitionKey='p',RowKey='r')?%24format=application%2Fjson%3Bodata%3Dminimalmetadata",
                {{"Accept", least}, {"DataServiceVersion", "3.0"}}, {}, "200"},
            {put, one, {{"Content-Type", "application/json"}, {"If-Match", "*"}, {"Accept", "application/json"}},
                R"({"PartitionKey":"p","RowKey":"r","n":2})", "204"},
            {patch, one, {{"Content-Type", "application/json"}, {"Accept", "application/json"}}, R"({"n":3})", "204"},
            {put, acl, {{"Content-Type", "application/xml"}, {"Accept", "application/xml"}},
                "<SignedIdentifiers><SignedIdentifier><AccessPolicy><Expiry>2099-04-01T01:01:01Z</"
                "Expiry><Permission>r</"
                "Permission><Start>2021-04-01T01:01:01Z</Start></AccessPolicy><Id>x</Id></SignedIdentifier></"
                "SignedIdentifiers>",
                "204"},
            {get, acl, {{"Accept", "application/xml"}}, {}, "200"},
            {put, settings, {{"Content-Type", "application/xml"}, {"Accept", "application/xml"}},
                "<StorageServiceProperties><Cors><CorsRule><AllowedHeaders>x-ms-*</AllowedHeaders><AllowedMethods>GET</"
                "AllowedMethods><AllowedOrigins>http://a.example</AllowedOrigins><ExposedHeaders>x-ms-*</"
                "ExposedHeaders>"
                "<MaxAgeInSeconds>60</MaxAgeInSeconds></CorsRule></Cors></StorageServiceProperties>",
                "202"},
            {get, settings, {{"Accept", "application/xml"}}, {}, "200"},
            {get, statistics, {{"Accept", "application/xml"}}, {}, "200"},
            {post, "/$batch",
                {{"Content-Type", "multipart/mixed; boundary=batch_1"}, {"Accept", least},
                    {"DataServiceVersion", "3.0"}},
                "--batch_1\r\nContent-Type: multipart/mixed; boundary=changeset_1\r\n\r\n--changeset_1\r\n"
                "Content-Transfer-Encoding: binary\r\nContent-Type: application/http\r\n\r\n"
                "DELETE http://127.0.0.1:10002/acct/Shapes%28PartitionKey=%27p%27,RowKey=%27r%27%29?%24format="
                "application%2Fjson%3Bodata%3Dminimalmetadata HTTP/1.1\r\nAccept: application/json;odata="
                "minimalmetadata\r\nDataserviceversion: 3.0\r\nIf-Match: *\r\nX-Ms-Version: 2019-02-02\r\n\r\n"
                "\r\n--changeset_1--\r\n\r\n--batch_1--\r\n",
                "202"},
            {remove_, one, {{"If-Match", "*"}, {"Accept", least}}, {}, "404 ResourceNotFound"},
            {remove_, "/Tables%28%27Shapes%27%29", {{"Accept", least}}, {}, "204"}});
}

TEST_CASE("shapes of requests: earlier clients of .NET and Node.js") {
    play("earlier .NET",
        {{post, "/Tables()",
             {{"Content-Type", "application/json"}, {"Accept", least}, {"Accept-Charset", "UTF-8"},
                 {"MaxDataServiceVersion", "3.0;NetFx"}, {"Prefer", "return-no-content"}},
             R"({"TableName":"Shapes"})", "204"},
            {post, "/Shapes()",
                {{"Content-Type", "application/json;charset=utf-8"}, {"Accept", nothing},
                    {"MaxDataServiceVersion", "3.0;NetFx"}},
                R"({"PartitionKey":"p","RowKey":"r","Timestamp":"0001-01-01T00:00:00Z","n":1})", "201"},
            {post, one,
                {{"X-HTTP-Method", "MERGE"}, {"Content-Type", "application/json"}, {"If-Match", "*"},
                    {"Accept", least}},
                R"({"n":2})", "204"},
            {post, one, {{"X-HTTP-Method", "DELETE"}, {"If-Match", "W/\"datetime'2000-01-01T00%3A00%3A00Z'\""}}, {},
                "412 UpdateConditionNotSatisfied"},
            {post, one, {{"X-HTTP-Method", "DELETE"}, {"If-Match", "w/\"other\""}}, {},
                "412 UpdateConditionNotSatisfied"},
            {get, "/Shapes(PartitionKey='p',RowKey='r')",
                {{"Accept", "application/json;odata=minimalmetadata,application/atom+xml"}}, {}, "200"},
            {post, "/$batch", {{"Content-Type", "multipart/mixed; boundary=batch_1"}, {"Accept-Charset", "UTF-8"}},
                batch_of("\n", "MERGE /acct/Shapes(PartitionKey='p',RowKey='r') HTTP/1.1",
                    "If-Match: *\nContent-Type: application/json;\nContent-ID: 0\n", R"({"n":3})"),
                "202"},
            {put, one, {{"Content-Type", "application/json"}, {"If-Match", "*"}, {"Accept", nothing}}, R"({"n":4})",
                "204"},
            {put, one, {{"Content-Type", "application/json"}, {"Accept", nothing}}, R"({"n":5})", "204"},
            {post, one, {{"X-HTTP-Method", "MERGE"}, {"Content-Type", "application/json"}, {"Accept", nothing}},
                R"({"n":6})", "204"},
            {get, "/Shapes()?$filter=PartitionKey%20eq%20%27p%27&$top=5", {{"Accept", nothing}}, {}, "200"},
            {get, "/Tables()?$filter=TableName%20eq%20%27Shapes%27", {{"Accept", nothing}}, {}, "200"},
            {put, acl, {{"Accept-Charset", "UTF-8"}},
                "\xef\xbb\xbf<?xml version=\"1.0\" encoding=\"utf-8\"?><SignedIdentifiers><SignedIdentifier><Id>x</Id>"
                "<AccessPolicy><Start /><Expiry>2099-04-01T01:01:01.0000000Z</Expiry><Permission>r</Permission></"
                "AccessPolicy></SignedIdentifier></SignedIdentifiers>",
                "204"},
            {get, acl, {{"Accept-Charset", "UTF-8"}}, {}, "200"},
            {put, settings, {},
                "<?xml version=\"1.0\" encoding=\"utf-8\"?><StorageServiceProperties><Cors "
                "/></StorageServiceProperties>",
                "202"},
            {get, settings, {}, {}, "200"}, {get, statistics, {}, {}, "200"},
            {post, one, {{"X-HTTP-Method", "DELETE"}, {"If-Match", "*"}}, {}, "204"},
            {remove_, "/Tables('Shapes')", {{"Accept", nothing}}, {}, "204"}});
    play("earlier Node.js",
        {{post, "/Tables", {{"Content-Type", nothing}, {"Accept", nothing}, {"Prefer", "return-no-content"}},
             R"({"TableName":"Shapes"})", "204"},
            {post, "/Shapes", {{"Content-Type", nothing}, {"Accept", nothing}},
                R"({"PartitionKey@odata.type":"Edm.String","PartitionKey":"p","RowKey@odata.type":"Edm.String","RowKey":"r","n@odata.type":"Edm.Int32","n":"1","d":12.5,"b@odata.type":"Edm.Boolean","b":"true"})",
                "201"},
            {merge, one, {{"Content-Type", nothing}, {"If-Match", "*"}}, R"({"n":2})", "204"},
            {get, "/Shapes?$filter=n%20ge%202", {{"Accept", nothing}}, {}, "200"},
            {get, "/Shapes(PartitionKey=%27p%27,RowKey=%27r%27)", {{"Accept", least}}, {}, "200"},
            {put, one, {{"Content-Type", nothing}, {"If-Match", "*"}, {"Accept", least}},
                R"({"PartitionKey":"p","RowKey":"r","n@odata.type":"Edm.Int32","n":"3"})", "204"},
            {put, one, {{"Content-Type", nothing}, {"Accept", least}}, R"({"PartitionKey":"p","RowKey":"r"})", "204"},
            {merge, one, {{"Content-Type", nothing}, {"Accept", least}}, R"({"PartitionKey":"p","RowKey":"r"})", "204"},
            {get, "/Tables?$top=3", {{"Accept", nothing}}, {}, "200"},
            {put, acl, {{"Content-Type", "application/xml; charset=\"utf-8\""}},
                "<?xml version=\"1.0\" encoding=\"utf-8\" standalone=\"yes\"?><SignedIdentifiers/>", "204"},
            {get, acl, {{"Content-Type", "application/xml; charset=\"utf-8\""}}, {}, "200"},
            {put, settings, {{"Content-Type", "application/xml; charset=\"utf-8\""}},
                "<?xml version=\"1.0\" encoding=\"utf-8\" "
                "standalone=\"yes\"?><StorageServiceProperties><Cors/></StorageServiceProperties>",
                "202"},
            {get, settings, {}, {}, "200"}, {get, statistics, {}, {}, "200"},
            {post, "/$batch", {{"Content-Type", "multipart/mixed; boundary=batch_1"}},
                batch_of("\n", "MERGE http://127.0.0.1:10002/acct/Shapes(PartitionKey=%27p%27,RowKey=%27r%27) HTTP/1.1",
                    "content-id: 1\nif-match: *\ncontent-type: application/json;odata=nometadata;type=entry\n"
                    "content-length: 7\naccept: application/json;odata=nometadata\ndataserviceversion: 3.0;\n",
                    R"({"n":3})"),
                "202"},
            {remove_, one, {{"If-Match", "*"}, {"Accept", nothing}}, {}, "204"},
            {remove_, "/Tables('Shapes')", {{"Accept", nothing}}, {}, "204"}});
}

TEST_CASE("shapes of requests: what is refused, with the code of the service") {
    asker const by{table_server{memory_backend{}, with_account()}};
    REQUIRE(said(by.post("/Tables/", R"({"TableName":"Shapes"})")) == "201");
    CHECK(said(by.get("/Shapes/")) == "200");
    CHECK(said(by.get("/Shapes//")) == "400 InvalidInput");
    CHECK(said(by.get("/Shapes?$select=%5B'age,sex'%5D")) == "400 InvalidInput");
    CHECK(said(by.get("/Shapes?$select=age,sex")) == "200");
    CHECK(said(by.get("/Shapes?$filter=ok%20eq%20True")) == "400 InvalidInput");
    std::string const entity = R"({"PartitionKey":"p","RowKey":"r"})";
    CHECK(said(by.post("/Shapes", entity, {{"Content-Encoding", "gzip"}})) == "415 UnsupportedMediaType");
    CHECK(said(by.post("/Shapes", entity, {{"Content-Type", "application/json;charset=utf-16"}})) ==
        "415 MediaTypeNotSupported");
    CHECK(said(by.post("/Shapes", entity,
              {{"Content-Encoding", "identity"}, {"Content-Type", "application/json; charset=UTF-8"}})) == "201");
    auto twice = by.request(get, "/Shapes");
    by.sign(twice);
    REQUIRE(twice.headers.add("Authorization", "SharedKey acct:AAAA"));
    CHECK(said(by.server.answer(twice)) == "403 AuthenticationFailed");
    // A policy without values is returned as the service returns it.
    REQUIRE(said(by.ask(put, acl,
                "<SignedIdentifiers><SignedIdentifier><Id>x</Id></SignedIdentifier></SignedIdentifiers>")) == "204");
    CHECK(by.get(acl).body.find("<Id>x</Id><AccessPolicy /></SignedIdentifier>") != std::string::npos);
    CHECK(said(by.ask(put, acl, "  ")) == "204");
    CHECK(by.get(acl).body.find("<Id>") == std::string::npos);
}

TEST_CASE("shapes of requests: keys in the body are refused or ignored, by an option") {
    for (bool const ignores : {false, true}) {
        server_options options = with_account();
        options.ignores_keys_of_bodies = ignores;
        asker const by{table_server{memory_backend{}, options}};
        REQUIRE(said(by.post("/Tables", R"({"TableName":"Shapes"})")) == "201");
        std::string_view const expected = ignores ? "204" : "400 InvalidInput";
        for (auto const method : {put, patch, merge}) {
            CHECK(said(by.ask(method, one, R"({"PartitionKey":"p''","RowKey":"other"})")) == expected);
        }
        CHECK(said(by.get(one)) == (ignores ? "200" : "404 ResourceNotFound"));
        CHECK(said(by.get("/Shapes(PartitionKey='p''''',RowKey='other')")) == "404 ResourceNotFound");
        auto const batch = by.post("/$batch",
            batch_of("\r\n", "PUT /acct/Shapes(PartitionKey='p',RowKey='r') HTTP/1.1", "", R"({"RowKey":"x"})"),
            {{"Content-Type", "multipart/mixed; boundary=batch_1"}});
        CHECK((batch.body.find("204 No Content") != std::string::npos) == ignores);
    }
}

TEST_CASE("shapes of requests: the secondary of the emulator, signed by either path") {
    asker by{table_server{memory_backend{}, with_account()}};
    REQUIRE(said(by.post("/Tables", R"({"TableName":"Shapes"})")) == "201");
    auto const sent = [&](std::string_view path, std::string_view signed_path) {
        auto made = by.request(get, {});
        for (auto const scheme : {key_scheme::shared_key, key_scheme::shared_key_lite}) {
            made = by.request(get, {});
            made.url = text::joined({by.origin, path});
            // Signs the text by hand: the library's own client signs the primary path.
            auto const now = system_clock().now();
            std::string const date{detail::http_date(now)};
            REQUIRE(made.headers.add("x-ms-date", date));
            auto const bytes = detail::decode_account_key(planted_key);
            REQUIRE(bytes);
            key_signer const signer{bytes->reveal()};
            key_signer::signature out;
            REQUIRE(signer.sign(
                [&](std::string& text) {
                    text = scheme == key_scheme::shared_key ? "GET\n\n\n" : "";
                    text.append(date).append("\n/acct").append(signed_path);
                },
                out));
            REQUIRE(made.headers.add("Authorization",
                text::joined({scheme == key_scheme::shared_key ? "SharedKey acct:" : "SharedKeyLite acct:",
                    std::string_view{reinterpret_cast<char const*>(out), sizeof out}})));
            if (by.server.answer(made).status != 200) { return said(by.server.answer(made)); }
        }
        return std::string{"200"};
    };
    CHECK(sent("/acct-secondary/Shapes", "/acct/Shapes") == "200");
    CHECK(sent("/acct-secondary/Shapes", "/acct-secondary/Shapes") == "200");
    CHECK(sent("/acct-secondary/Shapes", "/acct-secondary/Other") == "403 AuthenticationFailed");
    CHECK(sent("/acct/Shapes", "/acct-secondary/Shapes") == "403 AuthenticationFailed");
    CHECK(sent("/acct-secondary/Shapes", "/other/Shapes") == "403 AuthenticationFailed");
}
