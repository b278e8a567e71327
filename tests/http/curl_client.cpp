// SPDX-License-Identifier: MIT
// Copyright (c) 2026 the entitable authors

#include <entitable/cloud/http/curl_client.hpp>
#include <entitable/core/text.hpp>

#include <http/requests.hpp>
#include <http/server.hpp>
#include <support/catch.hpp>

#include <cstdlib>

using namespace entitable;
using namespace entitable_test;

namespace {

/// Sends back what it received.
auto const echo = each_request([](peer& client, std::string const& request) { client.answer(request); });

std::string port_of(server const& of) { return std::to_string(of.port()); }

} // namespace

TEST_CASE("a request arrives byte for byte, and its response is complete") {
    server const local{echo};
    curl_client const client;
    auto request =
        a_request(local.origin() + "/acct/../T(PartitionKey='%2F%27',RowKey='.')/./x?$filter=a%20eq%20'b'&c=+");
    REQUIRE(request.headers.add("x-ms-date", "Fri, 20 Nov 2026 15:27:36 GMT"));
    REQUIRE(request.headers.add("If-Match", "W/\"datetime'2026%3A'\""));
    REQUIRE(request.headers.add("x-empty", ""));
    auto const response = client.send(request, a_call()).value();
    CHECK(response.status == 200);
    CHECK(response.body ==
        "GET /acct/../T(PartitionKey='%2F%27',RowKey='.')/./x?$filter=a%20eq%20'b'&c=+ HTTP/1.1\r\nHost: 127.0.0.1:" +
            port_of(local) +
            "\r\nx-ms-date: Fri, 20 Nov 2026 15:27:36 GMT\r\nIf-Match: W/\"datetime'2026%3A'\"\r\nx-empty:\r\n\r\n");
    CHECK(response.body.capacity() >= response.body.size() + http_response::padding);
    CHECK(response.headers.find("content-length") == std::to_string(response.body.size()));
}

TEST_CASE("every method is sent unchanged, one after the other on one connection") {
    server const local{echo};
    curl_client const client;
    struct example {
        http_method method;
        std::string body;
        std::string rest;
    };
    std::string const big(300'000, 'b');
    for (int round = 0; round < 2; ++round) {
        for (auto const& [method, body, rest] :
            {example{http_method::get, "", ""}, {http_method::post, "{}", "Content-Length: 2\r\n"},
                {http_method::put, "", "Content-Length: 0\r\n"}, {http_method::merge, "{}", "Content-Length: 2\r\n"},
                {http_method::patch, big, "Content-Length: 300000\r\n"}, {http_method::delete_, "", ""},
                {http_method::options, "", ""},
                {http_method::post, std::string("\0\r\n", 3), "Content-Length: 3\r\n"}}) {
            auto const response = client.send(a_request(local.origin() + "/", method, body), a_call()).value();
            INFO(to_string(method));
            CHECK(response.body ==
                text::joined({to_string(method), " / HTTP/1.1\r\nHost: 127.0.0.1:", port_of(local), "\r\n", rest,
                    "\r\n", body}));
        }
        auto const head = client.send(a_request(local.origin() + "/", http_method::head), a_call()).value();
        CHECK(head.body.empty());
        CHECK(head.headers.find("Content-Length"));
    }
    // the responses to HEAD had bodies, which they must not: those connections were closed
    CHECK(local.connections() <= 3);
}

TEST_CASE("connections are reused and shared by copies") {
    server const local{echo};
    curl_client const client;
    for (int count = 0; count < 20; ++count) {
        auto const copy = client;
        CHECK(copy.send(a_request(local.origin() + "/"), a_call()));
    }
    CHECK(local.connections() == 1);
}

TEST_CASE("every status is a response, including redirects, which are not followed") {
    std::atomic<int> strangers{0};
    server const stranger{each_request([&](peer& client, std::string const&) {
        ++strangers;
        client.answer("stolen");
    })};
    std::string status;
    std::string target;
    server const local{each_request([&](peer& client, std::string const&) {
        client.answer("x", status, "Location: " + target + "\r\nSet-Cookie: a=b\r\nWWW-Authenticate: Basic\r\n");
    })};
    curl_client const client;
    for (std::string const code : {"200", "201", "299", "301", "302", "303", "307", "308", "400", "401", "404", "412",
             "429", "500", "503", "600", "999"}) {
        for (std::string const& to :
            {stranger.origin() + "/", stranger.origin("127.0.0.2") + "/", std::string{"file:///etc/passwd"},
                std::string{"http://169.254.169.254/"}, std::string{"/elsewhere"}}) {
            status = code;
            target = to;
            auto const response = client.send(a_request(local.origin() + "/"), a_call());
            REQUIRE(response);
            CHECK(response->status == std::stoi(code));
            CHECK(response->body == "x");
            CHECK(response->headers.find("location") == to);
        }
    }
    CHECK(strangers == 0);
    CHECK(local.connections() == 1);
}

TEST_CASE("cookies are not sent back") {
    server const local{each_request([](peer& client, std::string const& request) {
        client.answer(request, "200 OK", "Set-Cookie: session=1; Path=/\r\n");
    })};
    curl_client const client;
    for (int count = 0; count < 2; ++count) {
        auto const response = client.send(a_request(local.origin() + "/"), a_call()).value();
        CHECK(response.body.find("session") == std::string::npos);
    }
}

TEST_CASE("a proxy is only used if one is configured") {
    std::atomic<int> asked{0};
    server const proxy{each_request([&](peer& client, std::string const& request) {
        ++asked;
        client.answer(request);
    })};
    server const local{echo};
    for (char const* const name : {"http_proxy", "HTTP_PROXY", "all_proxy", "ALL_PROXY", "https_proxy"}) {
        ::setenv(name, proxy.origin().c_str(), 1);
    }
    CHECK(curl_client{}.send(a_request(local.origin() + "/"), a_call()));
    CHECK(asked == 0);
    ::setenv("no_proxy", "*", 1);
    curl_options options;
    options.proxy = proxy.origin();
    auto const response = curl_client{options}.send(a_request(local.origin() + "/x"), a_call()).value();
    CHECK(asked == 1);
    CHECK_THAT(response.body, StartsWith("GET " + local.origin() + "/x HTTP/1.1"));
    for (char const* const name : {"http_proxy", "HTTP_PROXY", "all_proxy", "ALL_PROXY", "https_proxy", "no_proxy"}) {
        ::unsetenv(name);
    }
}

TEST_CASE("a request that cannot be sent is refused before anything is sent") {
    std::atomic<int> requests{0};
    server const local{each_request([&](peer& client, std::string const&) {
        ++requests;
        client.answer("");
    })};
    curl_client const client;
    auto const refused = [&](http_request const& request) {
        auto const response = client.send(request, a_call());
        REQUIRE_FALSE(response);
        CHECK(response.error().code == error_code::invalid_input);
        CHECK(response.error().effect == effect::none);
        CHECK(response.error().to_string().find("hunter2") == std::string::npos);
        return response.error().message;
    };
    CHECK_THAT(refused(a_request("http://example.com/")), ContainsSubstring("only to this computer"));
    CHECK_THAT(refused(a_request("http://127.0.0.1.example.com/")), ContainsSubstring("only to this computer"));
    CHECK_THAT(refused(a_request("ftp://127.0.0.1/")), ContainsSubstring("must begin"));
    CHECK_THAT(refused(a_request("file:///etc/passwd")), ContainsSubstring("must begin"));
    CHECK_THAT(refused(a_request("/x")), ContainsSubstring("must begin"));
    CHECK_THAT(refused(a_request("http://u:hunter2@127.0.0.1/")), ContainsSubstring("user or a password"));
    CHECK_THAT(
        refused(a_request(local.origin() + "/x HTTP/1.1\r\nhunter2: x")), ContainsSubstring("space or a control"));
    CHECK_THAT(refused(a_request(local.origin() + "/#hunter2")), ContainsSubstring("fragment"));
    for (std::string const name : {"Host", "content-length", "Transfer-Encoding", "Connection", "Expect",
             "Accept-Encoding", "TE", "Trailer", "Upgrade"}) {
        auto request = a_request(local.origin() + "/");
        REQUIRE(request.headers.add(name, "hunter2"));
        CHECK_THAT(refused(request), ContainsSubstring("the client writes itself"));
    }
    CHECK(requests == 0);
    CHECK(local.connections() == 0);
}

TEST_CASE("if a reused connection is closed, only reads are sent again") {
    // Answers the first request of a connection, reads the second and disconnects: it may have acted on it.
    std::mutex mutex;
    std::vector<std::string> seen;
    server const local{[&](peer& client) {
        for (int count = 0; count < 2; ++count) {
            if (auto const request = client.request()) {
                std::lock_guard const lock{mutex};
                seen.push_back(request->substr(0, request->find(' ')));
                if (count == 0) { client.answer("first"); }
            }
        }
    }};
    curl_client const client;
    REQUIRE(client.send(a_request(local.origin() + "/"), a_call()));
    SECTION("a read is sent again") {
        auto const again = client.send(a_request(local.origin() + "/"), a_call());
        REQUIRE(again);
        CHECK(again->body == "first");
        CHECK(seen.size() == 3);
    }
    SECTION("a write is not sent again") {
        auto const method = GENERATE(http_method::post, http_method::put, http_method::merge, http_method::delete_);
        auto const lost = client.send(a_request(local.origin() + "/", method), a_call());
        REQUIRE_FALSE(lost);
        CHECK(lost.error().code == error_code::transport_failed);
        CHECK(lost.error().effect == effect::unknown);
        CHECK(seen == std::vector<std::string>{"GET", std::string{to_string(method)}});
        // and the client still works
        CHECK(client.send(a_request(local.origin() + "/"), a_call()));
    }
}

TEST_CASE("a client of several servers sends each request to its own, also again, and to a URL without a path") {
    std::mutex mutex;
    std::vector<std::string> seen;
    server const closing{[&](peer& client) { // reads the second request of a connection and disconnects
        for (int count = 0; count < 2; ++count) {
            if (auto const request = client.request()) {
                std::lock_guard const lock{mutex};
                seen.push_back(request->substr(0, request->find(" HTTP")));
                if (count == 0) { client.answer("first"); }
            }
        }
    }};
    server const other{echo};
    curl_client const client;
    auto const sent = [&](server const& to, std::string const& rest) {
        auto response = client.send(a_request(to.origin() + rest), a_call());
        return response ? response->body.substr(0, response->body.find(" HTTP")) : response.error().to_string();
    };
    CHECK(sent(closing, "/one") == "first");
    CHECK(sent(other, "/two?x=1") == "GET /two?x=1");
    CHECK(sent(other, "?x=2") == "GET /?x=2");
    CHECK(sent(other, "/two") == "GET /two");
    CHECK(sent(closing, "/three?x=3") == "first");
    CHECK(seen == std::vector<std::string>{"GET /one", "GET /three?x=3", "GET /three?x=3"});
    CHECK(sent(other, "") == "GET /");
    CHECK(sent(other, "/four%2F") == "GET /four%2F");
}

TEST_CASE("one thread sends many requests, with a limited number of requests in flight") {
    std::atomic<int> under_way{0};
    std::atomic<int> most{0};
    server const local{each_request([&](peer& client, std::string const& request) {
        int const now = ++under_way;
        int before = most;
        while (before < now && !most.compare_exchange_weak(before, now)) {}
        client.pause(std::chrono::milliseconds{5});
        --under_way;
        client.answer(request.substr(5, request.find(' ', 5) - 5));
    })};
    std::vector<http_request> requests;
    for (int number = 0; number < 100; ++number) {
        requests.push_back(a_request(local.origin() + "/" + std::to_string(number)));
    }
    requests[50] = a_request("http://example.com/");
    listed_requests feed{requests};
    curl_client const client;
    feed.send(client, 10, a_call());
    REQUIRE(feed.answers().size() == 100);
    for (auto const& [slot, answer] : feed.answers()) {
        if (slot == 50) {
            CHECK_FALSE(answer);
        } else {
            REQUIRE(answer);
            CHECK(answer->body == std::to_string(slot));
        }
    }
    CHECK(feed.most() == 10);
    CHECK(most <= 10);
    CHECK(most >= 5);
    CHECK(local.connections() <= 10);
}

TEST_CASE("a sink may send the next request with the tag of the completed request") {
    server const local{echo};
    http_request const request = a_request(local.origin() + "/");
    curl_client const client;
    poll_driver io;
    auto const opened = client.open(io);
    int answered = 0;
    opened->send(request, a_call(), &answered);
    while (answered < 10) {
        opened->poll(io.time().steady(), [&](void* tag, result<http_response>&& response) {
            CHECK(response);
            if (++answered < 10) { opened->send(request, a_call(), tag); }
        });
        if (answered < 10) { io.wait(opened->wakes_at()); }
    }
    CHECK(local.connections() == 1);
}

TEST_CASE("clients of several servers share a driver, and a later client reuses its connections") {
    server const first{echo};
    server const second{echo};
    curl_client const one;
    curl_client const other;
    std::size_t connections = 0;
    for (int round = 0; round < 3; ++round) {
        poll_driver io;
        shared<http_channel> const channels[] = {one.open(io), other.open(io)};
        std::vector<http_request> requests(40);
        std::size_t answered = 0;
        for (std::size_t index = 0; index < requests.size(); ++index) {
            requests[index] = a_request((index % 2 == 0 ? first : second).origin() + "/");
            channels[index % 2]->send(requests[index], a_call(), &requests[index]);
        }
        while (answered < requests.size()) {
            steady_time wakes = steady_time::max();
            for (auto const& each : channels) {
                each->poll(io.time().steady(),
                    [&](void*, result<http_response>&& response) { answered += response ? 1 : 100; });
                wakes = std::min(wakes, each->wakes_at());
            }
            if (answered < requests.size()) { io.wait(wakes); }
        }
        CHECK(answered == requests.size());
        connections = round == 0 ? static_cast<std::size_t>(first.connections() + second.connections()) : connections;
    }
    CHECK(static_cast<std::size_t>(first.connections() + second.connections()) == connections);
    CHECK(one.send(a_request(first.origin() + "/"), a_call()));
}

TEST_CASE("a sink that throws leaves the client usable") {
    server const local{echo};
    curl_client const client;
    listed_requests feed{std::vector<http_request>(10, a_request(local.origin() + "/"))};
    feed.after_answer = [](std::size_t answered) {
        if (answered == 3) { throw std::runtime_error{"thrown"}; }
    };
    CHECK_THROWS_AS(feed.send(client, 4, a_call()), std::runtime_error);
    CHECK(client.send(a_request(local.origin() + "/"), a_call()));
}

TEST_CASE("a client that was moved from returns InvalidInput") {
    curl_client left;
    curl_client const taken = std::move(left);
    auto const request = a_request("http://127.0.0.1:9/");
    CHECK(left.send(request, a_call()).error().code == error_code::invalid_input); // NOLINT: tests the moved-from state
    listed_requests feed{{request}};
    feed.send(left, 1, a_call());
    CHECK(feed.answers().at(0).error().code == error_code::invalid_input);
}
