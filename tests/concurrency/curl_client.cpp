// SPDX-License-Identifier: MIT
// Copyright (c) 2026 the entitable authors

#include <entitable/cloud/account/credential.hpp>
#include <entitable/cloud/http/curl_client.hpp>

#include <http/requests.hpp>
#include <http/server.hpp>
#include <support/catch.hpp>
#include <support/long.hpp>

using namespace entitable;
using namespace entitable_test;
using std::chrono::milliseconds;

TEST_CASE("threads can share one client, and every answer belongs to its request") {
    server const local{each_request(
        [](peer& client, std::string const& request) { client.answer(request.substr(5, request.find(' ', 5) - 5)); })};
    curl_client const client;
    std::atomic<int> good{0};
    std::vector<std::thread> threads;
    for (int index = 0; index < 6; ++index) {
        threads.emplace_back([&, index] {
            auto const mine = client;
            for (int number = 0; number < 50; ++number) {
                std::string const name = std::to_string(index * 1000 + number);
                auto const response = mine.send(a_request(local.origin() + "/" + name), a_call());
                good += response && response->body == name ? 1 : 0;
            }
        });
    }
    for (auto& thread : threads) { thread.join(); }
    CHECK(good == 300);
    CHECK(local.connections() <= 12); // about one session and connection per thread
}

TEST_CASE("many concurrent requests that another thread cancels at any moment are each answered once") {
    server const local{each_request([](peer& client, std::string const&) { client.answer("x"); })};
    curl_client const client;
    std::size_t const times = rounds(8, 400);
    std::size_t finished = 0;
    std::size_t stopped = 0;
    for (std::size_t round = 0; round < times; ++round) {
        cancellation_source source;
        auto call = a_call();
        call.cancellation = source.token();
        listed_requests feed{
            std::vector<http_request>(200, a_request(local.origin() + "/", http_method::post, "body"))};
        std::thread canceller{[&] {
            std::this_thread::sleep_for(milliseconds{round % 8});
            source.cancel();
        }};
        feed.send(client, 32, call);
        canceller.join();
        REQUIRE(feed.answers().size() == 200);
        for (auto const& [slot, answer] : feed.answers()) {
            if (answer) {
                ++finished;
            } else {
                ++stopped;
                CHECK(answer.error().code == error_code::cancelled);
            }
        }
    }
    CHECK(finished + stopped == times * 200);
    CHECK(stopped > 0);
}

TEST_CASE("threads that share a bearer credential refresh it without a race") {
    std::atomic<int> asked{0};
    auto const who = credential::bearer([&](std::string_view) -> result<access_token> {
        return access_token{
            "token" + std::to_string(++asked), {date_time::from_date(2026, 11, 20).ticks + asked * 1'000}};
    });
    auto const at = endpoint::parse("https://acct.table.core.windows.net").value();
    std::vector<std::thread> threads;
    std::atomic<int> good{0};
    for (int index = 0; index < 4; ++index) {
        threads.emplace_back([&] {
            for (int number = 0; number < 500; ++number) {
                auto request = a_request(at.primary + "/Tables");
                date_time const now{date_time::from_date(2026, 11, 20).ticks + number};
                good += who.authorize(request, at, now) ? 1 : 0;
            }
        });
    }
    for (auto& thread : threads) { thread.join(); }
    CHECK(good == 2000);
    CHECK(asked >= 1);
}
