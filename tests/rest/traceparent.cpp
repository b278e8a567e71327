// SPDX-License-Identifier: MIT
// Copyright (c) 2026 the entitable authors

// The trace of a call on the wire, and the events of REST for an observer.

#include <entitable/cloud/rest/azure_service.hpp>
#include <entitable/cloud/rest/rest_backend.hpp>
#include <entitable/core/decorators/retrying.hpp>
#include <entitable/testing/manual_clock.hpp>
#include <entitable/testing/rows.hpp>

#include <support/canned_client.hpp>
#include <support/catch.hpp>
#include <support/watcher.hpp>

#include <set>

using namespace entitable;
using namespace entitable_test;
using testing::make_row;
using namespace std::chrono_literals;

namespace {

constexpr std::string_view given = "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01";

struct stage {
    stage() {
        where.primary = "https://a.table.core.windows.net";
        where.secondary = "https://a-secondary.table.core.windows.net:444";
        where.account = "a";
        options.time = &time;
        options.retries = retry_policy::none();
        context.trace = trace_context::parse(given).value();
    }
    [[nodiscard]] rest<canned_client> store(credential const& who = {}) const { return {client, where, who, options}; }
    /// Each request's header, parsed; empty if there is none.
    [[nodiscard]] std::vector<std::optional<trace_context>> sent() const {
        std::vector<std::optional<trace_context>> found;
        for (http_request const& each : client.asked()) {
            CHECK(each.headers.count("traceparent") <= 1);
            auto const value = each.headers.find("traceparent");
            found.push_back(value ? std::optional{trace_context::parse(*value).value()} : std::nullopt);
        }
        return found;
    }

    canned_client client;
    endpoint where;
    testing::manual_clock time;
    rest_options options;
    call context;
};

write_entity insert() { return {"Orders", mutation::insert(make_row("p", "r", {{"N", 1}}))}; }

} // namespace

TEST_CASE("every attempt carries the caller's trace and its own span id") {
    stage on;
    watcher eyes;
    on.context.watch = &eyes;
    for (int count = 0; count < 2; ++count) { on.client.then(503); }
    on.client.then(204, "", {{"ETag", "W/\"datetime'2026-07-27T12%3A28%3A53Z'\""}});
    retrying const patient{on.store(), {.policy = retry_policy::fixed(3, 10ms), .time = &on.time}};
    REQUIRE(patient.execute(insert(), on.context));
    auto const headers = on.sent();
    auto const told = eyes.all("attempt");
    REQUIRE(headers.size() == 3);
    REQUIRE(told.size() == 3);
    std::set<std::uint64_t> ids{on.context.trace.span_id};
    for (std::size_t index = 0; index < 3; ++index) {
        REQUIRE(headers[index]);
        CHECK(headers[index]->trace_id() == on.context.trace.trace_id());
        CHECK(headers[index]->flags == trace_context::sampled);
        CHECK(*headers[index] == told[index].attempt.span.own);
        ids.insert(headers[index]->span_id);
    }
    CHECK(ids.size() == 4);
}

TEST_CASE("every kind of request carries the trace, for each page and each location") {
    stage on;
    auto const store = on.store();
    for (int count = 0; count < 7; ++count) { on.client.then(500); }
    on.client.then(404); // the secondary
    on.client.then(404); // the primary
    query_entities query;
    query.table = "Orders";
    CHECK_FALSE(store.execute(create_table{"Orders"}, on.context));
    CHECK_FALSE(store.execute(delete_table{"Orders"}, on.context));
    CHECK_FALSE(store.execute(list_tables{}, on.context));
    CHECK_FALSE(store.execute(get_entity{"Orders", "p", "r", {}}, on.context));
    CHECK_FALSE(store.execute(query, on.context));
    CHECK_FALSE(store.execute(insert(), on.context));
    CHECK_FALSE(store.execute(transact{"Orders", {insert().change}}, on.context));
    on.context.location = read_location::secondary;
    CHECK_FALSE(store.execute(get_entity{"Orders", "p", "r", {}}, on.context));
    std::set<std::uint64_t> ids;
    auto const headers = on.sent();
    CHECK(headers.size() == 9);
    for (auto const& each : headers) {
        REQUIRE(each);
        ids.insert(each->span_id);
    }
    CHECK(ids.size() == 9);
}

TEST_CASE("without a trace no traceparent is sent, with or without an observer") {
    stage on;
    on.context.trace = {};
    watcher eyes;
    for (observer* const each : {static_cast<observer*>(nullptr), static_cast<observer*>(&eyes)}) {
        on.context.watch = each;
        on.client.then(204, "", {{"ETag", "W/\"datetime'2026-07-27T12%3A28%3A53Z'\""}});
        REQUIRE(on.store().execute(insert(), on.context));
    }
    for (auto const& each : on.sent()) { CHECK_FALSE(each); }
}

TEST_CASE("the trace is not signed") {
    std::vector<std::string> signatures;
    for (bool const traced : {false, true}) {
        stage on;
        on.context.trace = traced ? on.context.trace : trace_context{};
        on.client.then(204, "", {{"ETag", "W/\"datetime'2026-07-27T12%3A28%3A53Z'\""}});
        REQUIRE(on.store(credential::account_key("a", "AAECAw==").value()).execute(insert(), on.context));
        CHECK(on.client.last().headers.find("traceparent").has_value() == traced);
        signatures.emplace_back(on.client.last().headers.find("Authorization").value());
    }
    CHECK(signatures[0] == signatures[1]);
}

TEST_CASE("an attempt is reported with server, sizes, status, ids and times") {
    stage on;
    watcher eyes;
    on.context.watch = &eyes;
    on.context.location = read_location::secondary;
    std::string const body = R"({"odata.error":{"code":"ServerBusy","message":{"lang":"en","value":"SECRET words"}}})";
    auto const slow = [&](std::uint16_t status) {
        on.client.then([&on, status, body](http_request const&) -> result<http_response> {
            on.time.advance(2s);
            http_response made;
            made.status = status;
            made.body = body;
            static_cast<void>(made.headers.add("x-ms-request-id", "id-1"));
            return made;
        });
    };
    slow(503);
    CHECK_FALSE(on.store().execute(get_entity{"Orders", "SECRETp", "SECRETr", {}}, on.context));
    slow(503);
    CHECK_FALSE(on.store().execute(insert(), on.context));
    auto const told = eyes.all("attempt");
    REQUIRE(told.size() == 2);
    CHECK(told[0].system == "azure.table_storage");
    CHECK(told[0].address == "a-secondary.table.core.windows.net");
    CHECK(told[0].attempt.server.port == 444);
    CHECK(told[0].attempt.request_size == 0);
    CHECK(told[0].attempt.response_size == body.size());
    CHECK(told[0].attempt.outcome.status == 503);
    CHECK(told[0].attempt.outcome.error == error_code::server_busy);
    CHECK(told[0].attempt.ended - told[0].attempt.begun == 2s);
    CHECK(told[0].request_id == "id-1");
    CHECK(told[1].address == "a.table.core.windows.net");
    CHECK(told[1].attempt.server.port == 0);
    CHECK(told[1].attempt.request_size == on.client.last().body.size());
    CHECK(eyes.all("operation")[1].address == "a.table.core.windows.net");
    CHECK(eyes.texts().find("SECRET") == std::string::npos);
    on.client.then(204, "", {{"ETag", "W/\"datetime'2026-07-27T12%3A28%3A53Z'\""}});
    REQUIRE(on.store().execute(insert(), on.context));
    CHECK(eyes.all("attempt").back().attempt.outcome.status == 204);
}

TEST_CASE("an attempt without an answer is reported as such, without the ids of another attempt") {
    stage on;
    watcher eyes;
    on.context.watch = &eyes;
    on.client.then(503, "", {{"x-ms-request-id", "one"}});
    CHECK_FALSE(on.store().execute(insert(), on.context));
    on.client.then([](http_request const&) -> result<http_response> {
        error lost{error_code::transport_failed, "lost"};
        lost.effect = effect::unknown;
        return failure{lost};
    });
    CHECK_FALSE(on.store().execute(insert(), on.context));
    auto const told = eyes.all("attempt");
    CHECK(told[0].request_id == "one");
    CHECK(told[1].request_id.empty());
    CHECK(told[1].attempt.outcome.status == 0);
    CHECK(told[1].attempt.outcome.error == error_code::transport_failed);
    CHECK(told[1].attempt.outcome.effect == effect::unknown);
}

TEST_CASE("a request about the service is an attempt and carries the trace") {
    stage on;
    watcher eyes;
    on.context.watch = &eyes;
    on.client.then(503);
    CHECK_FALSE(rest_service{on.store()}.properties(on.context));
    REQUIRE(on.sent().size() == 1);
    CHECK(on.sent()[0]);
    CHECK(eyes.lines == std::vector<std::string>{"attempt service_properties  1 ServerBusy"});
}
