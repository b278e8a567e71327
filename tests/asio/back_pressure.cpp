// SPDX-License-Identifier: MIT
// Copyright (c) 2026 the entitable authors

// With more calls under way than the process may have descriptors: they wait for each other, within their deadlines.

#include <entitable/async.hpp>

#include <asio/served.hpp>
#include <async/books.hpp>
#include <support/catch.hpp>
#include <support/child_process.hpp>
#include <sys/resource.h>
#include <unistd.h>

#include <vector>

using namespace entitable;
using namespace std::chrono_literals;
using entitable_test::account_at;
using entitable_test::book;
using entitable_test::book_of;

namespace {

/// Lets the process open only a few more descriptors. The sanitizer of virtual calls opens a pipe when it meets a type for the first time, and
/// takes the object for invalid without a free descriptor: a test does once without the limit what it does within, and checks its results
/// after the limit.
struct few_descriptors {
    rlimit before{};
    explicit few_descriptors(rlim_t more) {
        REQUIRE(::getrlimit(RLIMIT_NOFILE, &before) == 0);
        int const next = ::dup(0);
        rlimit few = before;
        few.rlim_cur = static_cast<rlim_t>(next) + more;
        ::close(next);
        REQUIRE(::setrlimit(RLIMIT_NOFILE, &few) == 0);
    }
    few_descriptors(few_descriptors const&) = delete;
    few_descriptors& operator=(few_descriptors const&) = delete;
    ~few_descriptors() { (void)::setrlimit(RLIMIT_NOFILE, &before); }
};

/// Serves tables in another process, which has all the descriptors that it wants.
class other_process {
    struct two_ends {
        int ends[2]{};
        two_ends() { REQUIRE(::pipe(ends) == 0); }
        ~two_ends() {
            ::close(ends[0]);
            ::close(ends[1]);
        }
    };
    static bool serve(int tell) {
        http_listener listener{table_server{memory_backend{}}, {.port = 0}};
        listener.listen().value();
        unsigned const at = listener.port();
        return ::write(tell, &at, sizeof at) == sizeof at && listener.run().has_value();
    }

    two_ends pipe_;
    entitable_test::child_process child_{[this] { return serve(pipe_.ends[1]); }};

public:
    unsigned port{};
    other_process() { REQUIRE(::read(pipe_.ends[0], &port, sizeof port) == sizeof port); }
};

task<result<void>> read_once(async_table<book> books, int* good, std::vector<error>* problems) {
    auto const found = co_await books.get("a", "1");
    if (found) {
        ++*good;
    } else {
        problems->push_back(found.error());
    }
    co_return result<void>{};
}

} // namespace

TEST_CASE("more reads under way than descriptors: all are answered") {
    other_process const service;
    azure_backend const cloud = account_at(service.port);
    table<book> const plain{cloud, "Books"};
    plain.create().value();
    plain.insert(book_of("a", 1, 7)).value();
    event_loop loop{{.in_flight = 300}};
    async_table<book> const books{loop, cloud, "Books"};
    int good = 0;
    std::vector<error> problems;
    loop.spawn(read_once(books, &good, &problems));
    loop.run();
    for (int each = 1; each < 900; ++each) { loop.spawn(read_once(books, &good, &problems)); }
    {
        few_descriptors const limit{20};
        loop.run();
    }
    INFO((problems.empty() ? std::string{} : problems.front().to_string()));
    CHECK(problems.empty());
    CHECK(good == 900);
}

TEST_CASE("a call that waits for a descriptor ends at its deadline, and a cancelled one at once") {
    other_process const answers; // forks first
    entitable_test::silent_service const service;
    any_store const cloud = service.store();
    event_loop loop{{.in_flight = 300}};
    call_options of_calls;
    of_calls.timeout = 300ms;
    async_table<book> const books{loop, cloud, "Books", of_calls};
    async_table<book> const patient{loop, cloud, "Books"};
    int good = 0;
    std::vector<error> problems;
    std::vector<error> cancelled;
    loop.spawn(read_once({loop, account_at(answers.port), "Books"}, &good, &problems));
    loop.run();
    problems.clear();
    steady_time::duration took{};
    {
        few_descriptors const limit{8};
        for (int each = 0; each < 30; ++each) { loop.spawn(read_once(books, &good, &problems)); }
        auto const begun = system_clock().steady();
        loop.run();
        took = system_clock().steady() - begun;
        for (int each = 0; each < 30; ++each) { loop.spawn(read_once(patient, &good, &cancelled)); }
        for (int turn = 0; turn < 20; ++turn) {
            (void)loop.turn();
            loop.io().wait(system_clock().steady() + 2ms);
        }
        loop.stop();
        loop.run();
    }
    CHECK(took < 20s);
    REQUIRE(problems.size() == 30);
    for (auto const& each : problems) { CHECK(each.code == error_code::deadline_exceeded); }
    REQUIRE(cancelled.size() == 30);
    for (auto const& each : cancelled) { CHECK(each.code == error_code::cancelled); }
}

TEST_CASE("a blocking call waits for a descriptor until its deadline") {
    other_process const service;
    azure_backend const cloud = account_at(service.port);
    call_options of_calls;
    of_calls.timeout = 200ms;
    table<book> const books{cloud, "Books", of_calls};
    static_cast<void>(table<book>{account_at(service.port), "Books"}.find("a", "1")); // over a connection of its own
    auto const found = [&] {
        few_descriptors const limit{0};
        return books.find("a", "1");
    }();
    REQUIRE_FALSE(found);
    CHECK(found.error().code == error_code::deadline_exceeded);
    CHECK(found.error().effect == effect::none);
}
