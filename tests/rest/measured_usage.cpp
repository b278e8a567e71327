// SPDX-License-Identifier: MIT
// Copyright (c) 2026 the entitable authors

// The inputs of plans and prices that users must measure, measured through the calls of a table over a service with known charges.

#include <entitable/advice.hpp>
#include <entitable/cloud/rest/rest_backend.hpp>
#include <entitable/entitable.hpp>

#include <support/canned_client.hpp>
#include <support/catch.hpp>

#include <cmath>

using namespace entitable;
using namespace entitable_test;

namespace measured_usage_test {

struct item {
    std::string owner;
    std::int32_t number{};
};
ENTITABLE(item, partition_key(owner), row_key(number))

bool close_to(double value, double expected) { return std::abs(value - expected) <= 1e-9 * std::abs(expected); }

constexpr char const* batch_answer = "--b\r\nContent-Type: multipart/mixed; boundary=c\r\n\r\n"
                                     "--c\r\nContent-Type: application/http\r\n\r\nHTTP/1.1 204 No Content\r\n"
                                     "ETag: W/\"1\"\r\n\r\n\r\n"
                                     "--c\r\nContent-Type: application/http\r\n\r\nHTTP/1.1 204 No Content\r\n"
                                     "ETag: W/\"2\"\r\n\r\n\r\n--c--\r\n--b--\r\n";

} // namespace measured_usage_test

using namespace measured_usage_test;

TEST_CASE("usage: the charges of a service reach plan_ingest, units_for and price through the calls of a table") {
    canned_client const client;
    rest const store{client, "https://a.table.cosmos.azure.com", credential{}, {.retries = retry_policy::none()}};
    usage_meter meter;
    call_options watched;
    watched.watch = &meter;
    auto const items = table<item>{store, "Items"}.with(watched);
    client.then(204, {}, {{"ETag", "W/\"1\""}, {"x-ms-request-charge", "6.5"}});
    items.insert({"ann", 1}).value();
    client.then(429, {}, {{"x-ms-request-charge", "0.25"}});
    CHECK_FALSE(items.insert({"ann", 2}));
    client.then(202, batch_answer, {{"Content-Type", "multipart/mixed; boundary=b"}, {"x-ms-request-charge", "12.75"}});
    auto batch = items.batch();
    batch.insert({"ann", 3});
    batch.insert({"ann", 4});
    batch.submit().value();
    client.then(200, R"({"value":[{"odata.etag":"W/\"1\"","PartitionKey":"ann","RowKey":"0000000001"}]})",
        {{"x-ms-request-charge", "2.5"}});
    CHECK(items.where(fields<item>::owner == "ann").count().value() == 1);

    usage const measured = meter.measured();
    INFO(measured.to_string());
    CHECK(measured.total().transactions == 4); // what Storage would bill
    CHECK(measured.total().bytes_sent > 0);
    CHECK(measured.total().bytes_received > 0);
    CHECK(measured.writes().entities == 3);
    ingest_plan const plan = plan_ingest(measured_ingest(measured, {.data_gb = 300}).value()).value();
    double const each = (6.5 + 0.25 + 12.75) / 3;
    CHECK(close_to(plan.asked.units_per_write, each));
    CHECK(close_to(plan.hours, 300e6 * each / plan.raise_to / 3'600));
    CHECK(close_to(units_for(measured_charges(measured, 2).value()), (6.5 + 0.25 + 12.75 + 2.5) / 2));
    price_table prices{.name = "example", .as_of = "2026-11-01"};
    prices.million_units = 0.25;
    prices.egress_gb = 0;
    monthly_use month = monthly_use_of(measured, 1).value();
    month.billed_by = unit_billing::serverless;
    CHECK(close_to(price(month, prices).value().total, 22 * 730 * 3'600 / 1e6 * 0.25));
}
