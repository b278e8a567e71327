// SPDX-License-Identifier: MIT
// Copyright (c) 2026 the entitable authors

// The events for the observer of a call whose request goes through a channel: the same as for a blocking call.

#include <entitable/cloud/rest/rest_backend.hpp>
#include <entitable/core/decorators/metered.hpp>
#include <entitable/core/decorators/retrying.hpp>
#include <entitable/local/memory/memory_backend.hpp>
#include <entitable/testing/faulty.hpp>
#include <entitable/testing/manual_clock.hpp>
#include <entitable/testing/rows.hpp>
#include <entitable/testing/scripted.hpp>

#include <support/canned_client.hpp>
#include <support/catch.hpp>
#include <support/many.hpp>
#include <support/openmetrics_parser.hpp>
#include <support/watcher.hpp>

#include <set>

using namespace entitable;
using entitable_test::watcher;
using testing::make_row;
using namespace std::chrono_literals;

namespace {

write_entity insert(std::string_view key = "r") { return {"Orders", mutation::insert(make_row("p", key))}; }

/// A service that is busy twice, then loses an answer, then has the row.
testing::scripted service_on_a_bad_day() {
    testing::scripted service;
    error busy{error_code::server_busy, "busy"};
    service.expect<write_entity>().fails(busy);
    busy.retry_after = 7'000ms;
    service.expect<write_entity>().fails(busy);
    service.expect<write_entity>().fails(error_code::transport_failed, effect::unknown);
    service.expect<write_entity>().fails(error_code::entity_already_exists);
    get_entity::response stored;
    stored.entity = make_row("p", "r");
    service.expect<get_entity>().answers(stored);
    return service;
}

} // namespace

TEST_CASE("a channel reports the same events as a blocking call") {
    std::vector<std::string> told[2];
    for (bool const through_channel : {false, true}) {
        testing::manual_clock time;
        watcher eyes;
        call context;
        context.watch = &eyes;
        testing::scripted const service = service_on_a_bad_day();
        retrying const patient{service, {.policy = retry_policy::fixed(6, 250ms), .time = &time, .seed = 1}};
        if (through_channel) {
            auto const list = entitable_test::send_all<write_entity>(patient, {insert()}, 1, context, time);
            REQUIRE(list.successes() == 1);
            CHECK(list.calls[0].spans.operation == 0);
            CHECK(list.calls[0].watch == &eyes);
        } else {
            REQUIRE(patient.execute(insert(), context));
        }
        CHECK(service.finished());
        told[through_channel ? 1 : 0] = eyes.lines;
        std::uint64_t const operation = eyes.events.back().operation.span.own.span_id;
        for (auto const& each : eyes.all("attempt")) { CHECK(each.attempt.span.parent == operation); }
        for (auto const& each : eyes.all("wait")) { CHECK(each.wait.span.own.span_id == operation); }
    }
    CHECK(told[0].size() == 9);
    CHECK(told[0] == told[1]);
}

TEST_CASE("requests in flight that are answered in a different order report events of their own operation") {
    testing::manual_clock time;
    memory_backend const memory;
    call none;
    static_cast<void>(memory.execute(create_table{"Orders"}, none));
    testing::faulty busy{memory, {.time = &time}};
    for (std::size_t const number : {1U, 3U, 4U}) { busy.plan({testing::fault::busy(), number, "write_entity"}); }
    retrying const patient{
        entitable_test::reversed{busy}, {.policy = retry_policy::fixed(6, 250ms), .time = &time, .seed = 1}};
    watcher eyes;
    call context;
    context.watch = &eyes;
    context.trace = trace_context::parse("00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01").value();
    std::vector<write_entity> const requests{insert("1"), insert("2"), insert("3"), insert("4")};
    auto const list = entitable_test::send_all<write_entity>(patient, requests, 4, context, time);
    REQUIRE(list.successes() == 4);
    CHECK(list.order != std::vector<std::size_t>{0, 1, 2, 3});

    auto const operations = eyes.all("operation");
    REQUIRE(operations.size() == 4);
    std::uint32_t attempts = 0;
    std::set<std::uint64_t> ids;
    for (auto const& done : operations) {
        CHECK(done.operation.span.parent == context.trace.span_id);
        CHECK(ids.insert(done.operation.span.own.span_id).second);
        std::uint32_t number = 0;
        std::uint32_t waits = 0;
        for (auto const& each : eyes.events) {
            if (each.what == "attempt" && each.attempt.span.parent == done.operation.span.own.span_id) {
                CHECK(each.attempt.number == ++number);
                CHECK(ids.insert(each.attempt.span.own.span_id).second);
            }
            waits += each.what == "wait" && each.wait.span.own.span_id == done.operation.span.own.span_id ? 1U : 0U;
        }
        CHECK(number == done.operation.attempts);
        CHECK(waits == number - 1);
        attempts += number;
    }
    CHECK(attempts == 7);
    CHECK(eyes.all("attempt").size() == 7);
    CHECK(eyes.all("wait").size() == 3);
}

TEST_CASE("metered: counts attempts and waits in a channel, and the observer above still gets its events") {
    testing::manual_clock time;
    watcher eyes;
    for (bool const watched : {false, true}) {
        testing::scripted const service = service_on_a_bad_day();
        metered const counted{
            retrying{service, {.policy = retry_policy::fixed(6, 250ms), .time = &time, .seed = 1}}, {.time = &time}};
        call context;
        context.watch = watched ? &eyes : nullptr;
        auto const list = entitable_test::send_all<write_entity>(counted, {insert()}, 1, context, time);
        REQUIRE(list.successes() == 1);
        CHECK(list.calls[0].watch == context.watch);
        auto const read = entitable_test::openmetrics_parser::parse(counted.to_openmetrics());
        CHECK(read.value("db_client_operation_duration_seconds_count") == 1);
        CHECK(read.value("entitable_attempts_total", {{"error_type", "ServerBusy"}}) == 2);
        CHECK(read.value("entitable_waits_total", {{"cause", "retry_after"}}) == 1);
        CHECK(read.value("entitable_wait_seconds_total", {{"cause", "retry_after"}}) == 7);
    }
    CHECK(eyes.lines.size() == 9);
    CHECK(eyes.lines.back() == "operation insert Orders attempts 5 ok");
}

TEST_CASE("rest in a channel: each attempt carries the caller's trace and the reported span") {
    testing::manual_clock time;
    entitable_test::canned_client client;
    endpoint where;
    where.primary = "https://a.table.core.windows.net";
    where.account = "a";
    rest_options options;
    options.time = &time;
    client.then(503);
    client.then(503);
    for (int count = 0; count < 2; ++count) {
        client.then(204, "", {{"ETag", "W/\"datetime'2026-07-27T12%3A28%3A53Z'\""}});
    }
    retrying const patient{rest{client, where, credential{}, options},
        {.policy = retry_policy::fixed(3, 250ms), .time = &time, .seed = 1}};
    watcher eyes;
    call context;
    context.watch = &eyes;
    context.trace = trace_context::parse("00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-00").value();
    REQUIRE(
        entitable_test::send_all<write_entity>(patient, {insert("1"), insert("2")}, 2, context, time).successes() == 2);
    std::set<std::string> sent;
    for (http_request const& each : client.asked()) {
        REQUIRE(each.headers.count("traceparent") == 1);
        sent.emplace(each.headers.find("traceparent").value());
    }
    std::set<std::string> told;
    for (auto const& each : eyes.all("attempt")) {
        told.insert(each.attempt.span.own.to_string());
        CHECK(each.attempt.span.own.trace_id() == context.trace.trace_id());
    }
    CHECK(sent.size() == 4);
    CHECK(sent == told);
    CHECK(eyes.all("operation").size() == 2);
    CHECK(eyes.all("wait").size() == 2);
}
