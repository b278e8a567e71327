// SPDX-License-Identifier: MIT
// Copyright (c) 2026 the entitable authors

// Prices of a month. The expected amounts were computed with fractions in Python, from the quantities and prices below.

#include <entitable/advice.hpp>

#include <support/catch.hpp>

#include <cmath>
#include <limits>

using namespace entitable;
using namespace std::chrono_literals;
using entitable_test::ContainsSubstring;

namespace price_test {

struct item {
    std::string owner;
    std::int32_t number{};
    std::string note;
};
ENTITABLE(item, partition_key(owner), row_key(number), properties(note))

constexpr double gb = 1'073'741'824;

price_table storage_prices() {
    price_table made{.name = "Storage LRS", .as_of = "2026-11-01", .currency = "EUR"};
    made.transactions = {.read = 0.0004, .query = 0.0005, .write = 0.0006, .batch = 0.0007, .removal = 0.0001};
    made.storage_gb = 0.045;
    made.egress_gb = 0.08;
    made.free_egress_gb = 100;
    return made;
}
price_table cosmos_prices() {
    price_table made{.name = "Cosmos DB", .as_of = "2026-10-31", .currency = "EUR"};
    made.storage_gb = 0.25;
    made.hour_of_100_units = 0.008;
    made.hour_of_100_autoscale_units = 0.012;
    made.million_units = 0.25;
    return made;
}
monthly_use in_units(unit_billing by, double peak, double mean, double bytes = 0) {
    monthly_use made;
    made.billed_by = by;
    made.peak_units = peak;
    made.units_a_second = mean;
    made.stored_bytes = bytes;
    return made;
}
bool close_to(double value, double expected) { return std::abs(value - expected) <= 1e-9 * std::abs(expected); }
double total(monthly_use const& use, price_table const& prices) { return price(use, prices).value().total; }

} // namespace price_test

using namespace price_test;

TEST_CASE("a month of transactions, stored data and egress has the computed price") {
    monthly_use use;
    use.name = "orders";
    use.reads = 2'365'200'000;
    use.queries = 315'360'000;
    use.writes = 788'400'000;
    use.batches = 7'884'000;
    use.removals = 12'345'678;
    use.stored_bytes = 750 * gb;
    use.egress_bytes = 640 * gb;
    monthly_price const month = price(use, storage_prices()).value();
    CHECK(close_to(month.total, 235.30533678));
    REQUIRE(month.lines.size() == 7);
    double sum = 0;
    for (price_line const& each : month.lines) {
        CHECK(close_to(each.amount, each.quantity * each.unit_price));
        sum += each.amount;
    }
    CHECK(close_to(sum, month.total));
    CHECK(month.as_of == "2026-11-01");
    std::string const text = month.to_string();
    CHECK_THAT(text, ContainsSubstring("amounts in EUR, prices of Storage LRS as of 2026-11-01"));
    CHECK_THAT(text, ContainsSubstring("236,520.00"));
    CHECK_THAT(text, ContainsSubstring("235.31"));

    monthly_use little;
    little.egress_bytes = 99 * gb;
    CHECK(total(little, storage_prices()) == 0);
    little.egress_bytes = 101 * gb;
    CHECK(close_to(total(little, storage_prices()), 0.08));
}

TEST_CASE("a month of request units has the computed price, however they are billed") {
    price_table const prices = cosmos_prices();
    CHECK(close_to(total(in_units(unit_billing::manual, 3'318, 0, 1e12), prices), 431.39064365386963));
    CHECK(close_to(total(in_units(unit_billing::manual, 1, 0), prices), 23.36)); // at least 400 RU/s
    CHECK(close_to(total(in_units(unit_billing::autoscale, 3'318, 1'200), prices), 105.12));
    CHECK(close_to(total(in_units(unit_billing::autoscale, 3'318, 10), prices), 35.04));    // at least a tenth
    CHECK(close_to(total(in_units(unit_billing::autoscale, 3'318, 9'999), prices), 350.4)); // at most the maximum
    CHECK(close_to(total(in_units(unit_billing::autoscale, 4'001, 10), prices), 43.8));
    CHECK(close_to(total(in_units(unit_billing::serverless, 0, 2.5), prices), 1.6425));
    monthly_use requests = in_units(unit_billing::manual, 400, 0);
    requests.reads = 1e12; // paid by the request units
    CHECK(close_to(total(requests, prices), 23.36));
}

TEST_CASE("an amount below a cent is not shown as zero") {
    monthly_use use;
    use.reads = 100; // a hundredth of 10,000
    price_table prices{.name = "p", .as_of = "2026-11-01", .currency = "EUR"};
    prices.transactions = {.read = 0.004};
    monthly_price const month = price(use, prices).value();
    CHECK(close_to(month.total, 0.00004));
    CHECK_THAT(month.to_string(), ContainsSubstring("<0.01"));
    CHECK(price_comparison{{month}}.to_string() ==
        "a month of  p (EUR)\nreads         <0.01\nin total      <0.01\nprices of p as of 2026-11-01\n");
    price_table dollars = prices;
    dollars.currency = "USD";
    CHECK_THAT(price_comparison({{month, price(use, dollars).value()}}).to_string(),
        ContainsSubstring("a month of  p (EUR)  p (USD)"));
    use.reads = 0;
    CHECK_THAT(price(use, prices).value().to_string(), ContainsSubstring("0.00") && !ContainsSubstring("<0.01"));
    for (double const hours : {0.0, -1.0, std::numeric_limits<double>::quiet_NaN()}) {
        CHECK(monthly_use_of(usage{}, 60, hours).error().code == error_code::out_of_range_input);
    }
}

TEST_CASE("a price that the table does not have is never taken for zero") {
    auto const refusal = [](monthly_use const& use, price_table const& prices) {
        auto const month = price(use, prices);
        return month ? std::string{"priced"} : month.error().message;
    };
    monthly_use use;
    use.reads = 1;
    CHECK(refusal(use, cosmos_prices()) ==
        "the price table \"Cosmos DB\" has no price for reads: price_table::transactions");
    CHECK_THAT(refusal(in_units(unit_billing::manual, 1, 0), storage_prices()), ContainsSubstring("hour_of_100_units"));
    CHECK_THAT(refusal(in_units(unit_billing::autoscale, 1, 0), storage_prices()),
        ContainsSubstring("hour_of_100_autoscale_units"));
    CHECK_THAT(refusal(in_units(unit_billing::serverless, 1, 1), storage_prices()), ContainsSubstring("million_units"));
    use = {};
    use.egress_bytes = 1;
    CHECK_THAT(refusal(use, cosmos_prices()), ContainsSubstring("egress_gb"));
    price_table nothing{.as_of = "2026-11-01"};
    use = {};
    use.stored_bytes = 1;
    CHECK_THAT(refusal(use, nothing), ContainsSubstring("storage_gb"));
    CHECK(price({}, nothing).value().total == 0);
}

TEST_CASE("figures and days that make no sense are refused, and the error names them") {
    auto const refusal = [](auto const& change) {
        monthly_use use;
        price_table prices = storage_prices();
        change(use, prices);
        auto const month = price(use, prices);
        return month ? std::string{"priced"} : month.error().message;
    };
    double const nan = std::numeric_limits<double>::quiet_NaN();
    CHECK_THAT(refusal([](auto& use, auto&) { use.reads = -1; }), ContainsSubstring("monthly_use::reads"));
    CHECK_THAT(refusal([&](auto& use, auto&) { use.egress_bytes = nan; }), ContainsSubstring("egress_bytes"));
    CHECK_THAT(refusal([&](auto&, auto& prices) { prices.storage_gb = -0.1; }), ContainsSubstring("storage_gb"));
    CHECK_THAT(refusal([&](auto&, auto& prices) { prices.transactions->batch = nan; }), ContainsSubstring("batch"));
    for (char const* day : {"", "2026", "1 Nov 2026", "2026-13-01", "2026-11-01T00:00:00Z"}) {
        CHECK_THAT(refusal([&](auto&, auto& prices) { prices.as_of = day; }), ContainsSubstring("price_table::as_of"));
    }
    CHECK(refusal([](auto&, auto&) {}) == "priced");
}

TEST_CASE("two designs of a table stand side by side, with their prices and the day of the prices") {
    std::vector<item> all;
    for (std::int32_t number = 0; number < 1'000; ++number) {
        all.push_back({"owner " + std::to_string(number % 40), number, "note"});
    }
    table_sample const sample = sample_of(all).value();
    workload load;
    load.reads("of an owner", fields<item>::owner == "owner 1", {.per_second = 20})
        .scans("by note", fields<item>::note == "note", {.per_second = 0.5})
        .writes("new", {.per_second = 100})
        .writes("together", {.per_second = 50, .per_transaction = 10});
    advice const advised = advise(sample, load).value();
    monthly_use const now = monthly_use_of(advised, load);
    double const month = 730 * 3'600;
    // One page of an owner's 25 rows; one of all 1,000 rows.
    CHECK(close_to(now.queries, (20 * 1 + 0.5 * 1) * month));
    CHECK(now.reads == 0);
    bool const together = advised.candidates[advised.present].score.transactions;
    CHECK(close_to(now.writes, (together ? 100 : 150) * month));
    CHECK(close_to(now.batches, (together ? 5 : 0) * month));
    CHECK(now.stored_bytes == static_cast<double>(advised.there.bytes));
    price_table const prices = storage_prices();
    double const amount = now.queries / 1e4 * 0.0005 + now.writes / 1e4 * 0.0006 + now.batches / 1e4 * 0.0007 +
        now.stored_bytes / gb * 0.045;
    CHECK(close_to(total(now, prices), amount));

    monthly_use units = in_units(unit_billing::manual, 3'318, 0, now.stored_bytes);
    units.name = "the same on <Cosmos DB>";
    price_comparison const both{{price(now, prices).value(), price(units, cosmos_prices()).value()}};
    std::string const text = both.to_string();
    CHECK_THAT(text, ContainsSubstring("the same on <Cosmos DB>"));
    CHECK_THAT(text, ContainsSubstring("provisioned throughput"));
    CHECK_THAT(text, ContainsSubstring("prices of Storage LRS as of 2026-11-01, Cosmos DB as of 2026-10-31"));
    advice_report report{"Items"};
    report.add(advised).add(both);
    CHECK_THAT(report.to_string().value(), ContainsSubstring(text));
    std::string const page = report.to_html().value();
    CHECK_THAT(page, ContainsSubstring("The price of a month"));
    CHECK_THAT(page, ContainsSubstring("the same on &lt;Cosmos DB&gt;"));
    CHECK_THAT(page, ContainsSubstring("Storage LRS as of 2026-11-01, Cosmos DB as of 2026-10-31"));

    // Other candidates have their own figures, and a candidate that does not exist has none.
    for (std::size_t index = 0; index < advised.candidates.size(); ++index) {
        monthly_use const other = monthly_use_of(advised, load, index);
        CHECK(other.name == advised.candidates[index].score.declared.to_string());
    }
    CHECK(monthly_use_of(advised, load, 1'000).queries == 0);
}

TEST_CASE("measured requests become a month, an ingest and a sum of request units") {
    usage_meter meter;
    auto const attempt = [&](std::string_view name, std::size_t batch, std::size_t rows, double charge, bool failed) {
        attempt_record done;
        done.name = name;
        done.batch_size = batch;
        if (rows > 0) { done.outcome.rows = rows; }
        if (failed) { done.outcome.error = error_code::server_busy; }
        done.request_size = 100;
        done.response_size = 1'000;
        done.request_charge = charge;
        meter.on_attempt(done);
    };
    CHECK(measured_ingest(meter.measured(), {.data_gb = 1}).error().code == error_code::invalid_input);
    attempt("insert", 0, 0, 6, false);
    attempt("insert", 0, 0, 0.5, true); // a refused attempt is charged too
    attempt("transact", 10, 0, 60, false);
    attempt("get_entity", 0, 1, 1, false);
    attempt("query_entities", 0, 20, 3.5, false);
    attempt("remove", 0, 0, 6, false);
    usage const made = meter.measured();
    CHECK(made.total().transactions == 6);
    CHECK(made.total().failed == 1);
    CHECK(made.total().bytes_received == 6'000);
    REQUIRE(made.find("insert") != nullptr);
    CHECK(made.find("insert")->transactions == 2);
    CHECK(made.find("merge") == nullptr);
    CHECK(made.writes().entities == 12);
    ingest_request const ingest = measured_ingest(made, {.data_gb = 500, .item_kb = 2}).value();
    CHECK(close_to(ingest.units_per_write, (6 + 0.5 + 60 + 6) / 12));
    CHECK(ingest.data_gb == 500);
    CHECK(close_to(plan_ingest(ingest).value().hours,
        500e6 / 2 * ingest.units_per_write / plan_ingest(ingest).value().raise_to / 3'600));
    auto const charges = measured_charges(made, 10).value();
    CHECK(close_to(units_for(charges), (6 + 0.5 + 60 + 1 + 3.5 + 6) / 10));
    monthly_use const month = monthly_use_of(made, 10).value();
    double const factor = 730 * 360;
    CHECK(close_to(month.writes, 2 * factor));
    CHECK(close_to(month.batches, factor));
    CHECK(close_to(month.reads, factor));
    CHECK(close_to(month.queries, factor));
    CHECK(close_to(month.removals, factor));
    CHECK(close_to(month.egress_bytes, 6'000 * factor));
    CHECK(close_to(month.units_a_second, 7.7));
    CHECK(measured_charges(made, 0).error().code == error_code::out_of_range_input);
    CHECK(monthly_use_of(made, -1).error().code == error_code::out_of_range_input);
    CHECK_THAT(made.to_string(), ContainsSubstring("transact"));
    meter.clear();
    attempt("insert", 0, 0, 0, false);
    CHECK_THAT(measured_ingest(meter.measured(), {}).error().message, ContainsSubstring("no charges"));
    CHECK_THAT(measured_charges(meter.measured(), 1).error().message, ContainsSubstring("no charges"));
}
