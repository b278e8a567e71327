// SPDX-License-Identifier: MIT
// Copyright (c) 2026 the entitable authors

// The cost of requests as the service reports it: in the call, in the records of attempts, in metrics.

#include <entitable/cloud/rest/rest_backend.hpp>
#include <entitable/core/decorators/metrics.hpp>
#include <entitable/testing/manual_clock.hpp>
#include <entitable/testing/rows.hpp>

#include <support/canned_client.hpp>
#include <support/catch.hpp>
#include <support/openmetrics_parser.hpp>
#include <support/watcher.hpp>

using namespace entitable;
using namespace entitable_test;
using testing::make_row;

namespace {

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

} // namespace

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
