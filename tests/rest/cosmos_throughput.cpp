// SPDX-License-Identifier: MIT
// Copyright (c) 2026 the entitable authors

// The throughput of tables in Cosmos DB: requests byte for byte, answers of both interfaces, refusals.

#include <entitable/advice.hpp>
#include <entitable/identity.hpp>
#include <entitable/testing/manual_clock.hpp>

#include <support/canned_client.hpp>
#include <support/catch.hpp>

using namespace entitable;
using entitable_test::ContainsSubstring;

namespace {

/// The key and the date of the provider's example for signatures.
constexpr std::string_view a_key =
    "dsZQi3KtZmCv1ljt3VNWNm7sQUF1y5rJfC6kv5JiwvW0EndXdDku/dkKBp8/ufDToSxLzR4y+O/0H/t4bQtVNw==";

struct cosmos {
    entitable_test::canned_client client;
    testing::manual_clock time{date_time::from_date(2026, 11, 20)};
    cosmos_resource table{"0f8fad5b-d9cb-469f-a165-70867728950e", "shop-group_(eu)", "shop", "orders"};
    std::vector<std::string> scopes;
    identity who{[this](std::string_view scope) -> result<access_token> {
        scopes.emplace_back(scope);
        return access_token{"token", time.now() + std::chrono::hours{1}};
    }};
    credential key = credential::account_key("shop", a_key).value();

    cosmos_read_options options() {
        cosmos_read_options made;
        made.send = [this](http_request const& request, http_call const& call) { return client.send(request, call); };
        made.time = &time;
        return made;
    }
    result<provisioned_throughput> read(std::string const& body) {
        client.then(200, body);
        return read_throughput(table, who, options());
    }
    result<std::uint64_t> count() {
        return count_partitions("https://shop.documents.azure.com:443/", key, "orders", options());
    }
};

} // namespace

TEST_CASE("the throughput of a table is read from the resource provider") {
    cosmos on;
    auto const manual = on.read(R"({"id":"x","name":"default","properties":{"resource":{"_rid":"PD5DALigDgw=",
        "_ts":1459200611,"throughput":40000,"minimumThroughput":"400","instantMaximumThroughput":"50000",
        "softAllowedMaximumThroughput":"1000000","offerReplacePending":"true"}}})")
                            .value();
    CHECK(manual.units == 40'000);
    CHECK(manual.autoscale_maximum == 0);
    CHECK(manual.minimum == 400);
    CHECK(manual.instant_maximum == 50'000);
    CHECK(manual.allowed_maximum == 1'000'000);
    CHECK(manual.pending);
    CHECK(on.client.last().url ==
        "https://management.azure.com/subscriptions/0f8fad5b-d9cb-469f-a165-70867728950e/resourceGroups/"
        "shop-group_(eu)/"
        "providers/Microsoft.DocumentDB/databaseAccounts/shop/tables/orders/throughputSettings/"
        "default?api-version=2024-05-15");
    CHECK(on.client.last().headers.find("Authorization") == "Bearer token");
    CHECK(on.scopes == std::vector<std::string>{"https://management.azure.com/.default"});
    auto const plan = plan_throughput({.instant_maximum = manual.instant_maximum, .desired = 150'000}).value();
    CHECK(plan.asked.partitions == 5);

    auto const scaled = on.read(R"({"properties":{"resource":{"autoscaleSettings":{"maxThroughput":4000},
        "throughput":400,"minimumThroughput":1000,"instantMaximumThroughput":null,"offerReplacePending":"false"}}})")
                            .value();
    CHECK(scaled.units == 0);
    CHECK(scaled.autoscale_maximum == 4'000);
    CHECK(scaled.minimum == 1'000);
    CHECK(scaled.instant_maximum == 0);
    CHECK_FALSE(scaled.pending);
    CHECK(on.read(R"({"properties":{"resource":{"throughput":400,"offerReplacePending":true}}})").value().pending);
}

TEST_CASE("answers without a throughput, and refusals, are errors without an effect") {
    cosmos on;
    for (char const* const body : {"", "[]", "{}", "{\"properties\":{}}", "{\"properties\":{\"resource\":{}}}",
             "{\"properties\":{\"resource\":{\"throughput\":\"many\"}}}",
             "{\"properties\":{\"resource\":{\"throughput\":-400}}}",
             "{\"properties\":{\"resource\":{\"throughput\":\"4e2\"}}}",
             "{\"properties\":{\"resource\":{\"throughput\":400"}) {
        INFO(body);
        auto const read = on.read(body);
        CHECK(read.error().code == error_code::transport_failed);
    }
    struct {
        std::uint16_t status;
        error_code code;
    } const refusals[] = {{401, error_code::authentication_failed}, {403, error_code::authorization_failure},
        {404, error_code::resource_not_found}, {429, error_code::server_busy}, {503, error_code::server_busy}};
    for (auto const& each : refusals) {
        on.client.then(each.status, R"({"error":{"code":"secret","message":"secret"}})", {{"Retry-After", "7"}});
        auto const refused = read_throughput(on.table, on.who, on.options());
        CHECK(refused.error().code == each.code);
        CHECK(refused.error().http_status == each.status);
        CHECK(refused.error().effect == effect::none);
        CHECK(refused.error().retry_after == std::chrono::seconds{7});
        CHECK_THAT(refused.error().message, !ContainsSubstring("secret"));
    }
    // A token is sent to https only, and no part of a location can change the path.
    std::size_t const sent = on.client.asked().size();
    std::size_t const tokens = on.scopes.size();
    auto const refusal = [&](auto const& change) {
        cosmos_resource of = on.table;
        change(of);
        auto const refused = read_throughput(of, on.who, on.options());
        CHECK(refused.error().code == error_code::invalid_input);
        return refused.error().message;
    };
    CHECK_THAT(refusal([](auto& of) { of.endpoint = "http://management.azure.com"; }), ContainsSubstring("https"));
    CHECK_THAT(refusal([](auto& of) { of.endpoint = "https://evil/?x="; }), ContainsSubstring("https"));
    CHECK_THAT(refusal([](auto& of) { of.endpoint = "https://"; }), ContainsSubstring("https"));
    CHECK_THAT(refusal([](auto& of) { of.subscription = ""; }), ContainsSubstring("subscription"));
    CHECK_THAT(refusal([](auto& of) { of.resource_group = "a/b"; }), ContainsSubstring("resource group"));
    CHECK_THAT(refusal([](auto& of) { of.account = ".."; }), ContainsSubstring("account"));
    CHECK_THAT(refusal([](auto& of) { of.table = "orders?x"; }), ContainsSubstring("table"));
    CHECK(on.client.asked().size() == sent);
    CHECK(on.scopes.size() == tokens);
    identity const nobody{
        [](std::string_view) -> result<access_token> { return failure{error_code::authentication_failed, "nobody"}; }};
    CHECK(read_throughput(on.table, nobody, on.options()).error().message == "nobody");
    CHECK(on.client.asked().size() == sent);
}

TEST_CASE("the partitions of a table are counted by its ranges, without those that were split") {
    cosmos on;
    on.client.then(200, R"({"_rid":"x","PartitionKeyRanges":[{"id":"0","minInclusive":"","maxExclusive":"1F"},
        {"id":"1","maxExclusive":"3F","minInclusive":"1F","parents":[]}],"_count":2})",
        {{"x-ms-continuation", "\"more\""}});
    on.client.then(200, R"({"PartitionKeyRanges":[{"parents":["1"],"id":"2"},{"id":"3","parents":["1"]},{"id":"0"}]})");
    CHECK(on.count().value() == 3);
    REQUIRE(on.client.asked().size() == 2);
    http_request const& first = on.client.asked()[0];
    CHECK(first.url == "https://shop.documents.azure.com:443/dbs/TablesDB/colls/orders/pkranges");
    // By Python: hmac over "get\npkranges\ndbs/TablesDB/colls/orders\nfri, 20 nov 2026 00:00:00 gmt\n\n".
    CHECK(first.headers.find("authorization") ==
        "type%3Dmaster%26ver%3D1.0%26sig%3DBWe2nDnZtEXcbeMk3AS6GmFatLak5QQ6uAaTrDQ%2FiTE%3D");
    CHECK(first.headers.find("x-ms-date") == "Fri, 20 Nov 2026 00:00:00 GMT");
    CHECK(first.headers.find("x-ms-version") == "2018-12-31");
    CHECK_FALSE(first.headers.find("x-ms-continuation"));
    CHECK(on.client.asked()[1].headers.find("x-ms-continuation") == "\"more\"");
}

TEST_CASE("ranges that cannot be read are errors") {
    cosmos on;
    for (char const* const body : {"", "{}", "{\"PartitionKeyRanges\":{}}", "{\"PartitionKeyRanges\":[{}]}",
             "{\"PartitionKeyRanges\":[{\"id\":7}]}", "{\"PartitionKeyRanges\":[{\"id\":\"0\"}"}) {
        INFO(body);
        on.client.then(200, body);
        CHECK(on.count().error().code == error_code::transport_failed);
    }
    on.client.then(404);
    CHECK(on.count().error().code == error_code::resource_not_found);
    std::size_t const sent = on.client.asked().size();
    CHECK_THAT(count_partitions("https://shop.documents.azure.com", on.who, "orders", on.options()).error().message,
        ContainsSubstring("account key"));
    CHECK(count_partitions("http://shop.documents.azure.com", on.key, "orders", on.options()).error().code ==
        error_code::invalid_input);
    CHECK(count_partitions("https://shop.documents.azure.com", on.key, "../x", on.options()).error().code ==
        error_code::invalid_input);
    CHECK(on.client.asked().size() == sent);
}
