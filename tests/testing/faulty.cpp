// SPDX-License-Identifier: MIT
// Copyright (c) 2026 the entitable authors

#include <entitable/memory.hpp>
#include <entitable/testing.hpp>

#include <support/catch.hpp>

using namespace entitable;
using namespace std::chrono_literals;
using entitable_test::ContainsSubstring;
using testing::fault;
using testing::make_row;

namespace {

static_assert(transport<testing::faulty<memory_backend>>);
static_assert(transport<testing::faulty<any_store>>);

struct stage {
    stage() {
        call own;
        (void)backend.execute(create_table{"Orders"}, own).value();
    }
    result<written> insert(std::string key, std::string partition = "p") {
        call context;
        return service.execute(write_entity{"Orders", mutation::insert(make_row(partition, key))}, context);
    }
    bool has(std::string key) { return static_cast<bool>(testing::has_entity(backend, "Orders", "p", std::move(key))); }

    testing::manual_clock time;
    memory_backend backend;
    testing::faulty<memory_backend> service{backend, {.time = &time}};
};

} // namespace

TEST_CASE("faulty: each fault has its documented effect and answer") {
    struct expected {
        fault what;
        bool applied;
        error_code code;
        std::uint16_t http;
        effect left;
    };
    expected const all[] = {
        {fault::refused(), false, error_code::transport_failed, 0, effect::none},
        {fault::lost_before(), false, error_code::transport_failed, 0, effect::unknown},
        {fault::lost_after(), true, error_code::transport_failed, 0, effect::unknown},
        {fault::half_answer(), true, error_code::transport_failed, 0, effect::unknown},
        {fault::late(), false, error_code::transport_failed, 0, effect::unknown},
        {fault::throttled(7s), false, error_code::other_service_error, 429, effect::none},
        {fault::busy(), false, error_code::server_busy, 503, effect::none},
        {fault::status(500, true), true, error_code::internal_error, 500, effect::unknown},
        {fault::status(504, false), false, error_code::other_service_error, 504, effect::unknown},
    };
    for (expected const& each : all) {
        CAPTURE(each.what.name);
        stage on;
        on.service.plan({each.what, 1});
        auto const outcome = on.insert("r");
        REQUIRE_FALSE(outcome);
        CHECK(outcome.error().code == each.code);
        CHECK(outcome.error().http_status == each.http);
        CHECK(outcome.error().effect == each.left);
        CHECK(outcome.error().retry_after == each.what.answer->retry_after);
        CHECK(on.has("r") == each.applied);
        CHECK(on.service.all_fired());
        CHECK(on.service.happened()[each.what.name] == 1);
        CHECK(on.insert("s"));
    }
}

TEST_CASE("faulty: a late request is applied after the next request to its partition, or on request") {
    stage on;
    on.service.plan({fault::late(), 1});
    on.service.plan({fault::late(), 3});
    CHECK_FALSE(on.insert("r"));
    CHECK(on.insert("x", "elsewhere"));
    CHECK_FALSE(on.has("r"));
    CHECK_FALSE(on.insert("s")); // late itself
    CHECK(on.has("r"));
    CHECK_FALSE(on.has("s"));
    CHECK(on.service.arrive() == 1);
    CHECK(on.has("s"));
    CHECK(on.service.arrive() == 0);
}

TEST_CASE("faulty: a slow answer is delayed and does not arrive after the deadline") {
    stage on;
    auto const begun = on.time.steady();
    on.service.plan({fault::slow(3s), 1});
    CHECK(on.insert("r"));
    CHECK(on.time.steady() - begun == 3s);

    on.service.plan({fault::slow(3s), 1});
    call hurried;
    hurried.deadline = on.time.steady() + 1s;
    auto const outcome = on.service.execute(write_entity{"Orders", mutation::insert(make_row("p", "s"))}, hurried);
    CHECK(outcome.error().code == error_code::deadline_exceeded);
    CHECK(outcome.error().effect == effect::unknown);
    CHECK(on.time.steady() == hurried.deadline);
    CHECK(on.has("s"));
}

TEST_CASE("faulty: a failed read has effect::none") {
    stage on;
    on.service.plan({fault::lost_after(), 1});
    call context;
    auto const outcome = on.service.execute(get_entity{"Orders", "p", "r", {}}, context);
    CHECK(outcome.error().code == error_code::transport_failed);
    CHECK(outcome.error().effect == effect::none);
}

TEST_CASE("faulty: a plan applies to one kind of request and one table, and its faults are counted") {
    stage on;
    on.service.plan({fault::busy(), 2, "write_entity"});
    on.service.plan({fault::busy(), 1, {}, "Others"});
    CHECK(on.insert("1"));
    call context;
    CHECK(on.service.execute(get_entity{"Orders", "p", "1", {}}, context));
    CHECK_FALSE(on.insert("2"));
    CHECK(on.insert("2"));
    auto const fired = on.service.all_fired();
    CHECK_FALSE(fired);
    CHECK_THAT(fired.reason(), ContainsSubstring("503 at request 1 of any kind was planned but did not happen"));
    auto const account = on.service.account();
    REQUIRE(account.size() == 2);
    CHECK(account[0].fired);
    CHECK_FALSE(account[1].fired);
    CHECK(on.service.requests() == 4);
}

TEST_CASE("faulty: an impossible plan is reported by the first request, with the valid names") {
    stage on;
    on.service.plan({fault::busy(), 1, "write_entitty"});
    auto const outcome = on.insert("r");
    REQUIRE_FALSE(outcome);
    CHECK(outcome.error().code == error_code::invalid_input);
    CHECK(outcome.error().message ==
        "invalid plan: a fault for the unknown request \"write_entitty\"; the known requests are create_table, "
        "delete_table, list_tables, get_entity, query_entities, write_entity, transact");
    CHECK_FALSE(on.has("r"));
    CHECK_THAT(on.service.all_fired().reason(), ContainsSubstring("the unknown request \"write_entitty\""));

    stage other;
    other.service.plan({fault::busy(), 0, "write_entity"});
    CHECK_THAT(other.insert("r").error().message, ContainsSubstring("counted from 1"));
    for (char const* const name : {"", "create_table", "list_tables", "get_entity", "query_entities", "transact"}) {
        stage fine;
        fine.service.plan({fault::busy(), 100, name});
        CHECK(fine.insert("r"));
    }
}

TEST_CASE("faulty: two faults that are due at once occur one after the other") {
    stage on;
    on.service.plan({fault::busy(), 1});
    on.service.plan({fault::throttled(), 1});
    CHECK(on.insert("r").error().http_status == 503);
    CHECK(on.insert("r").error().http_status == 429);
    CHECK(on.insert("r"));
}

TEST_CASE("faulty: the same seed plans the same faults") {
    auto const plan = [](std::uint64_t seed) {
        stage on;
        on.service.plan_random(seed, 20, 100, {fault::busy(), fault::lost_before(), fault::lost_after()});
        std::string text;
        for (testing::planned_fault const& each : on.service.account()) {
            text += each.what.name + std::to_string(each.number) + " ";
        }
        return text;
    };
    CHECK(plan(1) == plan(1));
    CHECK(plan(1) != plan(2));
    stage on;
    on.service.plan_random(1, 20, 100, {fault::busy()});
    std::size_t failed = 0;
    for (int index = 0; index < 100; ++index) { failed += on.insert(std::to_string(index)) ? 0U : 1U; }
    CHECK(failed == 20);
    CHECK(on.service.all_fired());
}

TEST_CASE("faulty: a partition above its target is unavailable for a while, and others are not") {
    stage on;
    testing::faulty service{
        on.backend, {.time = &on.time, .target = testing::partition_target{100, 10s, std::chrono::milliseconds{500}}}};
    auto const send = [&](std::string partition) {
        call context;
        return service.execute(get_entity{"Orders", std::move(partition), "r", {}}, context).error();
    };
    on.time.advance(1s - on.time.steady().time_since_epoch() % 1s); // the beginning of a second
    for (int count = 0; count < 100; ++count) { CHECK(send("p").code == error_code::resource_not_found); }
    error const busy = send("p");
    CHECK(busy.http_status == 503);
    CHECK(busy.retry_after == 500ms);
    CHECK(send("q").code == error_code::resource_not_found);
    on.time.advance(9s);
    CHECK(send("p").http_status == 503);
    on.time.advance(1s);
    CHECK(send("p").code == error_code::resource_not_found);
    CHECK(service.happened()["offline"] == 2);
    for (int second = 0; second < 5; ++second) {
        for (int count = 0; count < 50; ++count) {
            CHECK(send("p").code == error_code::resource_not_found); // within its target
        }
        on.time.advance(1s);
    }
}

TEST_CASE("faulty: a planned window that no request reached is reported as not fired") {
    stage on;
    on.service.plan_window("Orders", "p", 5s);
    CHECK_FALSE(on.service.all_fired());
    CHECK(on.insert("r", "q"));
    CHECK_FALSE(on.service.all_fired());
    CHECK(on.insert("r").error().http_status == 503);
    CHECK(on.service.all_fired());
    on.time.advance(5s);
    CHECK(on.insert("r"));
}

TEST_CASE("faulty: copies share the plan") {
    stage on;
    auto const copy = on.service;
    on.service.plan({fault::busy(), 1});
    call context;
    CHECK(copy.execute(get_entity{"Orders", "p", "r", {}}, context).error().http_status == 503);
    CHECK(on.service.all_fired());
}

TEST_CASE("faulty: a fault appears as one attempt to the observer of the call, whatever happened in the store") {
    struct codes final : observer {
        void on_attempt(attempt_record const& done) noexcept override {
            all += done.outcome.error ? std::string{to_string(*done.outcome.error)} + ' ' : "fine ";
        }
        std::string all;
    };
    stage on;
    on.service.plan({fault::lost_after(), 1});
    on.service.plan({fault::refused(), 2});
    codes seen;
    call context;
    context.watch = &seen;
    for (char const* const key : {"1", "2", "3"}) {
        (void)on.service.execute(write_entity{"Orders", mutation::insert(make_row("p", key))}, context);
    }
    CHECK(seen.all == "TransportFailed TransportFailed fine ");
    CHECK(context.attempts == 3);
}
