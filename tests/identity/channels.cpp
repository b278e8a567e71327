// SPDX-License-Identifier: MIT
// Copyright (c) 2026 the entitable authors

// Many requests in flight on one thread: none of them blocks it while a token is requested.

#include <entitable/azure.hpp>
#include <entitable/core/io_driver.hpp>
#include <entitable/identity.hpp>

#include <identity/machine.hpp>

#include <atomic>
#include <chrono>
#include <thread>

using namespace entitable;
using namespace entitable_test;

namespace {

/// An identity whose answers a test holds back.
struct held_identity {
    std::atomic<int> asked{0};
    std::atomic<bool> open{false};
    std::atomic<bool> fails{false};
    std::atomic<bool> throws{false};
    testing::manual_clock time{date_time::from_date(2026, 11, 20)};

    [[nodiscard]] identity make() {
        identity_options options;
        options.time = &time;
        options.send = [this](http_request const&, http_call const& call) -> result<http_response> {
            ++asked;
            while (!open) {
                if (call.cancellation.cancelled()) { return failure{error_code::cancelled, "the call was cancelled"}; }
                std::this_thread::sleep_for(std::chrono::milliseconds{1});
            }
            if (throws) { throw std::runtime_error{"thrown"}; }
            http_response answer;
            answer.status = fails ? 400 : 200;
            answer.body = fails ? "{}" : a_token_body;
            return answer;
        };
        return client_secret(a_tenant, a_client, "s", options);
    }
};

/// A service that answers every request at once.
canned_client lists(int count) {
    canned_client made;
    for (int index = 0; index < count; ++index) { made.then(200, R"({"value":[]})"); }
    return made;
}

/// Requests in flight in one channel, and their outcomes.
struct flight {
    explicit flight(canned_client client, identity const& who, testing::manual_clock& time)
        : service(std::move(client)) {
        rest_options options;
        options.time = &time;
        store = std::make_unique<rest<canned_client>>("https://acct.table.core.windows.net", who, options, service);
        under = store->open(io);
    }
    void send(call& context) {
        tags.emplace_back(std::make_unique<int>());
        under->send(request_ref{asked}, context, tags.back().get());
    }
    /// Polls until `wanted` requests have ended, for at most 5 s.
    void poll_until(std::size_t wanted) {
        auto const end = std::chrono::steady_clock::now() + std::chrono::seconds{5};
        while (codes.size() < wanted && std::chrono::steady_clock::now() < end) {
            poll();
            io.wait(std::min(under->wakes_at(), std::chrono::steady_clock::now() + std::chrono::milliseconds{20}));
        }
    }
    void poll() {
        under->poll(io.time().steady(), [&](completion& done) {
            codes.push_back(done.problem == nullptr ? std::nullopt : std::optional{done.problem->code});
        });
    }

    canned_client service;
    std::unique_ptr<rest<canned_client>> store;
    poll_driver io;
    list_tables asked;
    shared<channel> under;
    std::vector<std::unique_ptr<int>> tags;
    std::vector<std::optional<error_code>> codes; ///< nullopt for a success
};

} // namespace

TEST_CASE("requests wait for a token without blocking the loop, and one request gets it for all") {
    held_identity held;
    flight all{lists(20), held.make(), held.time};
    std::vector<call> calls(20);
    auto const begun = std::chrono::steady_clock::now();
    for (call& each : calls) { all.send(each); }
    for (int times = 0; times < 5; ++times) { all.poll(); }
    CHECK(std::chrono::steady_clock::now() - begun < std::chrono::seconds{2});
    CHECK(all.codes.empty());
    CHECK(all.service.asked().empty());
    held.open = true;
    all.poll_until(20);
    CHECK(all.codes == std::vector<std::optional<error_code>>(20));
    CHECK(held.asked == 1);
    CHECK(all.service.last().headers.find("Authorization") == "Bearer tok.en-1");
    for (call& each : calls) { CHECK(each.attempts == 1); }
}

TEST_CASE("a token that is renewed ahead of its end delays no request of a loop") {
    held_identity held;
    held.open = true;
    flight all{lists(3), held.make(), held.time};
    call context;
    all.send(context);
    all.poll_until(1);
    held.open = false;
    held.time.advance(std::chrono::minutes{56});
    all.send(context);
    all.poll_until(2);
    CHECK(all.codes == std::vector<std::optional<error_code>>(2)); // with the old token
    while (held.asked < 2) { std::this_thread::sleep_for(std::chrono::milliseconds{1}); }
    held.open = true;
    all.send(context);
    all.poll_until(3);
    CHECK(held.asked == 2);
}

TEST_CASE("a refused token ends all requests that wait for it, and the next request asks again") {
    held_identity held;
    flight all{lists(1), held.make(), held.time};
    std::vector<call> calls(3);
    for (call& each : calls) { all.send(each); }
    held.fails = true;
    held.open = true;
    all.poll_until(3);
    CHECK(all.codes == std::vector<std::optional<error_code>>(3, error_code::authentication_failed));
    CHECK(held.asked == 1);
    held.fails = false;
    all.send(calls[0]);
    all.poll_until(4);
    CHECK_FALSE(all.codes.back());
    CHECK(held.asked == 2);
}

TEST_CASE("a function that throws while a loop waits is an error") {
    held_identity held;
    flight all{lists(1), held.make(), held.time};
    call context;
    held.throws = true;
    held.open = true;
    all.send(context);
    all.poll_until(1);
    CHECK(all.codes.back() == error_code::internal_error);
}

TEST_CASE("a request that waits for a token ends at its deadline, and when it is cancelled") {
    held_identity held;
    flight all{lists(3), held.make(), held.time};
    std::vector<call> calls(3);
    calls[0].deadline = held.time.steady() + std::chrono::seconds{5};
    cancellation_source stop;
    calls[1].cancellation = stop.token();
    for (call& each : calls) { all.send(each); }
    all.poll();
    CHECK(all.codes.empty());
    held.time.advance(std::chrono::seconds{6});
    all.poll();
    all.poll();
    CHECK(all.codes == std::vector<std::optional<error_code>>{error_code::deadline_exceeded});
    stop.cancel();
    all.poll();
    all.poll();
    CHECK(all.codes.back() == error_code::cancelled);
    CHECK(all.codes.size() == 2);
    all.under->cancel(all.tags[2].get(), error{error_code::cancelled, "by its tag"});
    all.poll();
    CHECK(all.codes.size() == 3);
    held.open = true;
    std::this_thread::sleep_for(std::chrono::milliseconds{20});
    all.poll();
    CHECK(all.codes.size() == 3); // each has ended once
    CHECK(all.service.asked().empty());
}

TEST_CASE("a channel and an identity may go while a token is requested") {
    held_identity held;
    auto const begun = std::chrono::steady_clock::now();
    {
        call context;
        flight all{lists(1), held.make(), held.time};
        all.send(context);
        all.poll();
        while (held.asked == 0) { std::this_thread::sleep_for(std::chrono::milliseconds{1}); }
    }
    CHECK(std::chrono::steady_clock::now() - begun < std::chrono::seconds{2});
}
