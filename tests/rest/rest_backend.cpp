// SPDX-License-Identifier: MIT
// Copyright (c) 2026 the entitable authors

#include <entitable/cloud/rest/rest_backend.hpp>
#include <entitable/testing/manual_clock.hpp>
#include <entitable/testing/rows.hpp>

#include <support/canned_client.hpp>
#include <support/many.hpp>
#include <support/vectors.hpp>

#include <cmath>

using namespace entitable;
using namespace entitable_test;
using testing::make_row;

namespace {

constexpr std::string_view tag = "W/\"datetime'2026-07-27T12%3A28%3A53.12346Z'\"";
std::string const tag_json = R"("odata.etag":"W/\"datetime'2026-07-27T12%3A28%3A53.12346Z'\"",)";

std::string entity(std::string_view partition_key, std::string_view row_key, std::string_view members = "") {
    return "{" + tag_json + "\"PartitionKey\":\"" + std::string{partition_key} + "\",\"RowKey\":\"" +
        std::string{row_key} + "\",\"Timestamp\":\"2026-07-27T12:28:53.12346Z\"" + std::string{members} + "}";
}
std::string list_body(std::string_view entities) { return "{\"value\":[" + std::string{entities} + "]}"; }

struct fixture {
    explicit fixture(service kind = service::storage) {
        where.primary = "https://a.table.core.windows.net";
        where.secondary = "https://a-secondary.table.core.windows.net";
        where.account = "a";
        where.kind = kind;
        options.time = &time;
        options.retries = retry_policy::none(); // retries.cpp tests them
    }
    rest<canned_client> store() { return {client, where, credential{}, options}; }

    template <table_request Request>
    result<response_of<Request>> send(Request const& request) {
        auto const backend = store();
        return backend.execute(request, context);
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

template <class T>
void fails(result<T> const& outcome, error_code code, effect left = effect::none) {
    REQUIRE_FALSE(outcome);
    CHECK(outcome.error().code == code);
    CHECK(outcome.error().effect == left);
    CHECK_FALSE(outcome.error().message.empty());
}

} // namespace

static_assert(transport<rest<canned_client>>);
static_assert(answers<rest<canned_client>, transact>);
static_assert(opens_channels<rest<canned_client>>);

TEST_CASE("rest: every request is sent, and its answer is read") {
    fixture f;
    f.client.then(204);
    CHECK(f.send(create_table{"Orders"}));
    f.client.then(201, "{\"TableName\":\"Orders\"}");
    CHECK(f.send(create_table{"Orders"}));
    f.client.then(204);
    CHECK(f.send(delete_table{"Orders"}));
    f.client.then(200, R"({"value":[{"TableName":"Orders"}]})", {{"x-ms-continuation-NextTableName", "next"}});
    auto const tables = f.send(list_tables{});
    REQUIRE(tables);
    CHECK(tables->tables == std::vector<std::string>{"Orders"});
    REQUIRE(tables->continuation);
    f.client.then(200, R"({"value":[]})");
    auto const last = f.send(list_tables{tables->continuation});
    REQUIRE(last);
    CHECK_FALSE(last->continuation);
    CHECK_THAT(f.client.last().url, EndsWith("&NextTableName=next&timeout=30"));

    f.client.then(200, entity("p", "r", R"(,"N":7)"), {{"ETag", std::string{tag}}});
    auto const read = f.send(get());
    REQUIRE(read);
    CHECK(read->etag.to_string() == tag);
    CHECK(read->entity.view().find("N")->as_int32() == 7);
    CHECK_FALSE(read->stale);

    f.client.then(204, "", {{"ETag", "W/\"1\""}});
    auto const inserted = f.send(insert());
    REQUIRE(inserted);
    CHECK(inserted->etag.to_string() == "W/\"1\"");
    f.client.then(204);
    auto const removed = f.send(write_entity{"Orders", mutation::remove(make_row("p", "r"), any_etag)});
    REQUIRE(removed);
    CHECK(removed->etag.empty());
}

TEST_CASE("pages, their tokens and empty pages are read") {
    fixture f;
    f.client.then(
        200, list_body(""), {{"x-ms-continuation-NextPartitionKey", "1!4!cA--"}, {"x-ms-continuation-NextRowKey", ""}});
    auto asked = rows_of_p();
    auto const first = f.send(asked);
    REQUIRE(first);
    CHECK(first->rows.empty());
    REQUIRE(first->continuation);
    asked.continuation = first->continuation;
    f.client.then(200, list_body(entity("p", "1") + "," + entity("p", "2")));
    auto const second = f.send(asked);
    REQUIRE(second);
    CHECK(second->rows.size() == 2);
    CHECK_FALSE(second->continuation);
    CHECK_THAT(f.client.last().url, EndsWith("&NextPartitionKey=1%214%21cA--&timeout=30"));
    // only for the same query
    asked.table = "orders";
    f.client.then(200, list_body(""));
    CHECK(f.send(asked)); // it is the same table
    asked.table = "Other";
    fails(f.send(asked), error_code::continuation_invalid);
    asked = rows_of_p();
    asked.continuation = first->continuation;
    asked.filter.nodes.push_back({filter_operator::equal, "N", value_view{1}});
    fails(f.send(asked), error_code::continuation_invalid);
    f.where.account = "b";
    asked.filter.nodes.clear();
    fails(f.send(asked), error_code::continuation_invalid);
    CHECK(f.client.asked().size() == 3);
}

TEST_CASE("a repeated continuation is an error") {
    fixture f;
    std::vector<std::pair<std::string, std::string>> const token = {{"x-ms-continuation-NextPartitionKey", "p"}};
    f.client.then(200, list_body(""), token);
    auto asked = rows_of_p();
    asked.continuation = f.send(asked).value().continuation;
    f.client.then(200, list_body(""), token);
    fails(f.send(asked), error_code::transport_failed);
    f.client.then(200, list_body(""), {{"x-ms-continuation-NextPartitionKey", std::string(10'000, 'x')}});
    fails(f.send(rows_of_p()), error_code::transport_failed);
    f.client.then(200, R"({"value":[]})", {{"x-ms-continuation-NextTableName", "t"}});
    list_tables tables{f.send(list_tables{}).value().continuation};
    f.client.then(200, R"({"value":[]})", {{"x-ms-continuation-NextTableName", "t"}});
    fails(f.send(tables), error_code::transport_failed);
}

TEST_CASE("malformed answers to reads are refused") {
    fixture f;
    for (std::string const& body : {std::string{}, std::string{"<html>"}, std::string{"{"}, entity("p", "r") + "{}",
             std::string{"[]"}, entity("p", "other"), entity("P", "r"), entity("p", "r", ",\"V\":\"\xFF\"")}) {
        f.client.then(200, body);
        fails(f.send(get()), error_code::transport_failed);
        f.client.then(200, body);
        fails(f.send(rows_of_p()), error_code::transport_failed);
    }
    for (int const status : {100, 201, 202, 204, 206, 299}) {
        f.client.then(static_cast<std::uint16_t>(status), entity("p", "r"));
        fails(f.send(get()), error_code::transport_failed);
        f.client.then(static_cast<std::uint16_t>(status), list_body(""));
        fails(f.send(rows_of_p()), error_code::transport_failed);
        f.client.then(static_cast<std::uint16_t>(status), R"({"value":[]})");
        fails(f.send(list_tables{}), error_code::transport_failed);
    }
    f.client.then(200, R"({"value":[{"TableName":"One"},{"TableName":"Two"}]})");
    fails(f.send(list_tables{{}, 1}), error_code::transport_failed);
    f.client.then(302, "", {{"Location", "http://169.254.169.254/"}});
    fails(f.send(get()), error_code::other_service_error);
    f.client.then(600);
    fails(f.send(get()), error_code::other_service_error);
    // An entity without a version.
    f.client.then(200, R"({"PartitionKey":"p","RowKey":"r"})");
    fails(f.send(get()), error_code::transport_failed);
    // Keys outside the requested range.
    f.client.then(200, list_body(entity("p", "1") + "," + entity("q", "1")));
    fails(f.send(rows_of_p()), error_code::transport_failed);
    auto rows = rows_of_p();
    rows.range.row = {key_bound::including("2"), key_bound::excluding("3")};
    f.client.then(200, list_body(entity("p", "3")));
    fails(f.send(rows), error_code::transport_failed);
    f.client.then(200, list_body(R"({"RowKey":"2","Timestamp":"2026-07-27T12:28:53Z"})"));
    fails(f.send(rows), error_code::transport_failed);
    std::size_t const sent = f.client.asked().size();
    CHECK(f.client.calls().size() == sent); // nothing was sent twice
}

TEST_CASE("malformed answers to writes leave the effect unknown") {
    fixture f;
    struct bad {
        int status;
        std::string body;
        bool with_etag;
    };
    for (bad const& each : {bad{200, "", true}, bad{200, "<html>", true}, bad{204, "", false}, bad{204, "x", true},
             bad{201, "", true}, bad{201, "{", true}, bad{201, "<html>", true}, bad{202, "", true}, bad{299, "", true},
             bad{100, "", true}}) {
        CAPTURE(each.status, each.body);
        auto const prepare = [&] {
            std::vector<std::pair<std::string, std::string>> fields;
            if (each.with_etag) { fields.emplace_back("ETag", std::string{tag}); }
            f.client.then(static_cast<std::uint16_t>(each.status), each.body, fields);
        };
        prepare();
        fails(f.send(insert()), error_code::transport_failed, effect::unknown);
        prepare();
        fails(f.send(transact{"Orders", {insert().change}}), error_code::transport_failed, effect::unknown);
        if (each.status != 204 || !each.body.empty()) {
            prepare();
            fails(f.send(delete_table{"Orders"}), error_code::transport_failed, effect::unknown);
        }
    }
    f.client.then(204, "", {{"ETag", "junk"}});
    fails(f.send(insert()), error_code::transport_failed, effect::unknown);
    f.client.then(503);
    fails(f.send(insert()), error_code::server_busy, effect::unknown);
    f.client.then(600);
    fails(f.send(insert()), error_code::other_service_error, effect::unknown);
    f.client.then(307, "", {{"Location", "http://127.0.0.2/"}});
    fails(f.send(insert()), error_code::other_service_error);
    f.client.then(412, R"({"odata.error":{"code":"UpdateConditionNotSatisfied","message":{"value":"x"}}})");
    fails(f.send(insert()), error_code::update_condition_not_satisfied);
}

TEST_CASE("if the client loses an answer, a write has an unknown effect and a read has no effect") {
    fixture f;
    auto const lost = [](http_request const&) -> result<http_response> {
        failure made{error_code::transport_failed, "lost"};
        made.error().effect = effect::unknown;
        return made;
    };
    f.client.then(lost);
    fails(f.send(insert()), error_code::transport_failed, effect::unknown);
    f.client.then(lost);
    fails(f.send(get()), error_code::transport_failed);
}

TEST_CASE("an answer to a different request is refused, and the effect of a write is unknown") {
    fixture f;
    f.client.then(200, entity("p", "r"), {{"x-ms-client-request-id", "another"}});
    fails(f.send(get()), error_code::transport_failed);
    f.client.then(204, "", {{"ETag", std::string{tag}}, {"x-ms-client-request-id", "another"}});
    fails(f.send(insert()), error_code::transport_failed, effect::unknown);
    f.client.then([](http_request const& asked) -> result<http_response> {
        http_response made;
        made.status = 204;
        static_cast<void>(made.headers.add("ETag", tag));
        static_cast<void>(made.headers.add("X-MS-Client-Request-Id", *asked.headers.find("x-ms-client-request-id")));
        return made;
    });
    CHECK(f.send(insert()));
    auto const& asked = f.client.asked();
    CHECK(asked[0].headers.find("x-ms-client-request-id") != asked[1].headers.find("x-ms-client-request-id"));
    CHECK(asked[0].headers.find("x-ms-client-request-id")->size() == 36);
}

TEST_CASE("the clock of the service is reported") {
    fixture f;
    f.time.set(date_time::parse("2026-07-27T12:28:53Z").value());
    f.client.then(200, entity("p", "r"), {{"Date", "Mon, 27 Jul 2026 12:28:50 GMT"}});
    REQUIRE(f.send(get()));
    CHECK(f.context.server_date == date_time::parse("2026-07-27T12:28:50Z"));
    for (std::string const absurd :
        {"Mon, 27 Jul 99999 12:28:50 GMT", "0", "", "Mon, 00 Jan 0000 00:00:00 GMT", "yesterday"}) {
        f.client.then(200, entity("p", "r"), {{"Date", absurd}});
        REQUIRE(f.send(get()));
        CHECK(f.context.server_date == date_time::parse("2026-07-27T12:28:50Z"));
    }
    std::string const refused = R"({"odata.error":{"code":"AuthenticationFailed","message":{"value":"x"}}})";
    f.client.then(403, refused, {{"Date", "Mon, 27 Jul 2026 12:08:53 GMT"}});
    auto const ahead = f.send(get());
    fails(ahead, error_code::authentication_failed);
    CHECK_THAT(ahead.error().message, ContainsSubstring("1200 s ahead"));
    f.client.then(403, refused, {{"Date", "Mon, 27 Jul 2026 12:48:53 GMT"}});
    CHECK_THAT(f.send(get()).error().message, ContainsSubstring("1200 s behind"));
    f.client.then(403, refused, {{"Date", "Mon, 27 Jul 2026 12:28:53 GMT"}});
    CHECK_THAT(f.send(get()).error().message, !ContainsSubstring("clock"));
}

TEST_CASE("reads from the secondary location are marked as stale") {
    fixture f;
    f.context.location = read_location::secondary;
    f.client.then(200, entity("p", "r"));
    auto const stale = f.send(get());
    REQUIRE(stale);
    CHECK(stale->stale);
    CHECK_THAT(f.client.last().url, StartsWith(f.where.secondary + "/"));
    // NotFound from the secondary is not final.
    std::string const missing = R"({"odata.error":{"code":"ResourceNotFound","message":{"value":"x"}}})";
    f.client.then(404, missing);
    f.client.then(200, entity("p", "r"));
    auto const fresh = f.send(get());
    REQUIRE(fresh);
    CHECK_FALSE(fresh->stale);
    CHECK_THAT(f.client.last().url, StartsWith(f.where.primary + "/"));
    f.client.then(404, missing);
    f.client.then(404, missing);
    fails(f.send(get()), error_code::resource_not_found);
    // Any other failure of the secondary is returned to the caller.
    f.client.then(503);
    fails(f.send(get()), error_code::server_busy);
    // Writes never go to the secondary.
    f.client.then(204, "", {{"ETag", std::string{tag}}});
    CHECK(f.send(insert()));
    CHECK_THAT(f.client.last().url, StartsWith(f.where.primary + "/"));
    // The next page is read from the location of the first one.
    f.client.then(200, list_body(""), {{"x-ms-continuation-NextPartitionKey", "p"}});
    auto asked = rows_of_p();
    auto const first = f.send(asked);
    REQUIRE(first);
    CHECK(first->stale);
    asked.continuation = first->continuation;
    f.context.location = read_location::primary;
    f.client.then(200, list_body(""));
    REQUIRE(f.send(asked));
    CHECK_THAT(f.client.last().url, StartsWith(f.where.secondary + "/"));
    f.client.then(404, missing);
    fails(f.send(asked), error_code::resource_not_found);
    f.where.secondary.clear();
    fails(f.send(asked), error_code::continuation_invalid);
    f.context.location = read_location::secondary;
    f.client.then(200, entity("p", "r"));
    auto const alone = f.send(get());
    REQUIRE(alone);
    CHECK_FALSE(alone->stale);
}

TEST_CASE("a backend signs as its credential requires, at any address") {
    for (auto const scheme : {key_scheme::shared_key, key_scheme::shared_key_lite}) {
        for (std::string const address : {"https://a.table.core.windows.net", "http://127.0.0.1:10002/a",
                 "http://127.0.0.1:10002/a/", "http://127.0.0.1:10002/a?"}) {
            for (auto const location : {read_location::primary, read_location::secondary}) {
                CAPTURE(address, scheme, location);
                fixture f;
                f.where.primary = address;
                f.where.secondary = "http://127.0.0.1:10002/a-secondary";
                f.context.location = location;
                credential const who = credential::account_key("a", "a2V5", scheme).value();
                rest<canned_client> const store{f.client, f.where, who, f.options};
                f.client.then(200, entity("p", "r"));
                REQUIRE(store.execute(get_entity{"Orders", "p", "r", {"N"}}, f.context));
                http_request const sent = f.client.last();
                http_request again = sent;
                again.headers.remove("x-ms-date");
                again.headers.remove("Authorization");
                REQUIRE(who.authorize(again, f.where, f.time.now()));
                CHECK(again.headers.find("x-ms-date") == sent.headers.find("x-ms-date"));
                CHECK(again.headers.find("Authorization") == sent.headers.find("Authorization"));
                CHECK(again.headers.size() == sent.headers.size());
            }
        }
    }
}

TEST_CASE("requests that Cosmos DB refuses are not sent to it") {
    fixture f{service::cosmos};
    fails(f.send(get_entity{"Orders", "", "r", {}}), error_code::properties_need_value);
    fails(f.send(write_entity{"Orders", mutation::insert(make_row("p", ""))}), error_code::properties_need_value);
    fails(f.send(transact{"Orders", {mutation::insert(make_row("", "r"))}}), error_code::properties_need_value);
    fails(f.send(write_entity{"Orders", mutation::insert(make_row("p", "r", {{"Etag", 1}}))}),
        error_code::property_name_invalid);
    CHECK(f.client.asked().empty());
}

TEST_CASE("invalid requests are refused without sending anything") {
    fixture f;
    fails(f.send(create_table{"a"}), error_code::out_of_range_input);
    fails(f.send(get_entity{"Orders", "a/b", "r", {}}), error_code::out_of_range_input);
    auto const bad = write_entity{"Orders", mutation::remove(make_row("p", "r"), etag{"W/\"a\r\nb\""})};
    fails(f.send(bad), error_code::invalid_input);
    fails(f.send(transact{"Orders", {}}), error_code::invalid_input);
    f.context.deadline = f.time.steady();
    fails(f.send(get()), error_code::deadline_exceeded);
    f.context.deadline = no_deadline;
    cancellation_source stop;
    stop.cancel();
    f.context.cancellation = stop.token();
    fails(f.send(get()), error_code::cancelled);
    CHECK(f.client.asked().empty());
    CHECK(f.context.attempts == 0);
}

TEST_CASE("the size of a batch is measured as it is sent") {
    fixture f;
    f.options.limits = storage_profile();
    f.options.limits->max_transaction_size = 1000;
    transact const request{
        "Orders", {insert().change, mutation::insert(make_row("p", "s")), mutation::insert(make_row("p", "t"))}};
    fails(f.send(request), error_code::request_body_too_large);
    CHECK(f.client.asked().empty());
}

TEST_CASE("deadlines and limits are passed to the HTTP client") {
    fixture f;
    f.context.deadline = f.time.steady() + std::chrono::seconds{5};
    f.options.max_body_size = 1234;
    f.options.request_timeout = std::chrono::milliseconds{77};
    f.client.then(200, entity("p", "r"));
    REQUIRE(f.send(get()));
    http_call const& made = f.client.calls().back();
    CHECK(made.deadline == f.context.deadline);
    CHECK(made.max_body_size == 1234);
    CHECK(made.request_timeout.count() == 77);
}

TEST_CASE("a success response for a different entity leaves the effect of an insert unknown") {
    fixture f;
    for (auto const& [p, r] : {std::pair{"OTHER", "r"}, {"p", "X"}, {"", ""}}) {
        f.client.then(201, entity(p, r), {{"ETag", std::string{tag}}});
        fails(f.send(insert()), error_code::transport_failed, effect::unknown);
    }
    f.client.then(201, entity("p", "r"), {{"ETag", std::string{tag}}});
    CHECK(f.send(insert()));
}

TEST_CASE("a page is refused if it contains duplicate entities, the wrong order or too many entities") {
    auto const read = [](std::initializer_list<std::string_view> keys, service kind, std::uint32_t page_size = 1000) {
        fixture f{kind};
        std::string rows;
        for (std::string_view const key : keys) {
            rows.append(rows.empty() ? "" : ",").append(entity(key.substr(0, 1), key.substr(1)));
        }
        query_entities asked;
        asked.table = "Orders";
        asked.page_size = page_size;
        f.client.then(200, list_body(rows));
        auto const page = f.send(asked);
        CHECK((page || page.error().code == error_code::transport_failed));
        return page.has_value();
    };
    for (service const kind : {service::storage, service::azurite, service::cosmos}) {
        bool const any_order = kind == service::cosmos;
        CHECK(read({"p1", "p2", "q0", "q1"}, kind));
        CHECK(read({"p1", "p1"}, kind) == any_order);
        CHECK(read({"p2", "p1"}, kind) == any_order);
        CHECK(read({"q1", "p2"}, kind) == any_order);
        CHECK(read({"p1", "q1", "p2"}, kind) == any_order);
        // U+FF5E and U+1F600: in byte order, and in UTF-16 order
        CHECK(read({"p\xEF\xBD\x9E", "p\xF0\x9F\x98\x80"}, kind));
        CHECK(read({"p\xF0\x9F\x98\x80", "p\xEF\xBD\x9E"}, kind));
        CHECK(read({"p1", "p2"}, kind, 2));
        CHECK_FALSE(read({"p1", "p2", "p3"}, kind, 2));
    }
}

TEST_CASE("an ETag is taken from the body, else from the header field, else from the Timestamp") {
    fixture f;
    std::string const bare = R"({"PartitionKey":"p","RowKey":"r","Timestamp":"2026-07-27T12:28:53.1234500Z"})";
    std::string const zeros = "W/\"datetime'2026-07-27T12%3A28%3A53.1234500Z'\""; // as in Cosmos DB
    f.client.then(200, bare, {{"ETag", zeros}});
    auto const given = f.send(get());
    REQUIRE(given);
    CHECK(given->etag.to_string() == zeros);
    CHECK(given->entity.view().etag().to_string() == zeros);
    for (std::string const& none : {std::string{}, std::string{"junk"}}) {
        f.client.then(200, bare, {{"ETag", none}});
        auto const made = f.send(get());
        REQUIRE(made);
        CHECK(made->etag.to_string() == "W/\"datetime'2026-07-27T12%3A28%3A53.12345Z'\"");
    }
    f.client.then(200, entity("p", "r"), {{"ETag", zeros}});
    CHECK(f.send(get()).value().etag.to_string() == tag);
}

TEST_CASE("the service gets the remaining time of the call as its timeout, at most 30 s") {
    using std::chrono::milliseconds;
    struct expected {
        milliseconds left;
        milliseconds request_timeout;
        int most;
        std::string_view sent;
    };
    constexpr milliseconds none{-1};
    for (expected const& each : {expected{none, milliseconds{60'000}, 30, "30"}, {none, milliseconds{0}, 30, "30"},
             {none, milliseconds{10'000}, 30, "10"}, {none, milliseconds{10'001}, 30, "11"},
             {none, milliseconds{77}, 30, "1"}, {none, milliseconds{0}, 100, "30"}, {none, milliseconds{0}, 7, "7"},
             {milliseconds{60'000}, milliseconds{0}, 30, "30"}, {milliseconds{29'001}, milliseconds{0}, 30, "30"},
             {milliseconds{29'000}, milliseconds{0}, 30, "29"}, {milliseconds{5000}, milliseconds{60'000}, 30, "5"},
             {milliseconds{5001}, milliseconds{5500}, 30, "6"}, {milliseconds{1}, milliseconds{0}, 30, "1"},
             {none, milliseconds{0}, 0, ""}, {milliseconds{500}, milliseconds{0}, 0, ""},
             {none, milliseconds{0}, -5, ""}}) {
        CAPTURE(each.left.count(), each.request_timeout.count(), each.most);
        fixture f;
        f.options.request_timeout = each.request_timeout;
        f.options.service_timeout = std::chrono::seconds{each.most};
        if (each.left != none) { f.context.deadline = f.time.steady() + each.left; }
        std::string const first = each.sent.empty() ? "" : "?timeout=" + std::string{each.sent};
        std::string const further = each.sent.empty() ? "" : "&timeout=" + std::string{each.sent};
        std::string const base = f.where.primary;
        std::string const one = base + "/Orders(PartitionKey='p',RowKey='r')";
        f.client.then(200, entity("p", "r"));
        REQUIRE(f.send(get()));
        CHECK(f.client.last().url == one + first);
        f.client.then(200, entity("p", "r"));
        REQUIRE(f.send(get_entity{"Orders", "p", "r", {"N"}}));
        CHECK(f.client.last().url == one + "?$select=PartitionKey%2CRowKey%2CTimestamp%2CN" + further);
        f.client.then(200, list_body(""));
        REQUIRE(f.send(rows_of_p()));
        CHECK(f.client.last().url == base + "/Orders()?$filter=PartitionKey%20eq%20%27p%27&$top=1000" + further);
        f.client.then(204, "", {{"ETag", std::string{tag}}});
        REQUIRE(f.send(insert()));
        CHECK(f.client.last().url == base + "/Orders" + first);
        f.client.then(204);
        REQUIRE(f.send(create_table{"Orders"}));
        CHECK(f.client.last().url == base + "/Tables" + first);
        f.client.then(204);
        REQUIRE(f.send(delete_table{"Orders"}));
        CHECK(f.client.last().url == base + "/Tables('Orders')" + first);
        f.client.then(202);
        CHECK_FALSE(f.send(transact{"Orders", {insert().change}}));
        CHECK(f.client.last().url == base + "/$batch" + first); // once, for the transaction as a whole
        CHECK_THAT(f.client.last().body, !ContainsSubstring("timeout"));
    }
}

TEST_CASE("a second attempt at the primary gets the remaining time") {
    fixture f;
    f.context.location = read_location::secondary;
    f.context.deadline = f.time.steady() + std::chrono::seconds{10};
    f.client.then([&](http_request const&) -> result<http_response> {
        f.time.advance(std::chrono::seconds{4});
        http_response made;
        made.status = 404;
        return made;
    });
    f.client.then(200, entity("p", "r"));
    REQUIRE(f.send(get()));
    CHECK_THAT(f.client.asked()[0].url, EndsWith("?timeout=10"));
    CHECK_THAT(f.client.asked()[1].url, EndsWith("?timeout=6"));
}

TEST_CASE("the timeout is not signed and precedes a shared access signature") {
    fixture f;
    f.client.then(200, entity("p", "r"));
    rest<canned_client> const by_signature{
        f.client, f.where, credential::shared_access_signature("sv=1&sig=x").value(), f.options};
    REQUIRE(by_signature.execute(get(), f.context));
    CHECK_THAT(f.client.last().url, EndsWith("(PartitionKey='p',RowKey='r')?timeout=30&sv=1&sig=x"));
    f.client.then(200, entity("p", "r"));
    rest<canned_client> const by_key{f.client, f.where, credential::account_key("a", "a2V5").value(), f.options};
    REQUIRE(by_key.execute(get(), f.context));
    std::string const with = std::string{*f.client.last().headers.find("Authorization")};
    f.options.service_timeout = {};
    f.client.then(200, entity("p", "r"));
    rest<canned_client> const without{f.client, f.where, credential::account_key("a", "a2V5").value(), f.options};
    REQUIRE(without.execute(get(), f.context));
    CHECK(f.client.last().headers.find("Authorization") == with);
}

TEST_CASE(
    "a profile has the latest time for a write, and a call reports when the outcome of all its attempts is final") {
    using namespace std::chrono_literals;
    constexpr auto unbounded = profile::unbounded;
    credential const key = credential::account_key("a", "a2V5").value();
    credential const signature = credential::shared_access_signature("sig=x").value();
    struct expected {
        service kind;
        credential who;
        std::chrono::seconds most;
        std::chrono::seconds late;
    };
    for (expected const& each : {expected{service::storage, key, 30s, 930s}, {service::storage, key, 5s, 905s},
             {service::storage, key, 0s, unbounded}, {service::storage, signature, 30s, unbounded},
             {service::storage, credential{}, 30s, unbounded}, {service::azurite, key, 30s, 930s},
             {service::cosmos, key, 30s, unbounded}}) {
        CAPTURE(each.kind, each.most.count(), each.late.count());
        fixture f{each.kind};
        f.options.service_timeout = each.most;
        f.time.set(date_time::parse("2026-07-27T12:28:53.7Z").value());
        rest<canned_client> const store{f.client, f.where, each.who, f.options};
        CHECK(store.profile().longest_late_application() == each.late);
        // Attempts with a definite answer, or never sent, are decided.
        f.client.then(204, "", {{"ETag", std::string{tag}}});
        REQUIRE(store.execute(insert(), f.context));
        f.client.then(409);
        CHECK_FALSE(store.execute(insert(), f.context));
        f.client.then([](http_request const&) -> result<http_response> {
            return failure{error_code::transport_failed, "no connection"};
        });
        CHECK_FALSE(store.execute(insert(), f.context));
        f.client.then(503);
        CHECK_FALSE(store.execute(get(), f.context));
        CHECK(f.context.undecided_until == date_time{});
        f.client.then(500);
        CHECK_FALSE(store.execute(insert(), f.context));
        date_time const end = each.late == unbounded ? date_time{date_time::max_ticks}
                                                     : date_time{date_time::parse("2026-07-27T12:28:53Z")->ticks +
                                                           each.late.count() * date_time::ticks_per_second};
        CHECK(f.context.undecided_until == end);
        // A later success does not decide the earlier attempt.
        f.client.then(204, "", {{"ETag", std::string{tag}}});
        REQUIRE(store.execute(insert(), f.context));
        CHECK(f.context.undecided_until == end);
        f.time.advance(10s);
        f.client.then(202);
        CHECK_FALSE(store.execute(transact{"Orders", {insert().change}}, f.context));
        CHECK(f.context.undecided_until ==
            (each.late == unbounded ? end : date_time{end.ticks + 10 * date_time::ticks_per_second}));
    }
}

namespace {

struct watcher final : observer {
    void on_attempt(attempt_record const& done) noexcept override {
        lines.push_back(std::string{done.name} + " " + std::string{done.table} + " " + std::to_string(done.number) +
            " " + (done.outcome.error ? std::string{to_string(*done.outcome.error)} : "ok") + " " +
            std::string{done.request_id});
    }
    std::vector<std::string> lines;
};

} // namespace

TEST_CASE("the observer sees every attempt, and request ids of the service are retained") {
    fixture f;
    watcher eyes;
    f.context.watch = &eyes;
    f.context.location = read_location::secondary;
    f.client.then(404, "", {{"x-ms-request-id", "one"}});
    f.client.then(200, entity("p", "r"), {{"x-ms-request-id", "two"}});
    REQUIRE(f.send(get()));
    f.client.then(503, "", {{"Retry-After", "7"}, {"x-ms-request-id", "three"}});
    auto const busy = f.send(insert());
    CHECK(busy.error().retry_after == std::chrono::seconds{7});
    CHECK(busy.error().request_id == "three");
    CHECK(eyes.lines ==
        std::vector<std::string>{"get_entity Orders 1 OtherServiceError one", "get_entity Orders 2 ok two",
            "insert Orders 1 ServerBusy three"});
    CHECK(f.context.attempts == 3);
    CHECK(f.context.request_ids == std::vector<std::string>{"one", "two", "three"});
}

TEST_CASE("after a 401 the next request carries a new token") {
    fixture f;
    int tokens = 0;
    auto const who = credential::bearer([&](std::string_view) -> result<access_token> {
        return access_token{
            "token" + std::to_string(++tokens), {f.time.now().ticks + 3600 * date_time::ticks_per_second}};
    });
    rest<canned_client> const store{f.client, f.where, who, f.options};
    f.client.then(200, entity("p", "r"));
    REQUIRE(store.execute(get(), f.context));
    f.time.advance(std::chrono::minutes{1});
    f.client.then(401, "");
    CHECK(store.execute(get(), f.context).error().http_status == 401);
    CHECK(f.client.last().headers.find("Authorization") == "Bearer token1");
    f.client.then(200, entity("p", "r"));
    REQUIRE(store.execute(get(), f.context));
    CHECK(f.client.last().headers.find("Authorization") == "Bearer token2");
}

TEST_CASE("comparisons with values that have no OData constant are evaluated by the client") {
    fixture f;
    auto asked = rows_of_p();
    asked.filter.nodes = {{filter_operator::not_equal, "A", value_view{std::nan("")}},
        {filter_operator::equal, "B", value_view{1}}, {filter_operator::all_of, {}, {}}};
    std::string const rows = entity("p", "1", R"(,"A":1.5,"B":1)") + "," + entity("p", "2", R"(,"A":1,"B":1)") + "," +
        entity("p", "3", R"(,"A@odata.type":"Edm.Double","A":"NaN","B":1,"C":5)");
    f.client.then(200, list_body(rows));
    auto const whole = f.send(asked);
    REQUIRE(whole);
    REQUIRE(whole->rows.size() == 2);
    CHECK(whole->rows[0].row_key == "1");
    CHECK(whole->rows[1].row_key == "3");
    CHECK(whole->examined == 3);
    CHECK_THAT(f.client.last().url, ContainsSubstring("$filter=PartitionKey%20eq%20%27p%27%20and%20B%20eq%201&"));
    asked.select = {"C"};
    f.client.then(200, list_body(rows));
    auto const selected = f.send(asked);
    REQUIRE(selected);
    REQUIRE(selected->rows.size() == 2);
    CHECK_THAT(f.client.last().url, ContainsSubstring("$select=PartitionKey%2CRowKey%2CTimestamp%2CC%2CA%2CB&"));
    CHECK_FALSE(selected->rows[1].find("A"));
    CHECK(selected->rows[1].find("C")->as_int32() == 5);
    CHECK(selected->rows[1].timestamp() == date_time::parse("2026-07-27T12:28:53.12346Z"));
}

namespace {

std::vector<std::string> outcomes_of(
    any_store const& through, std::vector<get_entity> const& requests, std::size_t in_flight, call const& with) {
    std::vector<std::string> outcomes;
    for (auto const& each : entitable_test::send_all(through, requests, in_flight, with).answers) {
        outcomes.push_back(
            *each ? "ok " + std::string{(*each)->entity.row_key()} : std::string{to_string(each->error().code)});
    }
    return outcomes;
}

} // namespace

TEST_CASE("each of many concurrent requests gets its own answer, as do invalid requests and second attempts") {
    fixture f;
    f.context.location = read_location::secondary;
    f.client.then(200, entity("p", "1"));
    f.client.then(404);
    f.client.then(200, entity("p", "3"));
    f.client.then(503);
    auto const backend = f.store();
    CHECK(outcomes_of(backend,
              {{"Orders", "p", "1", {}}, {"Orders", "p/", "2", {}}, {"Orders", "p", "3", {}}, {"Orders", "p", "4", {}}},
              3, f.context) == std::vector<std::string>{"ok 1", "OutOfRangeInput", "ok 3", "ServerBusy"});
    REQUIRE(f.client.asked().size() == 4);
    CHECK_THAT(f.client.asked()[2].url, StartsWith(f.where.primary));
}

TEST_CASE("an invalid connection string is returned as the error of every request") {
    canned_client const client;
    rest<canned_client> const store{"AccountName=a", rest_options{}, client};
    call context;
    auto const outcome = store.execute(get(), context);
    fails(outcome, error_code::invalid_input);
    auto const connected = rest<canned_client>::connect("AccountName=a", rest_options{}, client);
    REQUIRE_FALSE(connected);
    CHECK(connected.error().message == outcome.error().message);
    CHECK(outcomes_of(store, {{"Orders", "p", "1", {}}}, 4, context) == std::vector<std::string>{"InvalidInput"});
    CHECK(client.asked().empty());
}

TEST_CASE("profiles and verbs depend on the kind of service and can be set") {
    CHECK(fixture{}.store().profile().kind == service::storage);
    CHECK(fixture{service::cosmos}.store().profile().kind == service::cosmos);
    CHECK(fixture{service::azurite}.store().profile().kind == service::azurite);
    fixture f{service::cosmos};
    f.options.merge_by_post = false;
    f.options.limits = storage_profile();
    CHECK(f.store().profile().kind == service::storage);
    f.client.then(204, "", {{"ETag", std::string{tag}}});
    REQUIRE(f.send(write_entity{"Orders", mutation::insert_or_merge(make_row("p", "r"))}));
    CHECK(f.client.last().method == http_method::patch);
    f.options.merge_by_post = std::nullopt;
    f.options.limits = cosmos_profile();
    f.client.then(204, "", {{"ETag", std::string{tag}}});
    REQUIRE(f.send(write_entity{"Orders", mutation::insert_or_merge(make_row("p", "r"))}));
    CHECK(f.client.last().method == http_method::post);
}

TEST_CASE("vectors: whole answers are read") {
    vectors const all{"responses.json"};
    if (!all) { return; }
    std::size_t count = 0;
    for (std::string_view const list : {"azurite", "service"}) {
        for (auto const each : all.list(list)) {
            std::string const id = text_of(each, "id");
            CAPTURE(id);
            std::vector<std::pair<std::string, std::string>> fields;
            simdjson::dom::object const headers = each["headers"].get_object().value();
            for (auto const field : headers) {
                fields.emplace_back(field.key, std::string{std::string_view{field.value}});
            }
            fixture f;
            f.client.then(static_cast<std::uint16_t>(number_of(each, "status")), text_of(each, "body"), fields);
            auto const is = [&](std::string_view part) { return id.find(part) != std::string::npos; };
            if (is("acl") || is("properties") || is("stats")) {
                continue; // an answer to azure_service
            }
            if (is("create-table")) {
                CHECK(f.send(create_table{"Res"}));
            } else if (is("delete-table")) {
                CHECK(f.send(delete_table{"ResAcl"}));
            } else if (is("query-tables")) {
                auto const tables = f.send(list_tables{});
                REQUIRE(tables);
                CHECK(tables->tables.front() == "Res");
                CHECK(tables->continuation.has_value() == (fields.size() > (list == "azurite" ? 2U : 1U)));
            } else if (is("query") && !is("select")) {
                query_entities asked;
                asked.table = "Res";
                auto const read = f.send(asked);
                REQUIRE(read);
                CHECK(read->rows.size() == (is("empty") ? 0U : 1U));
                CHECK(read->continuation.has_value() == (is("page-1") || is("token")));
            } else if (is("query")) {
                query_entities asked;
                asked.table = "Res";
                fails(f.send(asked), error_code::transport_failed); // rows without keys, which are always requested
            } else if (is("get-entity")) {
                auto const read = f.send(get_entity{"Res", "p", "1", {}});
                REQUIRE(read);
                for (auto const& [name, value] : fields) {
                    if (name == "ETag" || name == "etag") {
                        CHECK(read->etag.to_string() == value);
                        CHECK(read->entity.view().etag().to_string() == value);
                    }
                }
                simdjson::dom::object types;
                if (each["expect"]["types"].get(types) == simdjson::SUCCESS) {
                    std::size_t properties = 0;
                    for (auto const type : types) {
                        auto const found = read->entity.view().find(type.key);
                        REQUIRE(found);
                        CHECK("Edm." + std::string{std::string_view{type.value}} == to_string(found->type()));
                        ++properties;
                    }
                    property_cursor cursor{read->entity.payload()};
                    for (property_view property; cursor.next(property);) { --properties; }
                    CHECK(properties == 0);
                }
            } else if (is("delete")) {
                CHECK(f.send(write_entity{"Res", mutation::remove(make_row("p", "3"), any_etag)}));
            } else {
                bool const merged = is("merge");
                row const sent = make_row("p", merged ? "3" : is("echo") ? "2" : "1");
                auto const outcome =
                    f.send(write_entity{"Res", merged ? mutation::insert_or_merge(sent) : mutation::insert(sent)});
                REQUIRE(outcome);
                CHECK_THAT(outcome->etag.to_string(), StartsWith("W/\"datetime'2026"));
            }
            ++count;
        }
    }
    CHECK(count >= 24);
}

TEST_CASE("a backend that was moved from returns InvalidInput, for one request and for many") {
    fixture on;
    auto left = on.store();
    auto const taken = std::move(left);
    fails(left.execute(insert(), on.context), error_code::invalid_input); // NOLINT: tests the moved-from state
    fails(left.execute(rows_of_p(), on.context), error_code::invalid_input);
    static_cast<void>(left.profile());

    auto const many = entitable_test::send_all(left, std::vector<query_entities>(3, rows_of_p()), 2, on.context);
    for (auto const& each : many.answers) { fails(*each, error_code::invalid_input); }
    CHECK(on.client.asked().empty());
}
