// SPDX-License-Identifier: MIT
// Copyright (c) 2026 the entitable authors

// Valid and invalid HTTP: each request is answered or its connection closed.

#include "listening.hpp"
#include <entitable/core/text.hpp>

#include <atomic>
#include <chrono>
#include <limits>
#include <mutex>

using namespace entitable;
using namespace entitable_test;
using namespace std::chrono_literals;

namespace {

/// Returns the request it received.
http_response echo(http_request const& request, request_sender const& from) {
    http_response made;
    made.status = 200;
    made.body = text::joined({to_string(request.method), " ", request.url, " ", from.address, " ",
        request.headers.find("x-extra").value_or("-"), " ", request.body, "\n"});
    return made;
}

std::string status_of(std::string const& answer) { return answer.substr(0, 12); }

std::size_t count_of(std::string_view text, std::string_view part) {
    std::size_t found = 0;
    for (std::size_t at = 0; (at = text.find(part, at)) != std::string_view::npos; at += part.size()) { ++found; }
    return found;
}

} // namespace

TEST_CASE("a request is answered") {
    listening const local{http_handler{echo}};
    std::string const answer =
        answer_to(local.port(), "POST /a/b?c=d HTTP/1.1\r\nHost: h:1\r\nX-Extra: x\r\nContent-Length: 3\r\n\r\nabc");
    CHECK(answer == "HTTP/1.1 200 OK\r\nContent-Length: 40\r\n\r\nPOST http://h:1/a/b?c=d 127.0.0.1 x abc\n");
    CHECK(status_of(answer_to(local.port(), "MERGE / HTTP/1.1\r\nHost: h\r\n\r\n")) == "HTTP/1.1 200");
    CHECK(answer_to(local.port(), "GET /x HTTP/1.0\r\n\r\n").find("Connection: close") != std::string::npos);
}

TEST_CASE("a connection is reused, and pipelined requests are answered in order") {
    listening const local{http_handler{echo}};
    raw_connection const by{local.port()};
    std::string all;
    for (int number = 0; number < 50; ++number) {
        std::string const body(static_cast<std::size_t>(number), 'b');
        all += "PUT /" + std::to_string(number) +
            " HTTP/1.1\r\nHost: h\r\nContent-Length: " + std::to_string(body.size()) + "\r\n\r\n" + body;
    }
    by.send(all);
    std::string const answers = by.read_until("\nHTTP/1.1", 49) + by.read_until("49 ", 0);
    std::size_t at = 0;
    for (int number = 0; number < 49; ++number) {
        at = answers.find("http://h/" + std::to_string(number) + " ", at);
        CHECK(at != std::string::npos);
    }
    by.send("GET /last HTTP/1.1\r\nHost: h\r\nConnection: close\r\n\r\n");
    CHECK(by.read_all().find("/last") != std::string::npos);
}

TEST_CASE("unusual but valid requests are accepted") {
    listening const local{http_handler{echo}};
    std::string const host = " HTTP/1.1\r\nHost: h\r\n\r\n";
    // RFC 9112, 2.2: empty lines before a request; 3.2.2: an absolute address, whose scheme is case-insensitive, in place of the host.
    CHECK(answer_to(local.port(), "\r\n\r\nGET /a" + host).find("GET http://h/a ") != std::string::npos);
    CHECK(answer_to(local.port(), "GET HTTP://other/a" + host).find("GET http://other/a ") != std::string::npos);
    // RFC 9110, 8.6: no length except that of the body that GET would have. The connection stays open.
    raw_connection const by{local.port()};
    by.send("HEAD /a" + host + "\r\nGET /b" + host);
    std::string const answers = by.read_until("- \n");
    CHECK(count_of(answers, "HTTP/1.1 200") == 2);
    CHECK(count_of(answers, "Content-Length") == 1);
    CHECK(answers.find("/a") == std::string::npos);
}

TEST_CASE("bodies are read in chunks, byte by byte, and after 100-continue") {
    listening const local{http_handler{echo}};
    std::string const chunked = "POST / HTTP/1.1\r\nHost: h\r\nTransfer-Encoding: "
                                "chunked\r\n\r\n3\r\nabc\r\nA;x=y\r\n0123456789\r\n0\r\nX-Extra: late\r\n\r\n";
    CHECK(answer_to(local.port(), chunked).find(" - abc0123456789\n") != std::string::npos);
    raw_connection const slow{local.port()};
    for (char const each : chunked) { slow.send(std::string_view{&each, 1}); }
    CHECK(slow.read_until("6789\n").find("200 OK") != std::string::npos);
    slow.send("POST / HTTP/1.1\r\nHost: h\r\nExpect: 100-continue\r\nContent-Length: 2\r\n\r\n");
    CHECK(slow.read_until("\r\n\r\n") == "HTTP/1.1 100 Continue\r\n\r\n");
    slow.send("ok");
    CHECK(slow.read_until("\n\n", 0).empty());
    CHECK(slow.read_until("ok\n").find("200 OK") != std::string::npos);
}

TEST_CASE("an ambiguous or invalid request is refused, and the connection is closed") {
    std::atomic<int> served{0};
    listening const local{http_handler{[&](http_request const& request, request_sender const& from) {
        ++served;
        return echo(request, from);
    }}};
    std::string const smuggled = "GET /smuggled HTTP/1.1\r\nHost: h\r\n\r\n";
    for (std::string const& bad :
        {std::string{"POST / HTTP/1.1\r\nHost: h\r\nContent-Length: 3\r\nContent-Length: 4\r\n\r\nabc"},
            std::string{"POST / HTTP/1.1\r\nHost: h\r\nContent-Length: 3\r\nContent-Length: 3\r\n\r\nabc"},
            std::string{"POST / HTTP/1.1\r\nHost: h\r\nContent-Length: 3, 3\r\n\r\nabc"},
            std::string{"POST / HTTP/1.1\r\nHost: h\r\nContent-Length: 0\r\nTransfer-Encoding: chunked\r\n\r\n"},
            std::string{"POST / HTTP/1.1\r\nHost: h\r\nTransfer-Encoding: chunked\r\nContent-Length: 0\r\n\r\n"},
            std::string{"POST / HTTP/1.1\r\nHost: h\r\nTransfer-Encoding: gzip, chunked\r\n\r\n0\r\n\r\n"},
            std::string{"POST / HTTP/1.1\r\nHost: h\r\nTransfer-Encoding: identity\r\n\r\n"},
            std::string{"POST / HTTP/1.1\r\nHost: h\r\nTransfer-Encoding: chunked, gzip\r\n\r\n"},
            std::string{"POST / HTTP/1.1\r\nHost: h\r\nTransfer-Encoding: xchunked\r\n\r\n"},
            std::string{"POST / HTTP/1.1\r\nHost: h\r\nTransfer-Encoding : chunked\r\n\r\n"},
            std::string{"POST / HTTP/1.0\r\nHost: h\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n"},
            std::string{"POST / HTTP/1.1\r\nHost: h\r\nContent-Length: -1\r\n\r\n"},
            std::string{"POST / HTTP/1.1\r\nHost: h\r\nContent-Length: +3\r\n\r\nabc"},
            std::string{"POST / HTTP/1.1\r\nHost: h\r\nContent-Length: 99999999999999999999\r\n\r\n"},
            std::string{"POST / HTTP/1.1\r\nHost: h\r\nTransfer-Encoding: chunked\r\n\r\nx\r\n"},
            std::string{"POST / HTTP/1.1\r\nHost: h\r\nTransfer-Encoding: chunked\r\n\r\n3\r\nabcd\r\n0\r\n\r\n"},
            std::string{"GET / HTTP/1.1\r\n\r\n"}, std::string{"GET / HTTP/1.1\r\nHost: a\r\nHost: b\r\n\r\n"},
            std::string{"GET / HTTP/1.1\r\nHost: a/b\r\n\r\n"}, std::string{"GET x HTTP/1.1\r\nHost: a\r\n\r\n"},
            std::string{"GET * HTTP/1.1\r\nHost: a\r\n\r\n"}, std::string{"BREW / HTTP/1.1\r\nHost: a\r\n\r\n"},
            std::string{"GET / HTTP/2.0\r\nHost: a\r\n\r\n"}, std::string{"GET /\r\n\r\n"},
            std::string{"\x16\x03\x01\x02"}, std::string{"GET / HTTP/1.1\nHost: a\n\n"},
            std::string{"GET / HTTP/1.1\r\nHost: a\r\nX: \x01\r\n\r\n"},
            std::string{"GET / HTTP/1.1\r\nHost: a\r\nX\0: 1\r\n\r\n", 34},
            std::string{"GET / HTTP/1.1\r\nHost: a\r\nExpect: tea\r\n\r\n"}}) {
        CAPTURE(bad);
        raw_connection const by{local.port()};
        by.send(bad + smuggled);
        std::string const answer = by.read_all();
        CHECK(answer.find("HTTP/1.1 2") == std::string::npos);
        CHECK(answer.find("smuggled") == std::string::npos);
        CHECK(count_of(answer, "HTTP/1.1 ") <= 1);
        CHECK(by.closed());
    }
    CHECK(served == 0);
    CHECK(status_of(answer_to(local.port(), "GET / HTTP/1.1\r\nHost: h\r\n\r\n")) == "HTTP/1.1 200");
}

TEST_CASE("a request that is too large is refused before it is read") {
    listener_options options;
    options.max_header_size = 2'000;
    options.max_body_size = 1'000;
    listening const local{http_handler{echo}, options};
    std::string const head = "POST / HTTP/1.1\r\nHost: h\r\n";
    CHECK(status_of(answer_to(local.port(), head + "Content-Length: 1001\r\n\r\n")) == "HTTP/1.1 413");
    CHECK(status_of(answer_to(local.port(), head + "Content-Length: 1001\r\nExpect: 100-continue\r\n\r\n")) ==
        "HTTP/1.1 413");
    CHECK(status_of(answer_to(local.port(), head + "Content-Length: 1000000\r\n\r\n" + std::string(1'000'000, 'x'))) ==
        "HTTP/1.1 413");
    CHECK(status_of(answer_to(local.port(),
              head + "Transfer-Encoding: chunked\r\n\r\n3E9\r\n" + std::string(1'001, 'x'))) == "HTTP/1.1 413");
    CHECK(status_of(answer_to(local.port(), head + "X: " + std::string(2'000, 'x') + "\r\n\r\n")) == "HTTP/1.1 431");
    CHECK(status_of(answer_to(local.port(), "GET /" + std::string(3'000, 'x') + " HTTP/1.1\r\nHost: h\r\n\r\n")) ==
        "HTTP/1.1 431");
    CHECK(status_of(answer_to(local.port(), head + "Content-Length: 1000\r\n\r\n" + std::string(1'000, 'x'))) ==
        "HTTP/1.1 200");
}

TEST_CASE("a client that sends slowly or not at all is disconnected") {
    listener_options options;
    options.idle_timeout = 150ms;
    options.header_timeout = 150ms;
    options.body_timeout = 150ms;
    listening const local{http_handler{echo}, options};
    raw_connection const silent{local.port()};
    raw_connection const half{local.port()};
    half.send("GET / HTTP/1.1\r\nHo");
    raw_connection const body{local.port()};
    body.send("POST / HTTP/1.1\r\nHost: h\r\nContent-Length: 5\r\n\r\nab");
    raw_connection const drip{local.port()};
    drip.send("GET / HTTP/1.1\r\nX: ");
    for (int byte = 0; byte < 20; ++byte) { // each byte is in time, the whole is not
        std::this_thread::sleep_for(20ms);
        drip.send("x");
    }
    CHECK(silent.closed());
    CHECK(half.closed());
    CHECK(body.closed());
    CHECK(drip.closed());
}

TEST_CASE("the number of connections is limited: connections with a request in progress are kept") {
    std::atomic<bool> go{false};
    std::atomic<int> begun{0};
    listener_options options;
    options.max_connections = 3;
    options.max_threads = 8;
    listening const local{http_handler{[&](http_request const& request, request_sender const& from) {
                              ++begun;
                              while (!go) { std::this_thread::sleep_for(1ms); }
                              return echo(request, from);
                          }},
        options};
    std::string const request = "GET / HTTP/1.1\r\nHost: h\r\n\r\n";
    raw_connection const a{local.port()};
    raw_connection const b{local.port()};
    raw_connection const c{local.port()};
    for (auto const* const each : {&a, &b, &c}) { each->send(request); }
    while (begun != 3) { std::this_thread::sleep_for(1ms); }
    CHECK(status_of(answer_to(local.port(), request)) == "HTTP/1.1 503");
    go = true;
    for (auto const* const each : {&a, &b, &c}) { CHECK(status_of(each->read_until("- \n")) == "HTTP/1.1 200"); }
}

TEST_CASE("the connection that has waited longest gives way to a new one, strangers first") {
    listener_options options;
    options.max_connections = 3;
    listening const local{http_handler{echo}, options};
    std::string const request = "GET / HTTP/1.1\r\nHost: h\r\n\r\n";
    raw_connection const known{local.port()};
    known.send(request);
    REQUIRE(status_of(known.read_until("- \n")) == "HTTP/1.1 200");
    raw_connection const silent{local.port()};
    raw_connection const half{local.port()};
    half.send("GET / HTTP/1.1\r\n");
    std::this_thread::sleep_for(20ms);
    raw_connection const next{local.port()};
    CHECK(silent.closed());
    next.send(request);
    CHECK(status_of(next.read_until("- \n")) == "HTTP/1.1 200");
    std::this_thread::sleep_for(100ms); // it waits before the next one does
    raw_connection const another{local.port()};
    CHECK(half.closed()); // a header in progress, from an unknown sender
    another.send(request);
    CHECK(status_of(another.read_until("- \n")) == "HTTP/1.1 200");
    std::this_thread::sleep_for(100ms);
    known.send(request);
    CHECK(status_of(known.read_until("- \n")) == "HTTP/1.1 200");
    std::this_thread::sleep_for(100ms);      // all connections wait by then
    raw_connection const last{local.port()}; // all senders are known: the longest idle one is `next`
    last.send(request);
    CHECK(status_of(last.read_until("- \n")) == "HTTP/1.1 200");
    CHECK(next.closed());
    known.send(request);
    CHECK(status_of(known.read_until("- \n")) == "HTTP/1.1 200");
}

TEST_CASE("a gate refuses requests before their bodies are read") {
    std::atomic<int> served{0};
    std::atomic<std::uint64_t> announced{0};
    std::atomic<std::size_t> bodies_seen{0};
    listener_options options;
    options.max_body_size = 100'000;
    listening const local{http_handler{[&](http_request const& request, request_sender const& from) {
                              ++served;
                              return echo(request, from);
                          }},
        http_gate{
            [&](http_request const& head, std::uint64_t size, request_sender const&) -> std::optional<http_response> {
                announced = size;
                bodies_seen += head.body.size();
                if (head.headers.find("x-extra")) { return std::nullopt; }
                http_response made;
                made.status = size > 100'000 ? 413 : 403;
                made.body = "no";
                return made;
            }},
        options};
    std::string const head = "POST / HTTP/1.1\r\nHost: h\r\nContent-Length: 90000\r\n";
    raw_connection const stranger{local.port()};
    stranger.send(head + "\r\n" + std::string(10'000, 'x')); // the rest never arrives
    std::string const answer = stranger.read_all();
    CHECK(status_of(answer) == "HTTP/1.1 403");
    CHECK(answer.ends_with("Connection: close\r\n\r\nno"));
    CHECK(announced == 90'000);
    CHECK(stranger.closed());
    CHECK(status_of(answer_to(local.port(), head + "Expect: 100-continue\r\n\r\n")) == "HTTP/1.1 403");
    CHECK(status_of(answer_to(local.port(), "POST / HTTP/1.1\r\nHost: h\r\nTransfer-Encoding: chunked\r\n\r\n")) ==
        "HTTP/1.1 403");
    CHECK(status_of(answer_to(local.port(), "POST / HTTP/1.1\r\nHost: h\r\nContent-Length: 100001\r\n\r\n")) ==
        "HTTP/1.1 413");
    CHECK(announced == (std::numeric_limits<std::uint64_t>::max)());
    CHECK(served == 0);
    CHECK(bodies_seen == 0);
    CHECK(answer_to(local.port(), head + "X-Extra: x\r\n\r\n" + std::string(90'000, 'x')).size() > 90'000);
    CHECK(served == 1);
    // A body that arrived with the header is for the handler.
    CHECK(status_of(answer_to(local.port(), "POST / HTTP/1.1\r\nHost: h\r\nContent-Length: 2\r\n\r\nab")) ==
        "HTTP/1.1 200");
}

TEST_CASE("the bodies of all connections have one budget") {
    listener_options options;
    options.max_body_bytes = 300'000;
    listening const local{http_handler{echo}, options};
    std::string const head = "POST / HTTP/1.1\r\nHost: h\r\nContent-Length: 200000\r\n\r\n";
    std::string const most(199'000, 'x');
    std::string refused;
    {
        raw_connection const first{local.port()};
        first.send(head + most);
        std::this_thread::sleep_for(50ms);
        raw_connection const second{local.port()};
        second.send(head + most);
        refused = second.read_all(2'000);
        CHECK(status_of(refused) == "HTTP/1.1 503");
        CHECK(refused.find("Retry-After: 1") != std::string::npos);
        CHECK(refused.find("ServerBusy") != std::string::npos);
        first.send(std::string(1'000, 'x'));
        CHECK(status_of(first.read_until("x\n")) == "HTTP/1.1 200");
        // The first connection stays open, and its budget is free again.
        CHECK(status_of(answer_to(local.port(), head + most + std::string(1'000, 'x'))) == "HTTP/1.1 200");
        first.send(head + most);
        std::this_thread::sleep_for(50ms);
    } // closed during a body
    std::string answer;
    for (int attempt = 0; attempt < 100 && status_of(answer) != "HTTP/1.1 200"; ++attempt) {
        std::this_thread::sleep_for(10ms);
        answer = answer_to(local.port(), head + most + std::string(1'000, 'x'));
    }
    CHECK(status_of(answer) == "HTTP/1.1 200");
}

TEST_CASE("framing without content is bounded, and folded fields are refused") {
    listening const local{http_handler{echo}};
    std::string const chunked = "POST / HTTP/1.1\r\nHost: h\r\nTransfer-Encoding: chunked\r\n\r\n";
    CHECK(status_of(answer_to(local.port(), chunked + "1;" + std::string(100'000, 'x') + "\r\na\r\n0\r\n\r\n")) ==
        "HTTP/1.1 400");
    std::string extensions;
    for (int number = 0; number < 1'000; ++number) { extensions += "1;" + std::string(200, 'x') + "\r\na\r\n"; }
    CHECK(status_of(answer_to(local.port(), chunked + extensions + "0\r\n\r\n")) == "HTTP/1.1 400");
    CHECK(status_of(answer_to(local.port(), chunked + std::string(100'000, '0') + "1\r\na\r\n0\r\n\r\n")) ==
        "HTTP/1.1 400");
    std::string trailers;
    for (int number = 0; number < 2'000; ++number) { trailers += "x-trailer: " + std::string(60, 'x') + "\r\n"; }
    CHECK(status_of(answer_to(local.port(), chunked + "1\r\na\r\n0\r\n" + trailers + "\r\n")) == "HTTP/1.1 400");
    std::string pieces;
    for (int number = 0; number < 5'000; ++number) { pieces += "1\r\na\r\n"; }
    CHECK(status_of(answer_to(local.port(), chunked + pieces + "0\r\n\r\n")) == "HTTP/1.1 200");
    std::string lines;
    for (int number = 0; number < 20; ++number) { lines += "\r\n"; }
    CHECK(status_of(answer_to(local.port(), lines + "GET / HTTP/1.1\r\nHost: h\r\n\r\n")) == "HTTP/1.1 400");
    for (std::string const fold : {"\r\n chunked", "\r\n\tchunked", " chunked\r\n "}) {
        CHECK(status_of(answer_to(local.port(),
                  "POST / HTTP/1.1\r\nHost: h\r\nTransfer-Encoding:" + fold + "\r\n\r\n0\r\n\r\n")) == "HTTP/1.1 400");
    }
}

TEST_CASE("a new connection has the time of a header for its first byte") {
    listener_options options;
    options.idle_timeout = 60'000ms;
    options.header_timeout = 100ms;
    listening const local{http_handler{echo}, options};
    raw_connection const silent{local.port()};
    raw_connection const known{local.port()};
    known.send("GET / HTTP/1.1\r\nHost: h\r\n\r\n");
    REQUIRE(status_of(known.read_until("- \n")) == "HTTP/1.1 200");
    CHECK(silent.closed());
    known.send("GET / HTTP/1.1\r\nHost: h\r\n\r\n"); // a known sender has the idle time
    CHECK(status_of(known.read_until("- \n")) == "HTTP/1.1 200");
}

TEST_CASE("slow responses do not delay other connections") {
    std::atomic<bool> go{false};
    listener_options options;
    options.threads = 1;
    listening const local{http_handler{[&](http_request const& request, request_sender const& from) {
                              while (request.url.ends_with("/slow") && !go) { std::this_thread::sleep_for(1ms); }
                              return echo(request, from);
                          }},
        options};
    raw_connection const a{local.port()};
    raw_connection const b{local.port()};
    a.send("GET /slow HTTP/1.1\r\nHost: h\r\n\r\n");
    b.send("GET /slow HTTP/1.1\r\nHost: h\r\n\r\n");
    CHECK(status_of(answer_to(local.port(), "GET /quick HTTP/1.1\r\nHost: h\r\n\r\n")) == "HTTP/1.1 200");
    go = true;
    CHECK(a.read_until("- \n").find("/slow") != std::string::npos);
    CHECK(b.read_until("- \n").find("/slow") != std::string::npos);
}

TEST_CASE("an exception from a handler is answered with an error") {
    listening const local{http_handler{[](http_request const&, request_sender const&) -> http_response { throw 1; }}};
    CHECK(status_of(answer_to(local.port(), "GET / HTTP/1.1\r\nHost: h\r\n\r\n")) == "HTTP/1.1 500");
}

TEST_CASE("stopping completes the requests in progress and closes the other connections") {
    std::atomic<bool> begun{false};
    std::atomic<bool> go{false};
    listening local{http_handler{[&](http_request const& request, request_sender const& from) {
        begun = true;
        while (!go) { std::this_thread::sleep_for(1ms); }
        return echo(request, from);
    }}};
    raw_connection const idle{local.port()};
    raw_connection const working{local.port()};
    working.send("GET /a HTTP/1.1\r\nHost: h\r\n\r\n");
    while (!begun) { std::this_thread::sleep_for(1ms); }
    std::thread stopping{[&] { local.stop(); }};
    CHECK(idle.closed());
    go = true;
    CHECK(working.read_all().find("200 OK") != std::string::npos);
    stopping.join();
    CHECK_FALSE(raw_connection{local.port()}.connected());
}

TEST_CASE("a listener accepts only valid addresses and ports") {
    auto const said = [](listener_options options) {
        http_listener made{http_handler{echo}, std::move(options)};
        auto const opened = made.listen();
        return opened ? std::string{"listens"} : std::string{to_string(opened.error().code)};
    };
    CHECK(said({.port = 0}) == "listens");
    CHECK(said({.address = "localhost", .port = 0}) == "listens");
    CHECK(said({.address = "0.0.0.0", .port = 0}) == "InvalidInput");
    CHECK(said({.address = "0.0.0.0", .port = 0, .beyond_loopback = true}) == "listens");
    CHECK(said({.address = "nowhere", .port = 0}) == "InvalidInput");
    http_listener const none{http_handler{echo}};
    CHECK(none.port() == 0);
    http_listener first{http_handler{echo}, {.port = 0}};
    REQUIRE(first.listen());
    CHECK(said({.port = first.port()}) == "StoreFailed");
    std::uint16_t const port = first.port();
    CHECK(first.listen()); // it is listening already
    CHECK(first.port() == port);
    std::thread running{[&] { static_cast<void>(first.run()); }};
    CHECK(status_of(answer_to(port, "GET / HTTP/1.1\r\nHost: h\r\n\r\n")) == "HTTP/1.1 200");
    first.stop();
    running.join();
    http_listener second{http_handler{echo}, {.port = 0}};
    REQUIRE(second.listen());
    http_listener without_metrics{http_handler{echo}, {.port = 0, .metrics_port = second.port()}};
    CHECK(without_metrics.listen().error().code == error_code::store_failed);
    without_metrics.stop();
    CHECK(without_metrics.run().error().code == error_code::store_failed); // no metrics to serve
}

TEST_CASE("metrics are served on a separate port") {
    struct : observer {
        std::mutex lock;
        std::string log;
        void on_attempt(attempt_record const& done) noexcept override {
            std::lock_guard const guard{lock};
            log += text::joined({std::to_string(done.outcome.status), " ", done.name, "\n"});
        }
    } watch;
    listener_options options;
    options.metrics_port = 0;
    options.watch = &watch;
    listening const local{http_handler{echo}, options};
    static_cast<void>(answer_to(local.port(), "GET / HTTP/1.1\r\nHost: h\r\n\r\n"));
    static_cast<void>(answer_to(local.port(), "GET / HTTP/1.1\r\n\r\n"));
    std::string const metrics = answer_to(local.metrics_port(), "GET /metrics HTTP/1.1\r\nHost: h\r\n\r\n");
    CHECK(metrics.find("entitable_answers_total{status=\"2xx\"} 1\n") != std::string::npos);
    CHECK(metrics.find("entitable_malformed_requests_total 1\n") != std::string::npos);
    CHECK(metrics.ends_with("# EOF\n"));
    CHECK(status_of(answer_to(local.metrics_port(), "GET / HTTP/1.1\r\nHost: h\r\n\r\n")) == "HTTP/1.1 404");
    std::lock_guard const guard{watch.lock};
    CHECK(watch.log == "400 the host is missing, malformed or repeated\n");
}
