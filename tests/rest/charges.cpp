// SPDX-License-Identifier: MIT
// Copyright (c) 2026 the entitable authors

// The cost of requests as the service reports it: in the call, in the records of attempts, in metrics.

#include <entitable/cloud/rest/rest_backend.hpp>
#include <entitable/core/decorators/metrics.hpp>
#include <entitable/entitable.hpp>
#include <entitable/testing/manual_clock.hpp>
#include <entitable/testing/rows.hpp>

#include <support/canned_client.hpp>
#include <support/catch.hpp>
#include <support/openmetrics_parser.hpp>
#include <support/watcher.hpp>

using namespace entitable;
using namespace entitable_test;
using testing::make_row;

namespace charges_test {

struct order {
    std::string owner;
    std::int32_t number{};
};
ENTITABLE(order, partition_key(owner), row_key(number))

struct fixture {
    fixture() {
        where.primary = "https://a.table.cosmos.azure.com";
        where.account = "a";
        where.kind = service::cosmos;
        options.time = &time;
    }
    rest<canned_client> store() { return {client, where, credential{}, options}; }
    void page(std::string const& charge) { client.then(200, R"({"value":[]})", {{"x-ms-request-charge", charge}}); }

    canned_client client;
    endpoint where;
    testing::manual_clock time;
    rest_options options;
};

query_entities rows_of_p() {
    query_entities made;
    made.table = "Orders";
    made.range.partition = key_interval::only("p");
    return made;
}

} // namespace charges_test

using namespace charges_test;

TEST_CASE("charges: a call adds up its attempts, refused ones included") {
    fixture f;
    metrics counted{{.time = &f.time}};
    f.client.then(429, "", {{"x-ms-request-charge", "0.38"}});
    f.page("2.29");
    f.page("10.5");
    auto const store = f.store();
    call context;
    context.watch = &counted;
    REQUIRE(store.execute(rows_of_p(), context));
    CHECK(context.request_charge == 0.38 + 2.29);
    REQUIRE(store.execute(rows_of_p(), context));
    CHECK(context.request_charge == 0.38 + 2.29 + 10.5);
    auto const read = openmetrics_parser::parse(counted.to_openmetrics());
    double sum = 0;
    for (auto const& [series, value] : read.samples) {
        if (series.first == "entitable_request_charge_total") { sum += std::stod(value); }
    }
    CHECK(sum == Approx(13.17));
}

TEST_CASE("charges: written entities, pages and whole queries say what they cost, and how stale they are") {
    fixture f;
    f.where.secondary = "https://a-west.table.cosmos.azure.com";
    call_options options;
    options.location = read_location::secondary;
    auto const orders = table<order>{f.store(), "Orders"}.with(options);
    f.client.then(429, "", {{"x-ms-request-charge", "0.25"}});
    f.client.then(204, "", {{"ETag", "W/\"1\""}, {"x-ms-request-charge", "6.5"}});
    CHECK(orders.insert({"p", 1}).value().request_charge == 6.75); // with the refused attempt
    std::string const rows = R"({"value":[{"odata.etag":"W/\"1\"","PartitionKey":"p","RowKey":"0000000001"}]})";
    f.client.then(200, R"({"value":[]})",
        {{"x-ms-request-charge", "1.5"}, {"x-ms-continuation-NextPartitionKey", "p"},
            {"x-ms-continuation-NextRowKey", "0"}});
    f.client.then(200, rows,
        {{"x-ms-request-charge", "2.5"}, {"x-ms-continuation-NextPartitionKey", "p"},
            {"x-ms-continuation-NextRowKey", "1"}});
    f.client.then(200, rows, {{"x-ms-request-charge", "3"}});
    auto const asked = orders.where(fields<order>::owner == "p");
    auto pages = asked.pages();
    auto const first = pages.next().value();
    REQUIRE(first);
    CHECK(first->request_charge == 4.0); // with the empty page before it
    CHECK(first->stale);
    auto const second = pages.next().value();
    REQUIRE(second);
    CHECK(second->request_charge == 3.0);
    CHECK_FALSE(pages.next().value());

    auto const fresh = table<order>{f.store(), "Orders"};
    f.client.then(200, rows, {{"x-ms-request-charge", "2.75"}});
    CHECK_FALSE(fresh.where(fields<order>::owner == "p").pages().next().value()->stale);
    f.client.then(200, rows, {{"x-ms-request-charge", "2.75"}});
    auto const query = orders.where(fields<order>::owner == "p");
    CHECK(query.to().value().size() == 1);
    CHECK(query.analyze().request_charge == 2.75);
    CHECK(query.analyze().stale == 1);
    f.client.then(204, "", {{"ETag", "W/\"1\""}});
    CHECK(fresh.insert({"p", 1}).value().request_charge == 0);
}

TEST_CASE("charges: each attempt is reported with its own") {
    fixture f;
    watcher eyes;
    f.client.then(429, "", {{"x-ms-request-charge", "0.5"}});
    f.page("3");
    call context;
    context.watch = &eyes;
    REQUIRE(f.store().execute(rows_of_p(), context));
    auto const told = eyes.all("attempt");
    REQUIRE(told.size() == 2);
    CHECK(told[0].attempt.request_charge == 0.5);
    CHECK(told[1].attempt.request_charge == 3.0);
}

TEST_CASE("charges: a service without them, and malformed ones, count as nothing") {
    for (char const* each :
        {"", "-1", "nan", "inf", "1,5", "1 RU", "+2", "0x10", "1e999", "1e300", "99999999999999999999"}) {
        fixture f;
        metrics counted{{.time = &f.time}};
        f.page(each);
        call context;
        context.watch = &counted;
        REQUIRE(f.store().execute(rows_of_p(), context));
        INFO(each);
        CHECK(context.request_charge == 0);
        CHECK(counted.to_openmetrics().find("entitable_request_charge") == std::string::npos);
    }
    fixture f;
    metrics counted{{.time = &f.time}};
    f.client.then(200, R"({"value":[]})");
    call context;
    context.watch = &counted;
    REQUIRE(f.store().execute(rows_of_p(), context));
    CHECK(context.request_charge == 0);
}
