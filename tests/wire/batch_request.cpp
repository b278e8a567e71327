// SPDX-License-Identifier: MIT
// Copyright (c) 2026 the entitable authors

// Transactions as they arrive: what an operation repeats from the one before is not read again, and what differs is.

#include <entitable/cloud/wire/detail/batch_request.hpp>

#include <support/catch.hpp>

#include <string>
#include <vector>

using namespace entitable;
using namespace entitable::detail;

namespace {

constexpr std::string_view usual = "Content-Type: application/http\r\n";

/// One operation: the fields around it, its request line, and its fields.
struct part {
    std::string_view envelope;
    std::string_view line;
    std::string_view fields;
};

std::string body_of(std::vector<part> const& parts) {
    std::string made = "--b\r\nContent-Type: multipart/mixed; boundary=c\r\n\r\n";
    for (part const& each : parts) {
        made.append("--c\r\n").append(each.envelope).append("\r\n").append(each.line).append("\r\n");
        made.append(each.fields).append("\r\n{}\r\n");
    }
    return made + "--c--\r\n--b--\r\n";
}

result<sent_batch> read(std::string const& body) { return read_batch("multipart/mixed; boundary=b", body, 100); }

} // namespace

TEST_CASE("batch_request: operations that repeat fields, and operations that do not") {
    std::string const body = body_of({{usual, "PUT /a HTTP/1.1", "If-Match: *\r\n"},
        {usual, "PUT /b HTTP/1.1", "If-Match: *\r\n"}, {usual, "DELETE /c HTTP/1.1", "If-Match: *\r\n"},
        {"content-type: Application/HTTP; msgtype=request\r\nContent-ID: 7\r\n", "PATCH /d HTTP/1.1", ""},
        {usual, "PATCH /e HTTP/1.1", "If-Match: W/\"x\"\r\n"}});
    auto const made = read(body);
    REQUIRE(made);
    REQUIRE(made->operations.size() == 5);
    constexpr http_method methods[] = {
        http_method::put, http_method::put, http_method::delete_, http_method::patch, http_method::patch};
    for (std::size_t index = 0; index < 5; ++index) {
        CAPTURE(index);
        sent_operation const& each = made->operations[index];
        CHECK(each.method == methods[index]);
        CHECK(each.url == std::string{'/', static_cast<char>('a' + index)});
        CHECK(each.content_id == (index == 3 ? "7" : ""));
        CHECK(each.fields.if_match.value_or("none") == (index == 3 ? "none" : index == 4 ? "W/\"x\"" : "*"));
        CHECK(each.body == "{}");
    }
}

TEST_CASE("batch_request: each operation has a method and is a request") {
    part const good{usual, "GET /a HTTP/1.1", ""};
    CHECK(read(body_of({good, good})));
    for (std::string_view const line : {" /a HTTP/1.1", "GETS /a HTTP/1.1", "GE /a HTTP/1.1", "get /a HTTP/1.1",
             "GET HTTP/1.1", "GET /a", "/a", "GET /a HTTP/2", ""}) {
        CAPTURE(line);
        CHECK_FALSE(read(body_of({{usual, line, ""}})));
        CHECK_FALSE(read(body_of({good, {usual, line, ""}})));
        CHECK_FALSE(read(body_of({good, {usual, line, ""}, good})));
    }
    for (std::string_view const envelope : {"", "Content-Type: text/plain\r\n", "Content-Type: application/httpx\r\n",
             "Content-ID: 1\r\n", "Content-Type : application/http\r\n"}) {
        CAPTURE(envelope);
        CHECK_FALSE(read(body_of({{envelope, "GET /a HTTP/1.1", ""}})));
        CHECK_FALSE(read(body_of({good, {envelope, "GET /a HTTP/1.1", ""}})));
    }
}
