// SPDX-License-Identifier: MIT
// Copyright (c) 2026 the entitable authors

// A limit on the rate of requests: for blocking calls, in channels, at its limits.

#include <entitable/memory.hpp>
#include <entitable/retrying.hpp>
#include <entitable/testing.hpp>
#include <entitable/testing/conformance.hpp>

#include <support/catch.hpp>
#include <support/many.hpp>

#include <algorithm>
#include <cmath>
#include <limits>
#include <random>
#include <thread>

using namespace entitable;
using namespace std::chrono_literals;
using entitable_test::ContainsSubstring;
using testing::make_row;

namespace {

/// Records the times at which requests arrive.
struct recording {
    using is_transport = void;

    memory_backend store;
    entitable::clock* time;
    std::vector<steady_time>* arrivals;

    [[nodiscard]] entitable::profile profile() const { return store.profile(); }
    template <table_request Request>
    [[nodiscard]] result<response_of<Request>> execute(Request const& request, call& context) const {
        arrivals->push_back(time->steady());
        return entitable::execute(store, request, context);
    }
};

struct stage {
    explicit stage(rate_limit limit)
        : through(recording{memory_backend{local_options{.time = &time}}, &time, &arrivals}, with_clock(limit)) {}

    [[nodiscard]] result<list_tables::response> ask(call context = {}) const {
        return through.execute(list_tables{}, context);
    }
    rate_limit with_clock(rate_limit limit) {
        limit.time = &time;
        return limit;
    }
    testing::manual_clock time;
    std::vector<steady_time> arrivals;
    limited<recording> through;
};

write_entity insert(std::string key) { return {"Orders", mutation::insert(make_row("p", std::move(key), {{"N", 1}}))}; }

/// The greatest number of arrivals by which a window exceeds `rate` requests a second.
double excess(std::vector<steady_time> const& arrivals, double rate) {
    double most = 0;
    for (std::size_t from = 0; from < arrivals.size(); ++from) {
        for (std::size_t to = from; to < arrivals.size(); ++to) {
            double const seconds = std::chrono::duration<double>(arrivals[to] - arrivals[from]).count();
            most = (std::max)(most, static_cast<double>(to - from + 1) - seconds * rate);
        }
    }
    return most;
}

} // namespace

TEST_CASE("limited: requests are spread evenly after the burst") {
    stage on{{.requests_a_second = 10, .burst = 3}};
    steady_time const start = on.time.steady();
    for (int count = 0; count < 6; ++count) { REQUIRE(on.ask()); }
    std::vector<std::chrono::milliseconds> seen;
    for (auto const at : on.arrivals) {
        seen.push_back(std::chrono::duration_cast<std::chrono::milliseconds>(at - start));
    }
    CHECK(seen == std::vector{0ms, 0ms, 0ms, 100ms, 200ms, 300ms});
}

TEST_CASE("limited: an idle time restores the burst, and no more than the burst") {
    stage on{{.requests_a_second = 10, .burst = 2}};
    for (int count = 0; count < 4; ++count) { REQUIRE(on.ask()); }
    on.time.advance(1h);
    on.arrivals.clear();
    steady_time const start = on.time.steady();
    for (int count = 0; count < 4; ++count) { REQUIRE(on.ask()); }
    CHECK(std::count(on.arrivals.begin(), on.arrivals.end(), start) == 2);
    CHECK(on.arrivals.back() - start == 200ms);
}

TEST_CASE("limited: a burst of 1 never sends two requests at once") {
    stage on{{.requests_a_second = 1000, .burst = 1}};
    for (int count = 0; count < 5; ++count) { REQUIRE(on.ask()); }
    for (std::size_t at = 1; at < on.arrivals.size(); ++at) { CHECK(on.arrivals[at] - on.arrivals[at - 1] == 1ms); }
}

TEST_CASE("limited: a request that would wait too long is refused, is not sent and is not counted") {
    stage on{{.requests_a_second = 1, .burst = 1, .longest_wait = 500ms}};
    REQUIRE(on.ask());
    for (int count = 0; count < 3; ++count) {
        auto const refused = on.ask();
        REQUIRE_FALSE(refused);
        CHECK(refused.error().code == error_code::server_busy);
        CHECK(refused.error().effect == effect::none);
        CHECK(refused.error().retry_after == 1000ms);
        CHECK_THAT(refused.error().message, ContainsSubstring("1000 ms, later than rate_limit::longest_wait"));
    }
    CHECK(on.arrivals.size() == 1);
    on.time.advance(500ms);
    CHECK(on.ask()); // waits 500 ms
    CHECK(on.arrivals.size() == 2);
}

TEST_CASE("limited: a request whose turn comes after the deadline of its call is refused at once") {
    stage on{{.requests_a_second = 1, .burst = 1}};
    REQUIRE(on.ask());
    call hurried{call_options{.timeout = 300ms}, on.time};
    steady_time const start = on.time.steady();
    auto const refused = on.ask(hurried);
    REQUIRE_FALSE(refused);
    CHECK_THAT(refused.error().message, ContainsSubstring("after the deadline of the call"));
    CHECK(on.time.steady() == start);
    CHECK(on.ask(call{call_options{.timeout = 1001ms}, on.time}));
}

TEST_CASE("limited: `retrying` waits for the turn that a refusal names") {
    testing::manual_clock time;
    std::vector<steady_time> arrivals;
    memory_backend const store{local_options{.time = &time}};
    retrying const through{
        limited{recording{store, &time, &arrivals}, {.requests_a_second = 2, .longest_wait = 0ns, .time = &time}},
        {.policy = retry_policy::fixed(3, 1ms), .time = &time, .seed = 1}};
    call context;
    for (int count = 0; count < 3; ++count) { CHECK(through.execute(list_tables{}, context)); }
    REQUIRE(arrivals.size() == 3);
    CHECK(arrivals[2] - arrivals[0] >= 1s);
    CHECK(arrivals[2] - arrivals[0] <= 1010ms);
}

TEST_CASE("limited: invalid options are refused by every request") {
    double const nan = std::numeric_limits<double>::quiet_NaN();
    double const infinity = std::numeric_limits<double>::infinity();
    for (double const rate : {0.0, -1.0, nan, infinity, 1e10, 0.0001}) {
        stage on{{.requests_a_second = rate}};
        auto const refused = on.ask();
        REQUIRE_FALSE(refused);
        CHECK(refused.error().code == error_code::out_of_range_input);
        CHECK(on.arrivals.empty());
    }
    CHECK_THAT((stage{{.requests_a_second = 1, .burst = 0}}.ask().error().message), ContainsSubstring("burst"));
    CHECK_THAT((stage{{.requests_a_second = 1, .longest_wait = -1ns}}.ask().error().message),
        ContainsSubstring("longest_wait"));
}

TEST_CASE("limited: the extreme rates and bursts do not overflow") {
    for (double const rate : {0.001, 1e9}) {
        for (std::uint32_t const burst : {1U, (std::numeric_limits<std::uint32_t>::max)()}) {
            stage on{{.requests_a_second = rate, .burst = burst, .longest_wait = (std::chrono::nanoseconds::max)()}};
            for (int count = 0; count < 3; ++count) { CHECK(on.ask()); }
            CHECK(on.arrivals.size() == 3);
        }
    }
}

TEST_CASE("limited: random arrivals never exceed rate and burst in any window") {
    std::mt19937_64 dice{7};
    for (int round = 0; round < 60; ++round) {
        double const rate = 1 + static_cast<double>(dice() % 400) / 4;
        auto const burst = static_cast<std::uint32_t>(1 + dice() % 9);
        stage on{
            {.requests_a_second = rate, .burst = burst, .longest_wait = std::chrono::milliseconds{dice() % 2'000}}};
        for (int count = 0; count < 120; ++count) {
            if (dice() % 3 == 0) { on.time.advance(std::chrono::microseconds{dice() % 200'000}); }
            static_cast<void>(on.ask());
        }
        CAPTURE(rate, burst);
        CHECK(excess(on.arrivals, rate) <= burst + 1e-3);
        CHECK_FALSE(on.arrivals.empty());
    }
}

TEST_CASE("limited: in a channel requests wait concurrently, at the same rate") {
    stage on{{.requests_a_second = 10, .burst = 2}};
    call context;
    REQUIRE(on.through.execute(create_table{"Orders"}, context));
    on.time.advance(1min);
    on.arrivals.clear();
    steady_time const start = on.time.steady();
    std::vector<write_entity> writes;
    for (int at = 0; at < 6; ++at) { writes.push_back(insert(std::to_string(at))); }
    auto const all = entitable_test::send_all(any_store{on.through}, writes, 6, {}, on.time);
    CHECK(all.successes() == 6);
    CHECK(all.order == std::vector<std::size_t>{0, 1, 2, 3, 4, 5});
    CHECK(on.arrivals.back() - start >= 400ms);
    CHECK(on.arrivals.back() - start <= 410ms);
    CHECK(excess(on.arrivals, 10) <= 2.1);
}

TEST_CASE("limited: a waiting request in a channel can be cancelled through the channel or by its token") {
    stage on{{.requests_a_second = 1, .burst = 1}};
    call setup;
    REQUIRE(on.through.execute(create_table{"Orders"}, setup));
    poll_driver io{on.time};
    auto const opened = open_channel(any_store{on.through}, io);
    std::vector<write_entity> const writes{insert("a"), insert("b"), insert("c")};
    cancellation_source stop;
    std::vector<call> calls(3);
    calls[1].cancellation = stop.token();
    for (std::size_t at = 0; at < 3; ++at) { opened->send(writes[at], calls[at], &calls[at]); }
    std::vector<std::pair<std::size_t, error_code>> ended;
    auto const take = [&](completion& done) {
        ended.emplace_back(static_cast<std::size_t>(static_cast<call*>(done.tag) - calls.data()),
            done.problem != nullptr ? done.problem->code : error_code::internal_error);
    };
    opened->cancel(&calls[0], error{error_code::cancelled, "no longer needed"});
    opened->poll(on.time.steady(), take);
    CHECK(ended == std::vector<std::pair<std::size_t, error_code>>{{0, error_code::cancelled}});
    stop.cancel();
    opened->poll(on.time.steady(), take);
    REQUIRE(ended.size() == 2);
    CHECK(ended[1].first == 1);
    on.time.advance(10s);
    opened->poll(on.time.steady(), take);
    opened->poll(on.time.steady(), take);
    REQUIRE(ended.size() == 3);
    CHECK(ended[2].second == error_code::internal_error); // no error
    CHECK(on.arrivals.size() == 2);
}

TEST_CASE("limited: a wait is reported to the observer of the call") {
    struct notes final : observer {
        void on_wait(wait_record const& wait) noexcept override {
            all.push_back(std::string{wait.name} + " " + std::string{to_string(wait.cause)});
        }
        std::vector<std::string> all;
    } seen;
    stage on{{.requests_a_second = 5, .burst = 1}};
    for (int count = 0; count < 2; ++count) {
        call context;
        context.watch = &seen;
        REQUIRE(on.ask(context));
    }
    CHECK(seen.all == std::vector<std::string>{"list_tables rate_limit"});
}

TEST_CASE("limited: threads share the limit") {
    memory_backend const store;
    limited const through{store, {.requests_a_second = 2'000, .burst = 1}};
    auto const start = std::chrono::steady_clock::now();
    std::vector<std::thread> threads;
    for (int thread = 0; thread < 4; ++thread) {
        threads.emplace_back([through] {
            for (int count = 0; count < 25; ++count) {
                call context;
                if (!through.execute(list_tables{}, context)) { std::abort(); }
            }
        });
    }
    for (auto& each : threads) { each.join(); }
    CHECK(std::chrono::steady_clock::now() - start >= 49ms); // 99 intervals of 0.5 ms
}

TEST_CASE("limited: keeps the contract of the store below") {
    auto const make = []() -> any_store {
        return limited{memory_backend{}, {.requests_a_second = 1e9, .burst = 1'000'000}};
    };
    for (std::string const& failure : testing::conformance::run(make)) { FAIL_CHECK(failure.substr(0, 2000)); }
}
