// SPDX-License-Identifier: MIT
// Copyright (c) 2026 the entitable authors

// What a REST backend repeats by itself: by status, by kind of request, and who switches it off.

#include <entitable/cloud/rest/rest_backend.hpp>
#include <entitable/core/decorators/retrying.hpp>
#include <entitable/testing/manual_clock.hpp>
#include <entitable/testing/rows.hpp>

#include <support/canned_client.hpp>
#include <support/catch.hpp>
#include <support/many.hpp>

using namespace entitable;
using namespace entitable_test;
using namespace std::chrono_literals;
using testing::make_row;

namespace {

struct fixture {
    fixture() {
        where.primary = "https://a.table.core.windows.net";
        where.account = "a";
        options.time = &time;
    }
    rest<canned_client> store() { return {client, where, credential{}, options}; }
    /// Answers every request with this status, or loses every response.
    void always(std::uint16_t status) {
        for (int count = 0; count < 20; ++count) {
            if (status == 0) {
                client.then([](http_request const&) -> result<http_response> {
                    failure lost{error_code::transport_failed, "the connection was closed"};
                    lost.error().effect = effect::unknown;
                    return lost;
                });
            } else {
                client.then(status);
            }
        }
    }

    canned_client client;
    endpoint where;
    testing::manual_clock time;
    rest_options options;
    call context;
};

write_entity insert() { return {"Orders", mutation::insert(make_row("p", "r", {{"N", 1}}))}; }
get_entity get() { return {"Orders", "p", "r", {}}; }
query_entities rows_of_p() {
    query_entities made;
    made.table = "Orders";
    made.range.partition = key_interval::only("p");
    return made;
}
transact two_inserts() {
    transact made;
    made.table = "Orders";
    made.changes = {mutation::insert(make_row("p", "1", {{"N", 1}})), mutation::insert(make_row("p", "2", {{"N", 2}}))};
    return made;
}

/// How many requests a call sends, and what its error says of the effect.
struct seen {
    std::size_t requests;
    bool unknown;
    std::uint32_t attempts;
    friend bool operator==(seen const&, seen const&) = default;
};

template <class Store, class Request>
seen sent_by(fixture& f, Store const& store, Request const& request) {
    auto const answered = store.execute(request, f.context);
    REQUIRE_FALSE(answered);
    return {f.client.asked().size(), answered.error().effect == effect::unknown, answered.error().attempts};
}

template <class Request>
seen sent_for(std::uint16_t status, Request const& request) {
    fixture f;
    f.always(status);
    return sent_by(f, f.store(), request);
}

template <class Request>
seen sent_by_hand(std::uint16_t status, Request const& request) {
    fixture f;
    f.options.retries = retry_policy::none();
    f.always(status);
    return sent_by(f, retrying{f.store(), {.policy = retry_policy::standard(), .time = &f.time, .seed = 1}}, request);
}

} // namespace

TEST_CASE("rest retries: reads are repeated after each transient failure, as by retrying around it") {
    for (std::uint16_t const status : std::initializer_list<std::uint16_t>{0, 408, 429, 500, 502, 503, 504}) {
        INFO(status);
        CHECK(sent_for(status, get()) == seen{4, false, 4});
        CHECK(sent_for(status, rows_of_p()) == seen{4, false, 4});
        CHECK(sent_for(status, list_tables{}) == seen{4, false, 4});
        CHECK(sent_for(status, get()) == sent_by_hand(status, get()));
        CHECK(sent_for(status, rows_of_p()) == sent_by_hand(status, rows_of_p()));
    }
    for (std::uint16_t const status :
        std::initializer_list<std::uint16_t>{400, 401, 403, 404, 409, 412, 413, 501, 505}) {
        INFO(status);
        CHECK(sent_for(status, get()).requests == 1);
        CHECK(sent_for(status, rows_of_p()).requests == 1);
        CHECK(sent_for(status, insert()) == seen{1, false, 1});
    }
}

TEST_CASE("rest retries: a write is repeated only if the failed attempt had no effect") {
    CHECK(sent_for(429, insert()) == seen{4, false, 4});
    CHECK(sent_for(429, two_inserts()) == seen{4, false, 4});
    CHECK(sent_for(429, create_table{"Orders"}) == seen{4, false, 4});
    for (std::uint16_t const status : std::initializer_list<std::uint16_t>{0, 408, 500, 502, 503, 504}) {
        INFO(status);
        CHECK(sent_for(status, insert()) == seen{1, true, 1});
        CHECK(sent_for(status, two_inserts()) == seen{1, true, 1});
        CHECK(sent_for(status, create_table{"Orders"}) == seen{1, true, 1});
        CHECK(sent_for(status, delete_table{"Orders"}) == seen{1, true, 1});
        CHECK(
            sent_by_hand(status, insert()) == seen{4, true, 4}); // the explicit layer determines the outcome afterwards
    }
}

TEST_CASE("rest retries: every kind of write, by every status") {
    auto const at = make_row("p", "r", {{"N", 1}});
    etag const tag{"W/\"1\""};
    mutation const kinds[] = {mutation::insert(at), mutation::replace(at, tag), mutation::replace(at, any_etag),
        mutation::merge(at, tag), mutation::merge(at, any_etag), mutation::insert_or_replace(at),
        mutation::insert_or_merge(at), mutation::remove(make_row("p", "r"), tag),
        mutation::remove(make_row("p", "r"), any_etag)};
    for (std::size_t kind = 0; kind < std::size(kinds); ++kind) {
        write_entity const sent{"Orders", kinds[kind]};
        CAPTURE(kind);
        // Refused before it was applied: repeated, as by retrying around it.
        CHECK(sent_for(429, sent) == seen{4, false, 4});
        CHECK(sent_for(429, sent) == sent_by_hand(429, sent));
        // Perhaps applied: sent once, with an unknown effect.
        for (std::uint16_t const status : std::initializer_list<std::uint16_t>{0, 408, 500, 502, 503, 504}) {
            CAPTURE(status);
            CHECK(sent_for(status, sent) == seen{1, true, 1});
        }
        // Refused for good: sent once, with no effect.
        for (std::uint16_t const status :
            std::initializer_list<std::uint16_t>{400, 401, 403, 404, 405, 409, 410, 412, 413, 501, 505}) {
            CAPTURE(status);
            CHECK(sent_for(status, sent) == seen{1, false, 1});
            CHECK(sent_for(status, sent) == sent_by_hand(status, sent));
        }
    }
}

TEST_CASE("rest retries: a lost write after a refused one keeps its unknown effect") {
    fixture f;
    f.client.then(429);
    f.always(0);
    CHECK(sent_by(f, f.store(), insert()) == seen{2, true, 2});
}

TEST_CASE("rest retries: an attempt that succeeds ends them, and the waits follow Retry-After") {
    fixture f;
    f.client.then(429, "", {{"Retry-After", "7"}});
    f.client.then(503);
    f.client.then(200, R"({"value":[]})");
    steady_time const start = f.time.steady();
    CHECK(f.store().execute(rows_of_p(), f.context));
    CHECK(f.client.asked().size() == 3);
    CHECK(f.context.attempts == 3);
    CHECK(f.time.steady() - start >= 7s);
    CHECK(f.time.steady() - start < 9s);
}

TEST_CASE("rest retries: a write with an operation id is repeated, and applied once") {
    fixture f;
    f.context.operation_id = "order-1";
    f.always(0);
    auto const lost = sent_by(f, f.store(), insert());
    CHECK(lost.requests > 1);
    CHECK(f.client.asked()[0].url.find("$batch") != std::string::npos); // with its operation row
    CHECK(f.store().profile().operation_ids);
}

TEST_CASE("rest retries: each way to switch them off") {
    SECTION("for the backend") {
        fixture f;
        f.options.retries = retry_policy::none();
        f.always(429);
        CHECK(sent_by(f, f.store(), get()).requests == 1);
    }
    SECTION("for one call") {
        fixture f;
        f.context.retry = retry::off;
        f.always(429);
        CHECK(sent_by(f, f.store(), get()).requests == 1);
        CHECK(sent_by(f, retrying{f.store(), {.time = &f.time}}, get()).requests == 2);
    }
    SECTION("by a retrying around it, which repeats alone") {
        fixture f;
        f.always(429);
        auto const around = retrying{f.store(), {.policy = retry_policy::fixed(3, 1s), .time = &f.time, .seed = 1}};
        CHECK(sent_by(f, around, get()) == seen{3, false, 3});
        CHECK(f.context.repeated_by == nullptr);
        CHECK(sent_by(f, f.store(), get()).requests == 3 + 4); // the same call, without the layer
    }
    SECTION("by a caller that repeats itself") {
        fixture f;
        f.always(429);
        f.context.retry = retry::by_caller;
        CHECK(sent_by(f, f.store(), get()).requests == 1);
        CHECK(
            sent_by(f, retrying{f.store(), {.policy = retry_policy::fixed(3, 1s), .time = &f.time}}, get()).requests ==
            4);
    }
    SECTION("by the deadline of the call") {
        fixture f;
        f.always(503);
        f.context.deadline = f.time.steady() + 1ms;
        CHECK(sent_by(f, f.store(), get()).requests == 1);
    }
}

TEST_CASE("rest retries: the quota of the copies ends them during an outage") {
    fixture f;
    f.options.retry_quota = 5;
    for (int count = 0; count < 3; ++count) { f.always(503); }
    auto const store = f.store();
    auto const copy = store; // NOLINT(performance-unnecessary-copy-initialization): shares the quota
    for (int count = 0; count < 10; ++count) {
        call each;
        CHECK_FALSE((count % 2 == 0 ? store : copy).execute(get(), each));
    }
    CHECK(f.client.asked().size() == 10 + 5);
}

TEST_CASE("rest retries: an invalid policy is refused before anything is sent") {
    fixture f;
    f.options.retries.max_attempts = 0;
    auto const answered = f.store().execute(get(), f.context);
    REQUIRE_FALSE(answered);
    CHECK(answered.error().code == error_code::out_of_range_input);
    CHECK(f.client.asked().empty());
}

TEST_CASE("rest retries: a channel repeats as a call does") {
    for (bool const off : {false, true}) {
        fixture f;
        f.always(429);
        if (off) { f.context.retry = retry::off; }
        CHECK(send_all<get_entity>(f.store(), {get()}, 1, f.context, f.time).successes() == 0);
        CHECK(f.client.asked().size() == (off ? 1 : 4));
    }
}
