// SPDX-License-Identifier: MIT
// Copyright (c) 2026 the entitable authors

// Hostile bytes to a served memory_backend: a list of forms with the responses that they may get, and mutated requests, over sockets and,
// for a million of them, to the same sessions without sockets. None may get a 500, a second response, or stop the server.
// ENTITABLE_MUTATED sets the number of mutated requests, ENTITABLE_FIRST the number of the first, so that several processes share a run, and
// ENTITABLE_SEED their seed; a failure prints the seed and the request.

#include "listening.hpp"
#include <entitable/core/text.hpp>
#include <entitable/memory.hpp>
#include <entitable/serve/listener/impl/http_session.ipp>

#include <boost/asio/buffer.hpp>
#include <boost/asio/error.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/asio/post.hpp>
#include <boost/asio/strand.hpp>
#include <boost/system/error_code.hpp>
#include <server/served.hpp>
#include <support/catch.hpp>
#include <support/long.hpp>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <iterator>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <thread>
#include <utility>
#include <vector>

using namespace entitable;
using namespace entitable_test;
using namespace std::chrono_literals;
using entitable::text::joined;

namespace {

/// A server that accepts any bearer token, so that mutated requests reach what is behind the signature.
table_server trusting_server() {
    server_options options = with_account();
    options.bearer = [](std::string_view, std::string_view) { return true; };
    options.bearer_over_http = true;
    memory_backend const store;
    call context;
    REQUIRE(store.execute(create_table{"Orders"}, context));
    for (int number = 0; number < 20; ++number) {
        row_builder one{"p", std::to_string(number)};
        one.add("N", number);
        REQUIRE(store.execute(write_entity{"Orders", mutation::insert(one.build())}, context));
    }
    return table_server{store, options};
}

listener_options patient() {
    listener_options options;
    options.threads = 2;
    return options;
}

std::size_t count_of(std::string_view text, std::string_view part) {
    std::size_t found = 0;
    for (std::size_t at = 0; (at = text.find(part, at)) != std::string_view::npos; at += part.size()) { ++found; }
    return found;
}

/// A request with a token. `line` is "GET /path"; `fields` end with CRLF.
std::string request_of(std::string_view line, std::string_view fields = {}, std::string_view body = {}) {
    return joined({line, " HTTP/1.1\r\nHost: h\r\nAuthorization: Bearer t\r\nAccept: application/json\r\n", fields,
        body.empty()
            ? ""
            : joined({"Content-Type: application/json\r\nContent-Length: ", std::to_string(body.size()), "\r\n"}),
        "\r\n", body});
}

/// A form, and the statuses that it may get, by their first digits; '-' for no response.
struct form {
    std::string bytes;
    std::string_view allowed;
};

constexpr std::string_view smuggled = "GET /acct/Smuggled HTTP/1.1\r\nHost: h\r\nAuthorization: Bearer t\r\n\r\n";

/// Framing: at most one response, and none to the request in the body.
std::vector<form> framing_forms() {
    std::vector<form> made;
    auto const post = [&](std::string_view fields, std::string_view after) {
        made.push_back({joined({"POST /acct/Orders HTTP/1.1\r\nHost: h\r\nAuthorization: Bearer t\r\n", fields, "\r\n",
                            after, smuggled}),
            "4-5"});
    };
    for (std::string_view const length : {"6, 6", "6,7", "+6", "-6", "0x6", "6 6", "6;", "6.0", "1e1", "", " ",
             "18446744073709551616", "99999999999999999999999", "\t", "six", "06 ,", "6\x0b", "\xd9\xa6"}) {
        post(joined({"Content-Length: ", length, "\r\n"}), "{\"a\":1");
    }
    post("Content-Length: 6\r\nContent-Length: 7\r\n", "{\"a\":1");
    post("Content-Length: 6\r\ncontent-length: 6\r\n", "{\"a\":1");
    for (std::string_view const coding :
        {"xchunked", "chunked, identity", "identity, chunked", "gzip, chunked", "chunked;q=1", "\"chunked\"",
            "chunked\x0b", "chunke", "", "chunked,", ",chunked", "chunked chunked", "identity"}) {
        post(joined({"Transfer-Encoding: ", coding, "\r\n"}), "0\r\n\r\n");
    }
    post("Content-Length: 6\r\nTransfer-Encoding: chunked\r\n", "0\r\n\r\n");
    post("Transfer-Encoding: chunked\r\nContent-Length: 6\r\n", "0\r\n\r\n");
    post("Transfer-Encoding: chunked\r\nTransfer-Encoding: chunked\r\n", "0\r\n\r\n");
    post("Transfer-Encoding : chunked\r\n", "0\r\n\r\n");
    post("Transfer-Encoding:\r\n chunked\r\n", "0\r\n\r\n");
    post("Content-Length : 6\r\n", "{\"a\":1");
    post(" Content-Length: 6\r\n", "{\"a\":1");
    post("X: 1\nContent-Length: 6\r\n", "{\"a\":1");
    post("X: 1\rContent-Length: 6\r\n", "{\"a\":1");
    post(std::string_view{"X: \0\r\n", 6}, "");
    post("no colon\r\n", "");
    post(": empty\r\n", "");
    post("Host: other\r\n", "");
    post("Expect: 200-maybe\r\nContent-Length: 6\r\n", "{\"a\":1");
    for (std::string_view const chunk : {"5 \r\nhello\r\n0\r\n\r\n", "-5\r\nhello\r\n", "0x5\r\nhello\r\n",
             "5\nhello\n0\n\n", "\r\nhello", "g\r\nhello", "FFFFFFFFFFFFFFFFF\r\n", "5\r\nhelloX\r\n0\r\n\r\n",
             "5\r\nhello0\r\n\r\n", "+5\r\nhello\r\n", "8000000000000000\r\n", "5\r\nhel\r\n0\r\n\r\n",
             "ffffffffffffffff\r\nhello\r\n0\r\n\r\n", "5;\x01\r\nhello\r\n0\r\n\r\n"}) {
        post("Transfer-Encoding: chunked\r\n", chunk);
    }
    for (std::string_view const line : {"GET /acct/Orders HTTP/0.9", "GET /acct/Orders HTTP/1.2",
             "GET /acct/Orders HTTP/9.9", "GET /acct/Orders HTTP/2.0", "GET /acct/Orders http/1.1", "GET /acct/Orders",
             "GET  /acct/Orders HTTP/1.1", "GET /acct/Orders  HTTP/1.1", "GET\t/acct/Orders\tHTTP/1.1",
             " GET /acct/Orders HTTP/1.1", "GE\x01T / HTTP/1.1", "CONNECT h:443 HTTP/1.1", "TRACE / HTTP/1.1",
             "BREW / HTTP/1.1", "get /acct/Orders HTTP/1.1", "GET acct/Orders HTTP/1.1",
             "GET ftp://h/acct/Orders HTTP/1.1", "GET * HTTP/1.1", "GET /acct/Orders\x01 HTTP/1.1", "GET HTTP/1.1",
             "PRI * HTTP/2.0", "GET https://h/acct/Orders HTTP/1.1", "GET //h@/ HTTP/1.1"}) {
        made.push_back({joined({line, "\r\nHost: h\r\nAuthorization: Bearer t\r\n\r\n"}), "4-5"});
    }
    for (std::string_view const host : {"h/..", "h?x", "h#x", "a@b", "h\\x", "", "h h"}) {
        made.push_back(
            {joined({"GET /acct/Orders HTTP/1.1\r\nHost: ", host, "\r\nAuthorization: Bearer t\r\n\r\n"}), "24-"});
    }
    made.push_back({"GET /acct/Orders HTTP/1.1\r\nAuthorization: Bearer t\r\n\r\n", "4"});
    made.push_back({"\x16\x03\x01\x02", "-4"});
    made.push_back({std::string(4, '\0'), "-4"});
    made.push_back({joined({"GET / HTTP/1.1\r\nHost: h\r\nX: ", std::string(40'000, 'x'), "\r\n\r\n"}), "4"});
    std::string many = "GET / HTTP/1.1\r\nHost: h\r\n";
    for (int number = 0; number < 5'000; ++number) { many += "X: y\r\n"; }
    made.push_back({many + "\r\n", "4"});
    made.push_back({joined({"GET /", std::string(33'000, 'a'), " HTTP/1.1\r\nHost: h\r\n\r\n"}), "4"});
    return made;
}

/// Addresses and keys.
std::vector<form> address_forms() {
    std::vector<form> made;
    for (std::string_view const path :
        {"/", "//", "/acct", "/acct/", "/acct//Orders", "/acct/./Orders", "/acct/../acct/Orders", "/other/Orders",
            "/ACCT/Orders", "/acct/Orders/x", "/acct/Orders%2F", "/acct/Orders%00", "/acct/%0d%0aX:y",
            "/acct/Or%2564ers", "/acct/Orders%", "/acct/Orders%2", "/acct/Orders%GG", "/acct/Orders(", "/acct/Orders)",
            "/acct/Orders(PartitionKey='p')", "/acct/Orders(PartitionKey='p',RowKey='1'",
            "/acct/Orders(PartitionKey='p',RowKey='1'))", "/acct/Orders(RowKey='1',PartitionKey='p',RowKey='1')",
            "/acct/Orders(PartitionKey='p',RowKey='1)", "/acct/Orders(PartitionKey=p,RowKey=1)",
            "/acct/Orders(PartitionKey='',RowKey='')", "/acct/Orders(PartitionKey='p''',RowKey='1')",
            "/acct/Orders(PartitionKey='%2F',RowKey='1')", "/acct/Orders(PartitionKey='%23',RowKey='1')",
            "/acct/Orders(PartitionKey='%3F',RowKey='1')", "/acct/Orders(PartitionKey='%5C',RowKey='1')",
            "/acct/Orders(PartitionKey='%7F',RowKey='1')", "/acct/Orders(PartitionKey='%C2%80',RowKey='1')",
            "/acct/Orders(PartitionKey='%C2%9F',RowKey='1')", "/acct/Orders(PartitionKey='%ED%A0%80',RowKey='1')",
            "/acct/Orders(PartitionKey='%C0%80',RowKey='1')", "/acct/Orders(PartitionKey='%F5%80%80%80',RowKey='1')",
            "/acct/Orders(PartitionKey='%FF',RowKey='1')", "/acct/Orders(PartitionKey='%00',RowKey='1')",
            "/acct/Orders(PartitionKey='%0A',RowKey='1')", "/acct/$batch", "/acct/$metadata", "/acct/Tables('Orders')",
            "/acct/Tables('')", "/acct/Tables(Orders)", "/acct/Tables('Orders'", "/acct/EntitableServiceSettings",
            "/acct/entitableservicesettings", "/acct/1bad", "/acct/ab", "/acct/Orders?comp=acl&comp=acl",
            "/acct/Orders?comp=unknown", "/acct/?comp=stats", "/acct/?restype=service",
            "/acct/?restype=service&comp=properties", "/acct/Orders?timeout=0", "/acct/Orders?timeout=x",
            "/acct/Orders?timeout=99999999999999", "/acct-secondary/Orders", "/acct-secondary-secondary/Orders"}) {
        made.push_back({request_of(joined({"GET ", path})), "245"});
        made.push_back(
            {request_of(joined({"DELETE ", path, path.find("Orders") == std::string_view::npos ? "x" : "/x"}),
                 "If-Match: *\r\n"),
                "45"});
    }
    std::string long_key(1'025, 'k');
    made.push_back({request_of(joined({"GET /acct/Orders(PartitionKey='", long_key, "',RowKey='1')"})), "4"});
    return made;
}

/// Queries and their options.
std::vector<form> query_forms() {
    std::vector<form> made;
    std::string const deep(2'000, '(');
    std::string comparisons = "N eq 1";
    for (int number = 0; number < 600; ++number) { comparisons += " or N eq 1"; }
    std::vector<std::string> filters{deep, deep + "N eq 1", comparisons, "N eq", "eq", "N eq 1 and", "not",
        "not not not", "N eq 99999999999999999999", "N eq 1e999", "N eq -", "N eq datetime'2026-02-30T00:00:00Z'",
        "N eq datetime'x'", "N eq guid'x'", "N eq X'0'", "N eq binary'zz'", "N eq 'x", "N eq ''", "N eq 1L1",
        "N eq 1.0.0", "N ge 9223372036854775808L", "true", "1 eq 1", "N eq N", "startswith(N,'a')", "N add 1 eq 2",
        "N eq null", "PartitionKey eq 'p' and RowKey gt '~!' ", "N eq \"1\"", "N%20eq%201", "\x01", "\xff\xfe",
        "N/M eq 1", "$it eq 1", "N eq 1;", "N in (1,2)", "N eq 0x1"};
    for (std::string const& each : filters) {
        std::string encoded;
        for (char const character : each) {
            char piece[4];
            std::snprintf(piece, sizeof piece, "%%%02X", static_cast<unsigned>(static_cast<unsigned char>(character)));
            encoded += piece;
        }
        made.push_back({request_of(joined({"GET /acct/Orders?$filter=", encoded})), "245"});
    }
    for (std::string_view const option : {"$top=0", "$top=-1", "$top=1001", "$top=x", "$top=1&$top=2",
             "$top=", "$select=", "$select=,", "$select=*,N", "$select=%01", "$format=atom",
             "$format=application/json;odata=none", "$orderby=N", "$skip=1", "$count=true", "$expand=x",
             "$filter=", "$unknown=1", "%24top=1", "&&&&", "=", "NextPartitionKey=x", "NextPartitionKey=&NextRowKey=",
             "NextRowKey=x", "NextPartitionKey=1!8!cA--", "NextTableName=x", "NextPartitionKey=%00"}) {
        made.push_back({request_of(joined({"GET /acct/Orders?", option})), "245"});
    }
    return made;
}

/// Bodies of inserts.
std::vector<form> body_forms() {
    std::vector<form> made;
    auto const with_keys = [](std::string_view more) {
        return joined({R"({"PartitionKey":"q","RowKey":"r")", more, "}"});
    };
    std::string properties;
    for (int number = 0; number < 253; ++number) { properties += joined({",\"p", std::to_string(number), "\":1"}); }
    std::vector<std::string> bodies{"x", "null", "[]", "1", "\"text\"", "{", "{}", "}{", "{\"PartitionKey\":\"q\"}",
        with_keys(",\"a\":1,\"a\":2"), with_keys(R"(,"a":1,"\u0061":2)"), with_keys(",\"a\":1e400"),
        with_keys(",\"a\":{}"), with_keys(",\"a\":[1]"), with_keys(",\"a\":-"), with_keys(",\"a\":01"),
        with_keys(",\"a\":NaN"), with_keys(",\"a\":'x'"),
        with_keys(R"(,"a@odata.type":"Edm.Int64","a":"9223372036854775808")"),
        with_keys(R"(,"a@odata.type":"Edm.Int64","a":1)"),
        with_keys(R"(,"a@odata.type":"Edm.DateTime","a":"2026-02-30T00:00:00Z")"),
        with_keys(R"(,"a@odata.type":"Edm.Guid","a":"x")"), with_keys(R"(,"a@odata.type":"Edm.Binary","a":"*")"),
        with_keys(R"(,"a@odata.type":"Edm.Unknown","a":"x")"), with_keys(R"(,"a@odata.type":"Edm.Int32")"),
        with_keys(R"(,"a@odata.type":7,"a":7)"), with_keys(",\"\":1"),
        with_keys(joined({",\"", std::string(256, 'n'), "\":1"})), with_keys(properties),
        with_keys(joined({",\"a\":\"", std::string(70'000, 'x'), "\""})),
        joined({std::string(100'000, '['), std::string(100'000, ']')}),
        with_keys(joined({",\"a\":", std::string(100'000, '{')})), "\xef\xbb\xbf" + with_keys(""),
        with_keys("") + " garbage", with_keys("") + std::string(1, '\0'), with_keys(",\"a\":\"\xff\""),
        with_keys(R"(,"a":"\ud800")"), with_keys(",\"a\":\"\x01\""), with_keys(",\"a b\":1"),
        R"({"PartitionKey":1,"RowKey":"r"})", R"({"PartitionKey":"a/b","RowKey":"r"})",
        R"({"PartitionKey":"~!policies!","RowKey":"r"})", with_keys(R"(,"Timestamp":"x")"),
        with_keys(R"(,"odata.etag":7)")};
    for (std::string const& each : bodies) {
        made.push_back({request_of("POST /acct/Orders", {}, each), "24"});
        made.push_back({request_of("PUT /acct/Orders(PartitionKey='q',RowKey='r')", {}, each), "24"});
    }
    for (std::string_view const field :
        {"Content-Encoding: gzip\r\n", "Content-Type: text/plain\r\n", "Content-MD5: x\r\n",
            "X-HTTP-Method: DELETE\r\n", "X-HTTP-Method: BREW\r\n", "If-Match: \r\n", "If-Match: x\r\n",
            "If-None-Match: *\r\n", "Prefer: x\r\n", "Accept: text/html\r\n", "Authorization: Bearer u\r\n",
            "x-ms-version: x\r\n", "x-ms-version: 1999-01-01\r\n", "traceparent: x\r\n"}) {
        made.push_back({request_of("POST /acct/Orders", field, with_keys("")), "24"});
    }
    return made;
}

/// Senders without a key.
std::vector<form> sender_forms() {
    std::vector<form> made;
    for (std::string_view const who : {"", "Authorization: \r\n", "Authorization: Basic YTpi\r\n",
             "Authorization: SharedKey\r\n", "Authorization: SharedKey acct\r\n", "Authorization: SharedKey acct:\r\n",
             "Authorization: SharedKey acct:AAAA\r\n", "Authorization: SharedKey other:AAAA\r\n",
             "Authorization: SharedKeyLite acct:AAAA\r\n", "Authorization: sharedkey acct:AAAA\r\n",
             "Authorization: Bearer\r\n", "Authorization: bearer t\r\n",
             "Authorization: SharedKey acct:AAAA\r\nx-ms-date: x\r\n",
             "Authorization: Bearer t\r\nAuthorization: Bearer t\r\n", "X-Forwarded-For: 127.0.0.1\r\n"}) {
        made.push_back({joined({"GET /acct/Orders HTTP/1.1\r\nHost: h\r\n", who, "\r\n"}), "4"});
    }
    for (std::string_view const query : {"sig=", "sig=x", "sv=2019-02-02&tn=orders&sp=raud&se=2099-01-01&sig=AAAA",
             "sv=2019-02-02&tn=orders&sp=r&se=x&sig=AAAA", "sv=x&sig=x",
             "sv=2019-02-02&ss=t&srt=sco&sp=rwdlacu&se=2099-01-01&sig=AAAA",
             "sv=2019-02-02&si=policy&tn=orders&sig=AAAA", "sv=2019-02-02&si=policy&tn=other&sig=%00",
             "sig=AAAA&sig=BBBB", "sv=2099-01-01&tn=orders&sp=r&sig=A", "sp=r&sig=%FF%FE",
             "tn=orders&spk=a&srk=b&epk=c&erk=d&sig=A"}) {
        made.push_back({joined({"GET /acct/Orders?", query, " HTTP/1.1\r\nHost: h\r\n\r\n"}), "4"});
    }
    return made;
}

/// Sends a form, and returns what is wrong with the response; empty if nothing is.
std::string judge(std::uint16_t port, form const& sent) {
    raw_connection const by{port};
    if (!by.connected()) { return "no connection"; }
    by.send(sent.bytes);
    by.finish();
    std::string const got = by.read_all(20'000);
    bool const body_follows = sent.bytes.ends_with(smuggled);
    if (got.empty()) { return sent.allowed.find('-') == std::string_view::npos ? "no response" : ""; }
    if (!got.starts_with("HTTP/1.1 ")) { return "not a response: " + got.substr(0, 80); }
    if (got.compare(9, 3, "500") == 0 || sent.allowed.find(got[9]) == std::string_view::npos) {
        return got.substr(0, 400);
    }
    if (body_follows && (count_of(got, "HTTP/1.1 ") != 1 || got.find("Smuggled") != std::string::npos)) {
        return "a smuggled request was answered: " + got.substr(0, 400);
    }
    return {};
}

std::uint64_t draw(std::uint64_t& state) { // splitmix64
    std::uint64_t z = state += 0x9E3779B97F4A7C15U;
    z = (z ^ (z >> 30U)) * 0xBF58476D1CE4E5B9U;
    z = (z ^ (z >> 27U)) * 0x94D049BB133111EBU;
    return z ^ (z >> 31U);
}

/// Requests that are good, one of each kind.
std::vector<std::string> good_requests() {
    std::string const entity =
        R"({"PartitionKey":"q","RowKey":"r","N":1,"D@odata.type":"Edm.DateTime","D":"2026-01-01T00:00:00Z","B@odata.type":"Edm.Binary","B":"AAEC","L@odata.type":"Edm.Int64","L":"5","T":"text","F":1.5,"O":true})";
    std::string const batch =
        joined({"--b\r\nContent-Type: multipart/mixed; boundary=c\r\n\r\n--c\r\nContent-Type: "
                "application/http\r\nContent-Transfer-Encoding: binary\r\n\r\n"
                "POST http://h/acct/Orders HTTP/1.1\r\nContent-ID: 1\r\nContent-Type: application/json\r\nPrefer: "
                "return-no-content\r\nDataServiceVersion: 3.0;\r\n\r\n",
            entity,
            "\r\n--c\r\nContent-Type: application/http\r\nContent-Transfer-Encoding: binary\r\n\r\nDELETE "
            "http://h/acct/Orders(PartitionKey='q',RowKey='r') HTTP/1.1\r\nIf-Match: *\r\nContent-ID: "
            "2\r\n\r\n\r\n--c--\r\n--b--\r\n"});
    std::string const policy =
        "<?xml "
        "version=\"1.0\"?><SignedIdentifiers><SignedIdentifier><Id>one</Id><AccessPolicy><Start>2026-01-01T00:00:00Z</"
        "Start><Expiry>2027-01-01T00:00:00Z</Expiry><Permission>raud</Permission></AccessPolicy></SignedIdentifier></"
        "SignedIdentifiers>";
    std::string const settings =
        "<?xml "
        "version=\"1.0\"?><StorageServiceProperties><Logging><Version>1.0</Version><Delete>false</Delete><Read>false</"
        "Read><Write>false</Write><RetentionPolicy><Enabled>false</Enabled></RetentionPolicy></"
        "Logging><Cors><CorsRule><AllowedOrigins>*</AllowedOrigins><AllowedMethods>GET</"
        "AllowedMethods><MaxAgeInSeconds>5</MaxAgeInSeconds><ExposedHeaders>*</ExposedHeaders><AllowedHeaders>*</"
        "AllowedHeaders></CorsRule></Cors></StorageServiceProperties>";
    return {request_of("GET /acct/Tables"), request_of("GET /acct/Tables?$filter=TableName%20ge%20'a'&$top=5"),
        request_of("POST /acct/Tables", "Prefer: return-content\r\n", R"({"TableName":"Made"})"),
        request_of("DELETE /acct/Tables('Made')"),
        request_of("GET /acct/Orders(PartitionKey='p',RowKey='1')?$select=N,M"),
        request_of(
            "GET "
            "/acct/"
            "Orders?$filter=PartitionKey%20eq%20'p'%20and%20(N%20ge%205%20or%20not%20(N%20lt%2010L))&$top=3&$select=N"),
        request_of(
            "GET "
            "/acct/Orders?$filter=D%20gt%20datetime'2026-01-01T00:00:00Z'%20and%20B%20eq%20X'0001'&$format=application/"
            "json;odata=fullmetadata"),
        request_of("POST /acct/Orders", "Prefer: return-no-content\r\n", entity),
        request_of("PUT /acct/Orders(PartitionKey='q',RowKey='r')", "If-Match: *\r\n", entity),
        request_of("MERGE /acct/Orders(PartitionKey='q',RowKey='r')", {}, entity),
        request_of("PATCH /acct/Orders(PartitionKey='q',RowKey='r')", "If-Match: W/\"datetime'2026'\"\r\n", entity),
        request_of("POST /acct/Orders(PartitionKey='q',RowKey='r')", "X-HTTP-Method: MERGE\r\nIf-Match: *\r\n", entity),
        request_of("DELETE /acct/Orders(PartitionKey='q',RowKey='r')", "If-Match: *\r\n"),
        joined({"POST /acct/$batch HTTP/1.1\r\nHost: h\r\nAuthorization: Bearer t\r\nContent-Type: multipart/mixed; "
                "boundary=b\r\nContent-Length: ",
            std::to_string(batch.size()), "\r\n\r\n", batch}),
        request_of("PUT /acct/Orders?comp=acl", {}, policy), request_of("GET /acct/Orders?comp=acl"),
        request_of("PUT /acct/?restype=service&comp=properties", {}, settings),
        request_of("GET /acct/?restype=service&comp=properties"),
        request_of("GET /acct-secondary/?restype=service&comp=stats"),
        "OPTIONS /acct/Orders HTTP/1.1\r\nHost: h\r\nOrigin: http://a.example\r\nAccess-Control-Request-Method: "
        "GET\r\nAccess-Control-Request-Headers: x-ms-a\r\n\r\n",
        "POST /acct/Orders HTTP/1.1\r\nHost: h\r\nAuthorization: Bearer t\r\nContent-Type: "
        "application/json\r\nTransfer-Encoding: "
        "chunked\r\n\r\n1f\r\n{\"PartitionKey\":\"z\",\"RowKey\":\"c\r\n2\r\n\"}\r\n0\r\nX: y\r\n\r\n",
        "GET "
        "/acct/"
        "Orders?sv=2019-02-02&tn=orders&sp=r&st=2026-01-01&se=2099-01-01&spr=https,http&sip=127.0.0.1&sig=AAAAAAAA "
        "HTTP/1.1\r\nHost: h\r\nx-ms-version: 2019-02-02\r\n\r\n",
        "GET /acct/Orders HTTP/1.1\r\nHost: h\r\nx-ms-date: Thu, 01 Jan 2026 00:00:00 GMT\r\nAuthorization: "
        "SharedKeyLite acct:AAAAAAAAAAAAAAAA\r\n\r\n"};
}

/// Sets the announced length to that of the body.
std::string with_right_length(std::string text) {
    constexpr std::string_view name = "Content-Length: ";
    std::size_t const end = text.find("\r\n\r\n");
    std::size_t const at = text.find(name);
    if (end == std::string::npos || at == std::string::npos || at > end) { return text; }
    std::size_t const digits = at + name.size();
    std::size_t const line_end = text.find("\r\n", digits);
    return text.replace(digits, line_end - digits, std::to_string(text.size() - end - 4));
}

/// Changes a request in one to six places, mostly in one. In half of them the announced length is right.
std::string mutated(std::string text, std::vector<std::string> const& others, std::uint64_t& state) {
    static constexpr std::string_view pieces[] = {"\r\n", "\n", "\r", std::string_view{"\0", 1}, "'", "''", "\"", "(",
        ")", "%00", "%27", "%", "&", "=", ",", ";", ":", " ", "{", "}", "[", "]", "--", "--b", "--c--", "0", "-1",
        "99999999999999999999", "1e400", "\xff", "\xed\xa0\x80", "\xef\xbb\xbf", "$filter=", " eq ", " and ", "not ",
        "datetime'", "guid'", "X'", "null", "true", "Content-Length: 3\r\n", "Transfer-Encoding: chunked\r\n",
        "Host: h\r\n", "\r\n\r\n", "Edm.Int64", "@odata.type", "PartitionKey", "RowKey", "Timestamp", "<", ">", "</",
        "<!DOCTYPE a>", "&lt;", "&#0;", "~!", "/", "..", "?", "#", "*", "W/\"x\"", "HTTP/1.0"};
    std::size_t const changes = draw(state) % 2 == 0 ? 1 : 1 + draw(state) % 6;
    for (std::size_t change = 0; change < changes; ++change) {
        std::size_t const at = draw(state) % (text.size() + 1);
        std::size_t const length = draw(state) % (draw(state) % 4 == 0 ? 200 : 8) + 1;
        switch (draw(state) % 9) {
            case 0:
                if (at < text.size()) { text[at] = static_cast<char>(draw(state)); }
                break;
            case 1:
                if (at < text.size()) {
                    text[at] = static_cast<char>(static_cast<unsigned char>(text[at]) ^ (1U << draw(state) % 8));
                }
                break;
            case 2: text.erase((std::min)(at, text.size()), length); break;
            case 3: text.insert(at, text.substr(at, length)); break;
            case 4:
            case 5: text.insert(at, pieces[draw(state) % std::size(pieces)]); break;
            case 6: text.replace(at, length, pieces[draw(state) % std::size(pieces)]); break;
            case 7: { // the beginning of one request, and the end of another
                std::string const& other = others[draw(state) % others.size()];
                text = text.substr(0, at) + other.substr(draw(state) % (other.size() + 1));
                break;
            }
            default:
                if (draw(state) % 4 == 0) { text.resize(at); }
                break;
        }
        if (text.size() > 20'000) { text.resize(20'000); }
    }
    return draw(state) % 2 == 0 ? with_right_length(std::move(text)) : text;
}

std::size_t number_in(char const* variable, std::size_t otherwise) {
    char const* const text = std::getenv(variable);
    return text == nullptr ? otherwise : static_cast<std::size_t>(std::strtoull(text, nullptr, 10));
}

/// The bytes that a peer sends, in pieces, and those that it gets. A stream of a session, without a socket.
class scripted_stream {
public:
    using executor_type = detail::session_executor;

    scripted_stream(executor_type executor, std::string_view sent, std::size_t piece, std::string& got)
        : executor_(std::move(executor)), sent_(sent), piece_((std::max)(piece, std::size_t{1})), got_(&got) {}
    [[nodiscard]] executor_type get_executor() const noexcept { return executor_; }

    template <class Buffers, class Handler>
    void async_read_some(Buffers const& into, Handler&& handler) {
        std::size_t const size = boost::asio::buffer_copy(into, boost::asio::buffer(sent_.substr(0, piece_)));
        sent_.remove_prefix(size);
        boost::system::error_code const problem =
            size == 0 ? boost::system::error_code{boost::asio::error::eof} : boost::system::error_code{};
        boost::asio::post(
            executor_, [problem, size, handler = std::forward<Handler>(handler)]() mutable { handler(problem, size); });
    }
    template <class Buffers, class Handler>
    void async_write_some(Buffers const& from, Handler&& handler) {
        std::size_t const size = boost::asio::buffer_size(from);
        std::size_t const before = got_->size();
        got_->resize(before + size);
        boost::asio::buffer_copy(boost::asio::buffer(got_->data() + before, size), from);
        boost::asio::post(executor_,
            [size, handler = std::forward<Handler>(handler)]() mutable { handler(boost::system::error_code{}, size); });
    }

private:
    executor_type executor_;
    std::string_view sent_;
    std::size_t piece_;
    std::string* got_;
};

/// What a session takes as its stream: the script, and a socket that was never connected.
class scripted_connection {
public:
    static constexpr bool encrypted = false;
    scripted_connection(boost::asio::io_context& context, std::string_view sent, std::size_t piece, std::string& got)
        : transport_(boost::asio::make_strand(context)), data_(transport_.get_executor(), sent, piece, got) {}
    [[nodiscard]] detail::socket_stream& transport() noexcept { return transport_; }
    [[nodiscard]] scripted_stream& data() noexcept { return data_; }

private:
    detail::socket_stream transport_;
    scripted_stream data_;
};

/// The listener of sessions without sockets.
class lone_owner final : public detail::session_owner {
public:
    explicit lone_owner(table_server server) : server_(std::move(server)) {}
    [[nodiscard]] listener_options const& options() const noexcept override { return options_; }
    [[nodiscard]] detail::listener_counts& counts() noexcept override { return counts_; }
    [[nodiscard]] bool stopping() const noexcept override { return false; }
    [[nodiscard]] detail::body_budget& bodies() noexcept override { return bodies_; }
    [[nodiscard]] http_response answer(bool, http_request const& request, request_sender const& from) override {
        return server_.answer(request, from);
    }
    [[nodiscard]] std::optional<http_response> refusal(
        bool, http_request const& head, std::uint64_t body_size, request_sender const& from) override {
        return server_.refusal(head, body_size, from);
    }
    void closed(detail::listener_session*) noexcept override { open_.fetch_sub(1); }
    void opened() noexcept { open_.fetch_add(1); }
    [[nodiscard]] int open() const noexcept { return open_.load(); }

private:
    table_server server_;
    listener_options options_;
    detail::listener_counts counts_;
    detail::body_budget bodies_{options_.max_body_bytes};
    std::atomic<int> open_{0};
};

/// Everything that a session of `served` answers to these bytes and their end. Each thread has one loop for all its requests.
std::string answer_without_sockets(lone_owner& served, std::string_view sent, std::size_t piece) {
    std::string got;
    thread_local boost::asio::io_context context{1};
    context.restart();
    std::shared_ptr<detail::session_owner> const owner{std::shared_ptr<void>{}, &served};
    served.opened();
    std::make_shared<detail::http_session<scripted_connection>>(
        owner, scripted_connection{context, sent, piece, got}, false)
        ->start();
    context.run();
    return got;
}

/// Sends this number of mutated requests from three threads, and checks the responses. `send` returns false if there was no connection.
template <class Send>
void send_mutated(std::vector<std::string> const& good, std::size_t usual, Send const& send) {
    std::size_t const wanted = number_in("ENTITABLE_MUTATED", usual);
    std::size_t const first = number_in("ENTITABLE_FIRST", 0);
    std::uint64_t const seed = number_in("ENTITABLE_SEED", 1);
    std::atomic<std::size_t> answered[6]{};
    std::atomic<std::size_t> closed{0};
    constexpr std::size_t senders = 3;
    std::vector<std::string> wrong[senders];
    std::vector<std::thread> threads;
    for (std::size_t sender = 0; sender < senders; ++sender) {
        threads.emplace_back([&, sender] {
            for (std::size_t number = first + sender; number < first + wanted && wrong[sender].size() < 5;
                number += senders) {
                std::uint64_t state = seed * 0x100000001B3U + number;
                std::string const sent = mutated(good[draw(state) % good.size()], good, state);
                std::string got;
                if (!send(sent, got)) {
                    wrong[sender].push_back("no connection");
                } else if (got.empty()) {
                    ++closed;
                } else if (!got.starts_with("HTTP/1.1 ") || got.size() < 12 || got[9] < '1' || got[9] > '5' ||
                    got.find("HTTP/1.1 500") != std::string::npos) {
                    wrong[sender].push_back(
                        joined({"number ", std::to_string(number), ": ", sent, "\n--> ", got.substr(0, 300)}));
                } else {
                    ++answered[got[9] - '0'];
                }
            }
        });
    }
    for (std::thread& each : threads) { each.join(); }
    for (auto const& list : wrong) {
        for (std::string const& each : list) { FAIL_CHECK("seed " << seed << ", " << each.substr(0, 3'000)); }
    }
    std::printf("%zu mutated requests from %zu of seed %llu: %zu 1xx, %zu 2xx, %zu 4xx, %zu 5xx, %zu closed\n", wanted,
        first, static_cast<unsigned long long>(seed), answered[1].load(), answered[2].load(), answered[4].load(),
        answered[5].load(), closed.load());
    CHECK(answered[2] > wanted / 20); // otherwise the mutations would try the first check alone
}

} // namespace

TEST_CASE("hostile: forms of framing, addresses, queries, bodies and senders get the response of their kind") {
    listening const local{trusting_server(), patient()};
    std::size_t tried = 0;
    for (auto const& forms : {framing_forms(), address_forms(), query_forms(), body_forms(), sender_forms()}) {
        for (form const& each : forms) {
            std::string const wrong = judge(local.port(), each);
            ++tried;
            if (!wrong.empty()) { FAIL_CHECK(each.bytes.substr(0, 300) << "\n--> " << wrong); }
        }
    }
    std::printf("%zu hostile forms\n", tried);
    CHECK(tried >= 325);
    CHECK(answer_to(local.port(), request_of("GET /acct/Tables")).starts_with("HTTP/1.1 200"));
}

TEST_CASE("hostile: mutated requests never get a 500, and the server still serves") {
    listening const local{trusting_server(), patient()};
    auto const good = good_requests();
    for (std::string const& each : good) { CHECK_FALSE(answer_to(local.port(), each).starts_with("HTTP/1.1 400")); }
    send_mutated(good, rounds(1'500, 30'000), [&](std::string const& sent, std::string& got) {
        raw_connection const by{local.port()};
        if (!by.connected()) { return false; }
        by.send(sent);
        by.finish();
        got = by.read_all(30'000);
        return true;
    });
    CHECK(answer_to(local.port(), request_of("GET /acct/Tables")).starts_with("HTTP/1.1 200"));
}

TEST_CASE("hostile: without sockets the same sessions take mutated requests, in pieces of every size") {
    lone_owner served{trusting_server()};
    auto const good = good_requests();
    for (std::string const& each : good) {
        std::string const whole = answer_without_sockets(served, each, each.size());
        CHECK(whole.starts_with("HTTP/1.1 "));
        CHECK_FALSE(whole.starts_with("HTTP/1.1 400"));
    }
    send_mutated(good, rounds(6'000, 1'000'000), [&](std::string const& sent, std::string& got) {
        std::size_t const pieces[] = {sent.size(), sent.size(), 1'024, 100, 7, 1};
        got = answer_without_sockets(served, sent, pieces[sent.size() % std::size(pieces)]);
        return true;
    });
    CHECK(served.open() == 0);
    CHECK(served.bodies().used() == 0);
}
