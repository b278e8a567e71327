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

auto const silent = each_request([](peer& client, std::string const&) { client.hang(); });

} // namespace

TEST_CASE("a call whose deadline has passed sends nothing") {
    server const local{silent};
    curl_client const client;
    auto call = a_call(milliseconds{0});
    auto const late = client.send(a_request(local.origin() + "/"), call);
    REQUIRE_FALSE(late);
    CHECK(late.error().code == error_code::deadline_exceeded);
    CHECK(late.error().effect == effect::none);
    cancellation_source source;
    source.cancel();
    call = a_call();
    call.cancellation = source.token();
    auto const cancelled = client.send(a_request(local.origin() + "/"), call);
    REQUIRE_FALSE(cancelled);
    CHECK(cancelled.error().code == error_code::cancelled);
    CHECK(cancelled.error().effect == effect::none);
    CHECK(local.connections() == 0);
}

TEST_CASE("a deadline ends a request without a response, and the effect of a write is unknown") {
    server const local{silent};
    curl_client const client;
    auto const took = time_of_work([&] {
        auto const late = client.send(a_request(local.origin() + "/", http_method::post), a_call(milliseconds{60}));
        REQUIRE_FALSE(late);
        CHECK(late.error().code == error_code::deadline_exceeded);
        CHECK(late.error().effect == effect::unknown);
    });
    CHECK(took >= milliseconds{59});
    CHECK(took < soon);
}

TEST_CASE("a request has its own timeout, after which it may be repeated") {
    server const local{silent};
    auto call = a_call();
    call.request_timeout = milliseconds{60};
    auto const took = time_of_work([&] {
        auto const late = curl_client{}.send(a_request(local.origin() + "/"), call);
        REQUIRE_FALSE(late);
        CHECK(late.error().code == error_code::transport_failed);
        CHECK_THAT(late.error().message, ContainsSubstring("within 60 ms"));
    });
    CHECK(took >= milliseconds{59});
    CHECK(took < soon);
    call.request_timeout = milliseconds::max();
    call.deadline = std::chrono::steady_clock::now() + milliseconds{20};
    CHECK(curl_client{}.send(a_request(local.origin() + "/"), call).error().code == error_code::deadline_exceeded);
}

TEST_CASE("an occasional byte does not keep a request alive") {
    server const local{each_request([](peer& client, std::string const&) {
        for (char const c : std::string{"HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\nabcde"}) {
            if (!client.write({&c, 1}) || !client.pause(milliseconds{20})) { return; }
        }
    })};
    auto const took = time_of_work([&] {
        auto const late = curl_client{}.send(a_request(local.origin() + "/"), a_call(milliseconds{150}));
        REQUIRE_FALSE(late);
        CHECK(late.error().code == error_code::deadline_exceeded);
    });
    CHECK(took < soon);
}

TEST_CASE("cancellation is seen within 50 ms") {
    server const local{silent};
    curl_client const client;
    cancellation_source source;
    auto call = a_call();
    call.cancellation = source.token();
    std::chrono::steady_clock::time_point cancelled_at;
    std::thread canceller{[&] {
        std::this_thread::sleep_for(milliseconds{40});
        cancelled_at = std::chrono::steady_clock::now();
        source.cancel();
    }};
    auto const stopped = client.send(a_request(local.origin() + "/"), call);
    auto const seen_at = std::chrono::steady_clock::now();
    canceller.join();
    REQUIRE_FALSE(stopped);
    CHECK(stopped.error().code == error_code::cancelled);
    CHECK(stopped.error().effect == effect::unknown);
    CHECK(seen_at - cancelled_at < milliseconds{50});
}

TEST_CASE("a request to an address without a listener has effect::none") {
    int port = 0;
    {
        server const gone{silent};
        port = gone.port();
    }
    auto const refused = curl_client{}.send(
        a_request("http://127.0.0.1:" + std::to_string(port) + "/?hunter2", http_method::post), a_call());
    REQUIRE_FALSE(refused);
    CHECK(refused.error().code == error_code::transport_failed);
    CHECK(refused.error().effect == effect::none);
    CHECK_THAT(refused.error().message, ContainsSubstring("no connection to 127.0.0.1"));
    CHECK(refused.error().to_string().find("hunter2") == std::string::npos);
}

TEST_CASE("many requests end with the deadline of their call, and each is completed") {
    server const local{silent};
    curl_client const client;
    bool const by_deadline = GENERATE(true, false);
    cancellation_source source;
    auto call = by_deadline ? a_call(milliseconds{80}) : a_call();
    call.cancellation = source.token();
    std::thread canceller{[&] {
        std::this_thread::sleep_for(milliseconds{80});
        if (!by_deadline) { source.cancel(); }
    }};
    listed_requests feed{std::vector<http_request>(40, a_request(local.origin() + "/", http_method::post))};
    auto const took = time_of_work([&] { feed.send(client, 16, call); });
    canceller.join();
    REQUIRE(feed.answers().size() == 40);
    std::size_t unsent = 0;
    for (auto const& [slot, answer] : feed.answers()) {
        REQUIRE_FALSE(answer);
        CHECK(answer.error().code == (by_deadline ? error_code::deadline_exceeded : error_code::cancelled));
        unsent += answer.error().effect == effect::none ? 1 : 0;
    }
    CHECK(unsent == 24);
    CHECK(took < soon);
}

TEST_CASE("one request of a channel can be cancelled alone, and a channel may be destroyed with requests in flight") {
    server const local{silent};
    server const other{each_request([](peer& client, std::string const&) { client.answer("x"); })};
    curl_client const client;
    {
        poll_driver io;
        auto const opened = client.open(io);
        http_request const waits = a_request(local.origin() + "/", http_method::post);
        http_request const quick = a_request(other.origin() + "/");
        char tags[3] = {};
        opened->send(waits, a_call(), &tags[0]);
        opened->send(waits, a_call(), &tags[1]);
        opened->send(quick, a_call(), &tags[2]);
        std::string seen;
        auto const note = [&](void* tag, result<http_response>&& response) {
            seen += std::to_string(static_cast<char*>(tag) - &tags[0]) +
                (response ? "+" : std::string{to_string(response.error().code)});
        };
        while (seen.empty()) {
            io.wait(opened->wakes_at());
            opened->poll(io.time().steady(), note);
        }
        CHECK(seen == "2+");
        opened->cancel(&tags[1], error{error_code::cancelled, "not wanted any more"});
        CHECK(seen == "2+"); // only with poll
        opened->poll(io.time().steady(), note);
        CHECK(seen == "2+1Cancelled");
    }
    CHECK(client.send(a_request(other.origin() + "/"), a_call()));
}
