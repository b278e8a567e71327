// SPDX-License-Identifier: MIT
// Copyright (c) 2026 the entitable authors

#include <entitable/cloud/http/curl_client.hpp>

#include <http/requests.hpp>
#include <http/server.hpp>
#include <support/catch.hpp>

using namespace entitable;
using namespace entitable_test;
using std::chrono::milliseconds;

namespace {

constexpr std::string_view whole = "HTTP/1.1 200 OK\r\nContent-Length: 20\r\n\r\n0123456789abcdefghij";
constexpr std::string_view half = whole.substr(0, whole.size() - 10);
constexpr std::string_view whole_chunked =
    "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\na\r\n0123456789\r\na\r\nabcdefghij\r\n0\r\n\r\n";
constexpr std::string_view half_chunked = whole_chunked.substr(0, 62);

http_call small_call() {
    auto call = a_call(milliseconds{400});
    call.max_body_size = 1024 * 1024;
    call.max_header_size = 16 * 1024;
    return call;
}

/// The error of a POST whose response is `text`, after which the server closes the connection.
entitable::error error_after(std::string const& text) {
    server const local{each_request([&](peer& client, std::string const&) {
        client.write(text);
        client.cut();
    })};
    result<http_response> response = failure{error_code::internal_error, ""};
    CHECK(time_of_work([&] {
        response = curl_client{}.send(a_request(local.origin() + "/", http_method::post), small_call());
    }) < milliseconds{350});
    INFO(text.substr(0, 200));
    REQUIRE_FALSE(response);
    CHECK(response.error().code == error_code::transport_failed);
    CHECK(response.error().effect == effect::unknown);
    return response.error();
}

} // namespace

TEST_CASE("a response that is cut off at any point is an error") {
    enum class ending { wait, fin, rst };
    std::string_view text;
    ending how{};
    server const local{each_request([&](peer& client, std::string const&) {
        client.write(text);
        switch (how) {
            case ending::wait: client.hang(); break;
            case ending::fin: client.cut(); break;
            case ending::rst: client.reset(); break;
        }
    })};
    curl_client const client;
    for (auto const method : {http_method::get, http_method::post}) {
        for (std::string_view const sent :
            {std::string_view{}, half.substr(0, 12), half.substr(0, 30), half, half_chunked}) {
            for (auto const ended : {ending::wait, ending::fin, ending::rst}) {
                text = sent;
                how = ended;
                INFO(to_string(method) << " " << sent << " " << static_cast<int>(ended));
                auto const response = client.send(a_request(local.origin() + "/", method), a_call(milliseconds{60}));
                REQUIRE_FALSE(response);
                CHECK(response.error().code ==
                    (ended == ending::wait ? error_code::deadline_exceeded : error_code::transport_failed));
                CHECK(response.error().effect == effect::unknown);
            }
        }
        // the response was complete: later events on the connection do not matter
        for (std::string_view const sent : {whole, whole_chunked}) {
            for (auto const ended : {ending::wait, ending::fin}) {
                text = sent;
                how = ended;
                auto const response = curl_client{}.send(a_request(local.origin() + "/", method), a_call());
                REQUIRE(response);
                CHECK(response->body == "0123456789abcdefghij");
            }
        }
    }
}

TEST_CASE("an error response keeps its status and fields if its body is cut off, has no length or never ends") {
    constexpr std::string_view begin = " 429 Busy\r\nRetry-After: 5\r\n";
    auto const check = [&](result<http_response> const& response) {
        REQUIRE(response);
        CHECK(response->status == 429);
        CHECK(response->headers.find("Retry-After") == "5");
    };
    for (std::string const version : {"HTTP/1.0", "HTTP/1.1"}) {
        for (std::string const fields : {"", "Content-Length: 20\r\n", "Connection: close\r\n",
                 "Transfer-Encoding: chunked\r\n", "Content-Encoding: gzip\r\nContent-Length: 20\r\n"}) {
            for (bool const reset : {false, true}) {
                bool const chunked = fields.find("chunked") != std::string::npos;
                bool const encoded = fields.find("gzip") != std::string::npos;
                INFO(version << fields << reset);
                server const local{each_request([&](peer& client, std::string const&) {
                    client.write(version + std::string{begin} + fields + "\r\n" +
                        (chunked ? "a\r\n0123456789\r\n" : "0123456789"));
                    if (reset) {
                        client.pause(milliseconds{30}); // so that the client has read what arrived
                        client.reset();
                    } else {
                        client.cut();
                    }
                })};
                auto const response = curl_client{}.send(a_request(local.origin() + "/", http_method::post), a_call());
                if (reset && !response) {
                    continue; // the reset overtook the response
                }
                check(response);
                CHECK((response->body == (encoded ? "" : "0123456789") || reset));
            }
        }
    }
    // one whose body never ends: at the end of the call, or of the attempt
    server const local{each_request([&](peer& client, std::string const&) {
        client.write("HTTP/1.1" + std::string{begin} + "\r\n0123456789");
        client.hang();
    })};
    for (bool const of_try : {false, true}) {
        result<http_response> response = failure{error_code::internal_error, ""};
        for (milliseconds limit{150}; !response && limit < milliseconds{5000};
            limit *= 3) { // a busy computer may need longer
            auto call = a_call(of_try ? milliseconds{10'000} : limit);
            call.request_timeout = of_try ? limit : milliseconds{0};
            response = curl_client{}.send(a_request(local.origin() + "/", http_method::post), call);
        }
        check(response);
        CHECK(response->body == "0123456789");
    }
    // a cancelled caller does not wait for a response
    cancellation_source stop;
    auto call = a_call();
    call.cancellation = stop.token();
    std::thread canceller{[&] {
        std::this_thread::sleep_for(milliseconds{50});
        stop.cancel();
    }};
    auto const cancelled = curl_client{}.send(a_request(local.origin() + "/", http_method::post), call);
    canceller.join();
    REQUIRE_FALSE(cancelled);
    CHECK(cancelled.error().code == error_code::cancelled);
    // an incomplete header is not evidence
    CHECK(error_after("HTTP/1.1" + std::string{begin}).effect == effect::unknown);
}

TEST_CASE("an endless error response is cut at the limit and is still an error") {
    server const local{each_request([](peer& client, std::string const&) {
        client.write("HTTP/1.0 503 Busy\r\n\r\n");
        while (client.write(std::string(65536, 'x'))) {}
    })};
    auto const response = curl_client{}.send(a_request(local.origin() + "/", http_method::post), small_call());
    REQUIRE(response);
    CHECK(response->status == 503);
    CHECK(response->body.size() <= small_call().max_body_size);
}

TEST_CASE("a response that is partial at the deadline does not reach the next request on the connection") {
    server const local{each_request([](peer& client, std::string const&) { client.write(half); })};
    auto const response = curl_client{}.send(a_request(local.origin() + "/"), a_call(milliseconds{60}));
    REQUIRE_FALSE(response);
    CHECK(response.error().code == error_code::deadline_exceeded);
}

TEST_CASE("lengths that are wrong, contradictory or invalid are refused") {
    for (std::string const fields : {"Content-Length: 30\r\n", "Content-Length: 20\r\nContent-Length: 20\r\n",
             "Content-Length: 5\r\nContent-Length: 20\r\n", "Content-Length: -1\r\n", "Content-Length: 20x\r\n",
             "Content-Length: 18446744073709551636\r\n", "Content-Length: 1073741824\r\n",
             "Content-Length: 20\r\nTransfer-Encoding: chunked\r\n",
             "Transfer-Encoding: chunked\r\nContent-Length: 20\r\n", "Transfer-Encoding: chunked, chunked\r\n",
             "Transfer-Encoding: gzip, chunked\r\n", ""}) {
        auto const problem = error_after("HTTP/1.1 200 OK\r\n" + fields + "\r\n0123456789abcdefghij");
        CHECK_FALSE(problem.message.empty());
    }
    // a length that is too small truncates the body, which its reader must notice; the rest is not mistaken for the
    // next response
    std::atomic<int> answered{0};
    server const local{each_request([&](peer& client, std::string const&) {
        ++answered;
        client.write(
            "HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\n01234HTTP/1.1 201 OK\r\nContent-Length: 6\r\n\r\nstolen");
    })};
    curl_client const client;
    for (int count = 0; count < 3; ++count) {
        auto const response = client.send(a_request(local.origin() + "/"), a_call());
        REQUIRE(response);
        CHECK(response->status == 200);
        CHECK(response->body == "01234");
    }
    CHECK(answered == 3);
}

TEST_CASE("invalid chunks are refused") {
    for (std::string const chunks : {"FFFFFFFFFFFFFFFF\r\nx", "FFFFFFFFFFFFFFFFF\r\nx", "-1\r\nx", "zz\r\nx",
             "3\r\nabcdef\r\n0\r\n\r\n", "3\r\nabc", "\r\n\r\n"}) {
        static_cast<void>(error_after("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n" + chunks));
    }
}

TEST_CASE("responses that are not HTTP are refused") {
    for (std::string const& text :
        {std::string{"\r\n\r\n"}, std::string{"garbage"}, std::string{"garbage\r\n\r\n"},
            std::string{"SSH-2.0-OpenSSH\r\n"}, std::string{"HTTP/1.1\r\n\r\n"}, std::string{"HTTP/9.9 200 OK\r\n\r\n"},
            std::string{"HTTP/1.1 99999999999 OK\r\nContent-Length: 0\r\n\r\n"}, std::string{"HTTP/1.1 20 OK\r\n\r\n"},
            std::string(1000, '\0'), std::string("\x16\x03\x01\x02\x00\x01\x00\x01\xFC\x03\x03", 11),
            std::string{"<html><body>200 OK</body></html>"}}) {
        static_cast<void>(error_after(text));
    }
    // a header with a NUL, a bare CR, no colon, a folded line
    for (std::string const& field : {std::string("a: b\0c", 6), std::string{"a: b\rc"}, std::string{"abc"},
             std::string{"a: b\r\n c"}, std::string{"a b: c"}}) {
        static_cast<void>(error_after("HTTP/1.1 200 OK\r\n" + field + "\r\nContent-Length: 0\r\n\r\n"));
    }
}

TEST_CASE("encoded bodies that were not requested are not decoded") {
    for (std::string const encoding : {"gzip", "deflate", "br", "zstd", "gzip, gzip"}) {
        auto const problem = error_after(
            "HTTP/1.1 200 OK\r\nContent-Length: 10\r\nContent-Encoding: " + encoding + "\r\n\r\n\x1F\x8B\x08......!");
        CHECK_THAT(problem.message, ContainsSubstring("encoding"));
    }
    CHECK_THAT(error_after("HTTP/1.1 200 OK\r\nTransfer-Encoding: gzip\r\n\r\n\x1F\x8B\x08......!").message,
        ContainsSubstring("Transfer-Encoding"));
}

TEST_CASE("endless responses are aborted at the limit") {
    std::atomic<std::size_t> written{0};
    std::string begin;
    std::string piece;
    server const local{each_request([&](peer& client, std::string const&) {
        client.write(begin);
        while (client.write(piece)) { written += piece.size(); }
    })};
    std::string words;
    SECTION("the body has a known length and never ends") {
        begin = "HTTP/1.1 200 OK\r\nContent-Length: 1073741824\r\n\r\n";
        piece.assign(65536, 'x');
        words = "body exceeds";
    }
    SECTION("the body is sent in chunks") {
        begin = "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n";
        piece = "10000\r\n" + std::string(65536, 'x') + "\r\n";
        words = "body exceeds";
    }
    SECTION("the header has too many fields") {
        begin = "HTTP/1.1 200 OK\r\n";
        piece = "x: y\r\n";
        words = "more header fields";
    }
    SECTION("the header has large fields") {
        begin = "HTTP/1.1 200 OK\r\n";
        piece = "x: " + std::string(2000, 'y') + "\r\n";
        words = "header exceeds";
    }
    SECTION("one header line never ends") {
        begin = "HTTP/1.1 200 OK\r\nx: ";
        piece.assign(4096, 'y');
        words = ""; // libcurl has a limit of its own for these
    }
    SECTION("interim responses never end") {
        piece = "HTTP/1.1 100 Continue\r\n\r\n";
        words = "header exceeds";
    }
    SECTION("the trailers never end") {
        begin = "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n";
        piece = "x: y\r\n";
        words = "header exceeds";
    }
    auto const response = curl_client{}.send(a_request(local.origin() + "/", http_method::post), small_call());
    REQUIRE_FALSE(response);
    CHECK(response.error().code == error_code::transport_failed);
    CHECK(response.error().effect == effect::unknown);
    CHECK_THAT(response.error().message, ContainsSubstring(words));
    CHECK(written < 16 * 1024 * 1024); // the bytes that the sockets buffered in the meantime
}

TEST_CASE("endless header lines that arrive byte by byte are aborted") {
    server const local{each_request([](peer& client, std::string const&) {
        client.write("HTTP/1.1 200 OK\r\n");
        while (client.write("x") && client.pause(milliseconds{5})) {}
    })};
    auto const response = curl_client{}.send(a_request(local.origin() + "/"), a_call(milliseconds{100}));
    REQUIRE_FALSE(response);
    CHECK(response.error().code == error_code::deadline_exceeded);
}

TEST_CASE("interim responses before the final response are harmless") {
    server const local{each_request([](peer& client, std::string const&) {
        client.write("HTTP/1.1 100 Continue\r\nx: interim\r\n\r\nHTTP/1.1 103 Hints\r\n\r\n");
        client.answer("x", "201 Created", "x: final\r\n");
    })};
    curl_client const client;
    for (int count = 0; count < 2; ++count) {
        auto const response = client.send(a_request(local.origin() + "/", http_method::put, "body"), a_call());
        REQUIRE(response);
        CHECK(response->status == 201);
        CHECK(response->headers.find("x") == "final");
        CHECK(response->headers.count("x") == 1);
    }
    CHECK(local.connections() == 1);
}

TEST_CASE("a response that arrives before the request is complete is read to its end") {
    // Responds once it has the header, and reads on: a client that continues to send still gets the response.
    server const local{[](peer& client) {
        client.answer("too large", "413 Too Large", "Connection: close\r\n");
        client.hang();
    }};
    auto const response =
        curl_client{}.send(a_request(local.origin() + "/", http_method::post, std::string(8'000'000, 'x')), a_call());
    REQUIRE(response);
    CHECK(response->status == 413);
    CHECK(response->body == "too large");
}

TEST_CASE("an error of one response does not affect the next") {
    std::atomic<int> count{0};
    server const local{each_request([&](peer& client, std::string const&) {
        switch (++count % 4) {
            case 0:
                client.write(half);
                client.cut();
                break;
            case 1: client.answer("good"); break;
            case 2: client.write("HTTP/1.1 200 OK\r\nContent-Length: 4\r\nContent-Length: 4\r\n\r\nevil"); break;
            default: client.write("HTTP/1.1 200 OK\r\nContent-Encoding: gzip\r\nContent-Length: 4\r\n\r\nevil"); break;
        }
    })};
    curl_client const client;
    int good = 0;
    for (int number = 1; number <= 40; ++number) {
        auto const response = client.send(a_request(local.origin() + "/", http_method::post), a_call());
        CHECK(response.has_value() == (number % 4 == 1));
        good += response && response->body == "good" ? 1 : 0;
    }
    CHECK(good == 10);
}
