// SPDX-License-Identifier: MIT
// Copyright (c) 2026 the entitable authors

#include <entitable/cloud/http/detail/response_reader.hpp>

#include <support/catch.hpp>

#include <string>

using namespace entitable;
using namespace entitable_test;

namespace {

/// Reads header lines, each of which ends with "\n". Returns the error message, or "".
std::string refusal(detail::response_reader& reader, std::string_view lines) {
    while (!lines.empty()) {
        std::size_t const end = lines.find('\n') + 1;
        if (!reader.header_line(lines.substr(0, end))) { return std::string{reader.refusal()}; }
        lines.remove_prefix(end);
    }
    return {};
}

std::string refusal(std::string_view lines, http_method method = http_method::get, http_call const& call = {}) {
    detail::response_reader reader;
    reader.begin(method, call);
    return refusal(reader, lines);
}

} // namespace

TEST_CASE("a response is read") {
    detail::response_reader reader;
    reader.begin(http_method::get, {});
    CHECK(refusal(reader,
              "HTTP/1.1 100 Continue\r\nx-interim: 1\r\n\r\nHTTP/1.1 200\r\nETag: \"a: b\"\r\ncontent-length:3 "
              "\r\n\r\n") == "");
    CHECK(reader.has_header());
    CHECK(reader.body("ab"));
    CHECK(reader.body("c"));
    CHECK(reader.header_line("x-trailer: 1\r\n"));
    auto const response = reader.take();
    CHECK(response.status == 200);
    CHECK(response.body == "abc");
    CHECK(response.headers.size() == 2);
    CHECK(response.headers.find("etag") == "\"a: b\"");
    CHECK(response.body.capacity() >= 3 + http_response::padding);
}

TEST_CASE("the blanks around a value are not part of it") {
    detail::response_reader reader;
    reader.begin(http_method::get, {});
    CHECK(refusal(reader, "HTTP/1.1 200\r\na: 1\r\nb:2\r\nc:  3 \r\nd:\t4\t\r\ne: \r\nf:\r\ng: 7 7  \r\n") == "");
    CHECK(refusal(reader, "Content-Length: 0\r\n\r\n") == "");
    std::string listed;
    reader.take().headers.for_each([&](std::string_view name, std::string_view value) {
        listed.append(name).append("=").append(value).append(";");
    });
    CHECK(listed == "a=1;b=2;c=3;d=4;e=;f=;g=7 7;Content-Length=0;");
}

TEST_CASE("a reader can be used again") {
    detail::response_reader reader;
    reader.begin(http_method::get, {});
    CHECK(refusal(reader, "HTTP/1.1 200\r\nContent-Length: 1\r\nContent-Length: 1\r\n") == "it has two lengths");
    reader.begin(http_method::get, {});
    CHECK(refusal(reader, "HTTP/1.1 200\r\nContent-Length: 1\r\n\r\n") == "");
    CHECK(reader.body("x"));
    CHECK(reader.take().body == "x");
}

TEST_CASE("valid status lines are read, and invalid status lines are refused") {
    for (std::string const good : {"HTTP/1.1 200 OK", "HTTP/1.0 999 x", "HTTP/2 204 ", "HTTP/1.1 299"}) {
        CHECK(refusal(good + "\r\nContent-Length: 0\r\n\r\n") == "");
    }
    for (std::string const bad : {"", "HTTP/1.1", "HTTP/1.1 ", "HTTP/1.1 20", "HTTP/1.1 2000 OK", "HTTP/1.1 099 OK",
             "HTTP/1.1 -20 OK", "HTTP/1.1 99999999999", "HTTP/1.1 20x", "HTTP/1.1  200", "ICY 200 OK"}) {
        INFO(bad);
        CHECK(refusal(bad + "\r\n") == "its status line is malformed");
    }
    CHECK_THAT(refusal("HTTP/1.1 101 Switching\r\n"), ContainsSubstring("switches"));
}

TEST_CASE("contradictory or invalid body lengths are refused") {
    auto const with = [](std::string const& fields) { return refusal("HTTP/1.1 200 OK\r\n" + fields + "\r\n"); };
    CHECK(with("Content-Length: 5\r\n") == "");
    CHECK(with("Transfer-Encoding: chunked\r\n") == "");
    CHECK(with("Content-Length: 5\r\nContent-Length: 5\r\n") == "it has two lengths");
    CHECK(with("Content-Length: 5\r\nContent-Length: 6\r\n") == "it has two lengths");
    CHECK(with("Content-Length: 5\r\nTransfer-Encoding: chunked\r\n") == "it has two lengths");
    CHECK(with("Transfer-Encoding: chunked\r\nContent-Length: 5\r\n") == "it has two lengths");
    for (std::string const bad : {"-1", "+5", "5 5", "5,5", "0x5", "", "1e3", "99999999999999999999"}) {
        CHECK(with("Content-Length: " + bad + "\r\n") == "its Content-Length is not a number");
    }
    for (std::string const bad : {"gzip", "gzip, chunked", "chunked, chunked", "identity", ""}) {
        CHECK(with("Transfer-Encoding: " + bad + "\r\n") == "its Transfer-Encoding must be chunked");
    }
    CHECK(with("Transfer-Encoding: chunked\r\nTransfer-Encoding: chunked\r\n") ==
        "its Transfer-Encoding must be chunked");
    CHECK(with("") == "it lacks the length of the body");
    CHECK(refusal("HTTP/1.1 302 Found\r\n\r\n") == "it lacks the length of the body");
    CHECK(refusal("HTTP/1.1 399 ?\r\n\r\n") == "it lacks the length of the body");
    CHECK(refusal("HTTP/1.1 400 Bad\r\n\r\n") == "");
    CHECK(refusal("HTTP/1.0 503 Busy\r\n\r\n") == "");
    CHECK(refusal("HTTP/1.1 204 No Content\r\n\r\n") == "");
    CHECK(refusal("HTTP/1.1 304 Not Modified\r\n\r\n") == "");
    CHECK(refusal("HTTP/1.1 200 OK\r\n\r\n", http_method::head) == "");
    CHECK(refusal("HTTP/2 200\r\n\r\n") == "");
}

TEST_CASE("encoded bodies and malformed fields are refused") {
    auto const with = [](std::string const& field) {
        return refusal("HTTP/1.1 200 OK\r\nContent-Length: 5\r\n" + field + "\r\n\r\n");
    };
    CHECK(with("Content-Encoding: gzip") == "its body has a content encoding that the request does not accept");
    CHECK(with("content-encoding: br") == "its body has a content encoding that the request does not accept");
    CHECK(with("Content-Encoding: identity") == "");
    for (std::string const bad : {"no colon", " folded: x", "\tfolded", "na me: x", ": x", "name : x"}) {
        CHECK(with(bad) == "it has a malformed header field");
    }
    CHECK(with(std::string("a: b\0c", 6)) == "it has a malformed header field");
    CHECK(with("a: b\rc: d") == "it has a malformed header field");
}

TEST_CASE("limits of status, header and body are enforced") {
    http_call call;
    call.max_header_size = 100;
    call.max_header_count = 3;
    call.max_body_size = 10;
    std::string const begin = "HTTP/1.1 200 OK\r\n"; // 17 bytes
    CHECK(refusal(begin + "a: " + std::string(78, 'x') + "\r\n", http_method::get, call) == "");
    CHECK_THAT(refusal(begin + "a: " + std::string(79, 'x') + "\r\n", http_method::get, call),
        ContainsSubstring("header exceeds"));
    CHECK(refusal(begin + "a: 1\r\nb: 2\r\nc: 3\r\n", http_method::get, call) == "");
    CHECK_THAT(refusal(begin + "a: 1\r\nb: 2\r\nc: 3\r\nd: 4\r\n", http_method::get, call),
        ContainsSubstring("more header fields"));
    std::string interim;
    for (int count = 0; count < 10; ++count) { interim += "HTTP/1.1 100 C\r\n\r\n"; }
    CHECK_THAT(refusal(interim, http_method::get, call), ContainsSubstring("header exceeds"));
    CHECK(refusal(begin + "Content-Length: 10\r\n\r\n", http_method::get, call) == "");
    CHECK_THAT(
        refusal(begin + "Content-Length: 11\r\n\r\n", http_method::get, call), ContainsSubstring("body exceeds"));
    detail::response_reader reader;
    reader.begin(http_method::get, call);
    CHECK(refusal(reader, begin + "Transfer-Encoding: chunked\r\n\r\n") == "");
    CHECK(reader.body("0123456789"));
    CHECK_FALSE(reader.body("x"));
}

TEST_CASE("memory grows with the received bytes and not with the announced length, up to the limit") {
    http_call call;
    call.max_body_size = 8 * 1024 * 1024;
    detail::response_reader reader;
    reader.begin(http_method::get, call);
    CHECK(refusal(reader, "HTTP/1.1 200 OK\r\nContent-Length: 8388608\r\n\r\n") == "");
    CHECK(reader.take().body.capacity() <= 1024 * 1024 + 2 * http_response::padding);

    reader.begin(http_method::get, call);
    CHECK(refusal(reader, "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n") == "");
    std::string const piece(100'000, 'x');
    for (int count = 0; count < 83; ++count) { REQUIRE(reader.body(piece)); }
    CHECK_FALSE(reader.body(piece));
    CHECK(reader.take().body.capacity() <= 2 * call.max_body_size);
}

TEST_CASE("the header of an error response counts, even if its body is broken") {
    http_call call;
    call.max_body_size = 10;
    call.max_header_size = 200;
    detail::response_reader reader;
    auto const begin = [&](std::string const& fields, std::string const& status = "403 Forbidden") {
        reader.begin(http_method::post, call);
        return refusal(reader, "HTTP/1.1 " + status + "\r\nx-ms-error-code: X\r\n" + fields + "\r\n");
    };
    CHECK(begin("") == "");
    CHECK(reader.counts_as_it_is());
    CHECK(reader.body("01234"));
    CHECK(reader.take().body == "01234");
    // larger than the call allows: the part received until then
    CHECK(begin("") == "");
    CHECK(reader.body("0123456789"));
    CHECK_FALSE(reader.body("x"));
    CHECK(reader.refusal() == "");
    CHECK(reader.counts_as_it_is());
    CHECK(reader.take().body == "0123456789");
    CHECK(begin("Content-Length: 11\r\n") == "");
    CHECK(reader.counts_as_it_is());
    // encoded: a body that cannot be read
    CHECK(begin("Content-Encoding: gzip\r\nContent-Length: 5\r\n") == "");
    CHECK(reader.counts_as_it_is());
    http_response const encoded = reader.take();
    CHECK(encoded.status == 403);
    CHECK(encoded.headers.find("x-ms-error-code") == "X");
    CHECK(encoded.body.empty());
    // endless trailers
    CHECK(begin("Transfer-Encoding: chunked\r\n") == "");
    CHECK_FALSE(reader.header_line("x: " + std::string(300, 'y')));
    CHECK(reader.counts_as_it_is());
    // an incomplete or contradictory header is not evidence
    reader.begin(http_method::get, call);
    CHECK(refusal(reader, "HTTP/1.1 403 Forbidden\r\na: b\r\n") == "");
    CHECK_FALSE(reader.counts_as_it_is());
    CHECK(begin("Content-Length: 5\r\nContent-Length: 5\r\n") == "it has two lengths");
    CHECK_FALSE(reader.counts_as_it_is());
    CHECK(begin("Content-Length: 5\r\nTransfer-Encoding: chunked\r\n") == "it has two lengths");
    CHECK_FALSE(reader.counts_as_it_is());
    CHECK(begin("Transfer-Encoding: gzip\r\n") == "its Transfer-Encoding must be chunked");
    CHECK_FALSE(reader.counts_as_it_is());
    CHECK(begin("bad\r\n") == "it has a malformed header field");
    CHECK_FALSE(reader.counts_as_it_is());
    // below 400 the body is the requested data
    for (std::string const status : {"200 OK", "206 Part", "302 Found", "399 ?"}) {
        CHECK(begin("Content-Encoding: gzip\r\nContent-Length: 5\r\n", status) ==
            "its body has a content encoding that the request does not accept");
        CHECK_FALSE(reader.counts_as_it_is());
        CHECK(begin("Content-Length: 11\r\n", status) == "its body exceeds the call's limit");
        CHECK_FALSE(reader.counts_as_it_is());
        CHECK(begin("Content-Length: 5\r\n", status) == "");
        CHECK_FALSE(reader.counts_as_it_is());
    }
}
