// SPDX-License-Identifier: MIT
// Copyright (c) 2026 the entitable authors

// The events for the observer of a call whose requests are repeated.

#include <entitable/core/decorators/retrying.hpp>
#include <entitable/local/memory/memory_backend.hpp>
#include <entitable/testing/faulty.hpp>
#include <entitable/testing/manual_clock.hpp>
#include <entitable/testing/rows.hpp>
#include <entitable/testing/scripted.hpp>

#include <support/catch.hpp>
#include <support/watcher.hpp>

using namespace entitable;
using entitable_test::watcher;
using testing::make_row;
using namespace std::chrono_literals;

namespace {

error busy(std::optional<std::chrono::milliseconds> wish = {}) {
    error made{error_code::server_busy, "busy"};
    made.retry_after = wish;
    return made;
}

struct stage {
    stage() { context.watch = &eyes; }
    testing::manual_clock time;
    testing::scripted service;
    watcher eyes;
    call context;

    retrying<testing::scripted> patient(std::int64_t max_attempts = 4) {
        return retrying{service, {.policy = retry_policy::fixed(max_attempts, 250ms), .time = &time, .seed = 1}};
    }
};

get_entity read() { return {"Orders", "p", "r", {}}; }
write_entity insert() { return {"Orders", mutation::insert(make_row("p", "r"))}; }

} // namespace

TEST_CASE("a wait is reported with its length and its cause when it begins") {
    stage on;
    steady_time const start = on.time.steady();
    on.service.expect<get_entity>().fails(busy());
    on.service.expect<get_entity>().fails(busy(7'000ms));
    on.service.expect<get_entity>().fails(busy(20ms));
    on.service.expect<get_entity>().answers({});
    REQUIRE(on.patient().execute(read(), on.context));
    CHECK(on.eyes.lines ==
        std::vector<std::string>{"attempt get_entity Orders 1 ServerBusy",
            "wait get_entity Orders back_off 250 ms after 1", "attempt get_entity Orders 2 ServerBusy",
            "wait get_entity Orders retry_after 7000 ms after 2", "attempt get_entity Orders 3 ServerBusy",
            "wait get_entity Orders back_off 250 ms after 3", "attempt get_entity Orders 4 ok",
            "operation get_entity Orders attempts 4 ok"});
    auto const waits = on.eyes.all("wait");
    CHECK(waits[0].wait.begun == start);
    CHECK(waits[0].wait.until == start + 250ms);
    CHECK(waits[1].wait.begun == start + 250ms);
    CHECK(waits[1].wait.until == start + 7'250ms);
    auto const done = on.eyes.events.back().operation;
    CHECK(done.begun == start);
    CHECK(done.ended == start + 7'500ms);
    for (auto const& each : on.eyes.events) {
        if (each.what == "wait") {
            CHECK(each.wait.span.own.span_id == done.span.own.span_id);
        } else if (each.what == "attempt") {
            CHECK(each.attempt.span.parent == done.span.own.span_id);
        }
    }
}

TEST_CASE("a wait counts from the end of the previous attempt, however long the attempt took") {
    stage on;
    for (int count = 0; count < 3; ++count) {
        on.service.expect<get_entity>().does([&](get_entity const&) -> result<get_entity::response> {
            on.time.advance(10s);
            return failure{busy()};
        });
    }
    CHECK_FALSE(on.patient(3).execute(read(), on.context));
    auto const waits = on.eyes.all("wait");
    REQUIRE(waits.size() == 2);
    for (auto const& each : waits) { CHECK(each.wait.until - each.wait.begun == 250ms); }
}

TEST_CASE("a call that succeeds immediately has one attempt and no wait") {
    stage on;
    on.service.expect<get_entity>().answers({});
    REQUIRE(on.patient().execute(read(), on.context));
    CHECK(on.eyes.lines ==
        std::vector<std::string>{"attempt get_entity Orders 1 ok", "operation get_entity Orders attempts 1 ok"});
}

TEST_CASE("a wait that is not started is not reported") {
    stage on;
    on.context.deadline = on.time.steady() + 300ms;
    on.service.expect<get_entity>().fails(busy());
    on.service.expect<get_entity>().fails(busy());
    CHECK_FALSE(on.patient().execute(read(), on.context));
    CHECK(on.eyes.lines ==
        std::vector<std::string>{"attempt get_entity Orders 1 ServerBusy",
            "wait get_entity Orders back_off 250 ms after 1", "attempt get_entity Orders 2 ServerBusy",
            "operation get_entity Orders attempts 2 ServerBusy"});
}

TEST_CASE("attempts of each operation count from 1, even within one call") {
    stage on;
    for (int count = 0; count < 2; ++count) {
        on.service.expect<get_entity>().fails(busy());
        on.service.expect<get_entity>().answers({});
    }
    auto const store = on.patient();
    REQUIRE(store.execute(read(), on.context));
    REQUIRE(store.execute(read(), on.context));
    CHECK(on.context.attempts == 4);
    std::vector<std::uint32_t> numbers;
    for (auto const& each : on.eyes.all("attempt")) { numbers.push_back(each.attempt.number); }
    CHECK(numbers == std::vector<std::uint32_t>{1, 2, 1, 2});
}

TEST_CASE("a lost insert is read back by an attempt of a different kind in the same operation") {
    stage on;
    on.service.expect<write_entity>().fails(error_code::transport_failed, effect::unknown);
    on.service.expect<write_entity>().fails(error_code::entity_already_exists);
    get_entity::response stored;
    stored.entity = make_row("p", "r");
    on.service.expect<get_entity>().answers(stored);
    REQUIRE(on.patient().execute(insert(), on.context));
    CHECK(on.service.finished());
    CHECK(on.eyes.lines ==
        std::vector<std::string>{"attempt insert Orders 1 TransportFailed",
            "wait insert Orders back_off 250 ms after 1", "attempt insert Orders 2 EntityAlreadyExists",
            "attempt get_entity Orders 3 ok", "operation insert Orders attempts 3 ok"});
    CHECK(on.eyes.events[0].attempt.outcome.effect == effect::unknown);
}

TEST_CASE("a write with an operation row is one operation with the name of the caller's request") {
    testing::manual_clock time;
    memory_backend const memory;
    watcher eyes;
    call context;
    static_cast<void>(memory.execute(create_table{"Orders"}, context));
    retrying const store{memory, {.operation_rows = true, .time = &time}};
    context.watch = &eyes;
    REQUIRE(store.execute(insert(), context));
    CHECK(eyes.lines ==
        std::vector<std::string>{"attempt transact Orders 1 ok", "operation insert Orders attempts 1 ok"});
    CHECK(eyes.events[0].attempt.batch_size == 2);
    CHECK(eyes.events[1].operation.batch_size == 0);
}

TEST_CASE("nested retries are one operation, and every attempt has its number") {
    stage on;
    for (int count = 0; count < 3; ++count) { on.service.expect<get_entity>().fails(busy()); }
    on.service.expect<get_entity>().answers({});
    retrying const twice{on.patient(2), {.policy = retry_policy::fixed(2, 1s), .time = &on.time}};
    REQUIRE(twice.execute(read(), on.context));
    CHECK(on.eyes.lines ==
        std::vector<std::string>{"attempt get_entity Orders 1 ServerBusy",
            "wait get_entity Orders back_off 250 ms after 1", "attempt get_entity Orders 2 ServerBusy",
            "wait get_entity Orders back_off 1000 ms after 2", "attempt get_entity Orders 3 ServerBusy",
            "wait get_entity Orders back_off 250 ms after 3", "attempt get_entity Orders 4 ok",
            "operation get_entity Orders attempts 4 ok"});
}

TEST_CASE("a given operation id never reaches an observer as text") {
    testing::manual_clock time;
    memory_backend const memory;
    watcher eyes;
    call_options options;
    options.watch = &eyes;
    options.operation_id = "SECRET-0001";
    call context{options};
    static_cast<void>(memory.execute(create_table{"Orders"}, context));
    testing::faulty lossy{memory};
    lossy.plan({testing::fault::lost_after(), 1, "transact", {}, false});
    retrying const store{lossy, {.policy = retry_policy::fixed(3, 1ms), .time = &time}};
    REQUIRE(store.execute(insert(), context));
    CHECK(eyes.all("attempt").size() >= 3);
    CHECK(eyes.texts().find("SECRET") == std::string::npos);
}
