// SPDX-License-Identifier: MIT
// Copyright (c) 2026 the entitable authors

// Writes the pages that tests/pictures/render checks: a full one, small and uneven ones, and one with hostile texts and figures.
//
//     write_reports FOLDER

#include <entitable/advice.hpp>
#include <entitable/core/random.hpp>
#include <entitable/local/memory/memory_backend.hpp>
#include <entitable/testing/faulty.hpp>
#include <entitable/testing/manual_clock.hpp>

#include <cmath>
#include <cstdio>
#include <string>
#include <vector>

using namespace entitable;
using namespace std::chrono_literals;

namespace picture_test {

struct event {
    date_time at;
    std::string device;
    std::string kind;
    double value{};
};

struct order {
    std::string customer;
    std::int32_t number{};
    std::string what;
};

struct odd {
    std::string name;
    std::int32_t number{};
    std::string text;
};

ENTITABLE(event, partition_key(device), row_key(at), properties(kind, value))
ENTITABLE(order, partition_key(customer), row_key(number), properties(what))
ENTITABLE(odd, partition_key(name), row_key(number), properties(text))

} // namespace picture_test

namespace {

using namespace picture_test;

stress_outcome stressed() {
    testing::manual_clock time;
    memory_backend memory;
    testing::faulty store{memory, {&time, testing::partition_target{2'000, 10s, {}}}};
    std::vector<order> orders;
    for (std::int32_t number = 0; number < 150; ++number) { orders.push_back({"Ann", number, "tea"}); }
    random_source random{4};
    stress_options options;
    options.peak = 1'500;
    options.most = 2'500;
    options.steps = 10;
    options.step = 1s;
    options.workers = 1;
    options.time = &time;
    time.advance(1s - time.steady().time_since_epoch() % 1s); // the limit counts by whole seconds: the same each time
    stress_test<order> test{store, "stressed", orders};
    test.does("read", 1, 1, [&](table<order> const& into, order const& any) {
        time.advance(std::chrono::microseconds{static_cast<std::int64_t>(30 - 60 * std::log(1 - random.unit()))});
        return into.get(any.customer, any.number);
    });
    test.does("last ten orders of a customer", 0.1, 10, [&](table<order> const& into, order const& any) {
        time.advance(200us);
        return into.where(fields<order>::customer == any.customer).take(10).count();
    });
    test.writes(0.2);
    return test.run(options).value();
}

result<void> write_full(std::string const& path) {
    random_source random{7};
    std::vector<event> events;
    for (std::int64_t number = 0; number < 20'000; ++number) {
        // New devices are added over time; a few of them send most readings.
        auto const newest = static_cast<double>(number) / 20'000 * 400 + 1;
        auto const device = static_cast<int>(newest * std::pow(random.unit(), 0.25));
        date_time const at{date_time::parse("2026-01-01T00:00:00Z").value().ticks + number * 1'296'000'000};
        events.push_back({at, "device-" + std::to_string(1'000 + device), random.unit() < 0.8 ? "reading" : "alarm",
            std::floor(random.unit() * 1'000) / 10});
    }
    sample_builder builder{declaration_of<event>(), mapping<event>::partition_layout, mapping<event>::row_layout, {}};
    for (event const& each : events) {
        row const made = to_row(each).value();
        std::string payload{made.payload()};
        set_timestamp(payload, each.at);
        builder.add(row_view{made.partition_key(), made.row_key(), payload});
    }
    table_sample const sample = std::move(builder).finish();
    using e = fields<event>;
    workload load;
    load.reads("of a device", e::device == "device-1000", {.per_second = 40, .latency = 50ms})
        .scans("alarms of all devices", e::kind == "alarm", {.per_second = 0.2, .latency = 2s, .priority = 3})
        .writes("readings", {.per_second = 2'400, .together = &event::kind});
    load_shape shape = load_shape::zipf(120, 0.9, arrival_pattern::ramp(500, 4'200, 900));
    simulation_options options;
    options.minutes = 30;
    options.model.ranges = 2;
    simulation_options outage;
    outage.minutes = 3;
    outage.outages = {{60, 5}};
    advice const advised = advise(sample, load).value();
    price_table storage{.name = "Storage, example", .as_of = "2026-11-01", .currency = "EUR"};
    storage.transactions = {.read = 0.0004, .query = 0.0004, .write = 0.0004, .batch = 0.0004, .removal = 0};
    storage.storage_gb = 0.045;
    price_table cosmos{.name = "Cosmos DB, example", .as_of = "2026-10-01", .currency = "EUR"};
    cosmos.storage_gb = 0.25;
    cosmos.hour_of_100_units = 0.008;
    monthly_use const on_storage = monthly_use_of(advised, load);
    monthly_use on_cosmos = on_storage;
    on_cosmos.name = "the same keys, 20,000 RU/s on Cosmos DB";
    on_cosmos.billed_by = unit_billing::manual;
    on_cosmos.peak_units = 20'000;
    price_comparison const prices{{price(on_storage, storage).value(), price(on_cosmos, cosmos).value()}};
    shard_options sharding;
    sharding.stores = 3;
    sharding.number = 200;
    shard_advice const shards = advise_shards(sample, load, sharding).value();
    advice_report report{"Events of devices"};
    report.add(advised)
        .add(shards)
        .add(simulate_stores(sample, load, shards.candidates[0], {.minutes = 5}, {{1, 60, 30}}))
        .add(prices)
        .add(simulate(shape, options))
        .add(compare_retries(load_shape::even(10, arrival_pattern::constant(1'000)), outage))
        .add(stressed())
        .add(plan_throughput({.partitions = 5, .desired = 150'000}))
        .add(plan_ingest({.data_gb = 1'000}));
    return report.write(path);
}

result<void> write_small(std::string const& path) {
    std::vector<order> const orders{{"Ann", 1, "tea"}, {"Ann", 2, "coffee"}};
    return write_report(path, advise(sample_of(orders).value(), {}),
        advise_shards(sample_of(orders).value(), {}, {.stores = 1, .number = 1}),
        simulate(load_shape::even(1, arrival_pattern::constant(10)), {.minutes = 1}),
        plan_throughput({.partitions = 1, .desired = 400}));
}

/// Most partitions have one entity, a few have thousands: the highest bar is the first.
result<void> write_uneven(std::string const& path) {
    std::vector<order> orders;
    for (std::int32_t number = 0; number < 9'000; ++number) {
        orders.push_back({"customer " + std::to_string(number % 3 == 0 ? number : number % 4), number, "tea"});
    }
    return write_report(path, advise(sample_of(orders, {.rows = 2'000}).value(), {}),
        plan_throughput({.partitions = 2, .desired = 30'000}));
}

result<void> write_hostile(std::string const& path) {
    std::vector<odd> all;
    std::string const long_text(300, 'W');
    for (std::int32_t number = 0; number < 3'000; ++number) {
        std::string name = number % 3 == 0 ? "<script>alert(1)</script>&\"'"
            : number % 3 == 1
            ? long_text + std::to_string(number % 97)
            : "\xE6\x9D\xB1\xE4\xBA\xAC\xE9\x83\xBD\xEF\xBF\xBF \xE2\x80\xAE" + std::to_string(number % 41);
        all.push_back({std::move(name), number, "]]> --> </pre></svg>"});
    }
    using o = fields<odd>;
    workload load;
    load.scans(long_text, o::text == "</table>", {.per_second = 1e6, .latency = 1us})
        .reads("<b>&amp;</b>", o::name == "x", {.per_second = 1e-9})
        .writes("new", {.per_second = 1e7});
    simulation_options options;
    options.minutes = 24.0 * 60;
    options.engine = simulation_engine::fluid;
    auto const sample = sample_of(all, {.rows = 1'000, .arrival_order = true}).value();
    shard_options many;
    many.stores = 12;
    many.number = 900;
    many.also = {{long_text + "</td>", {"text"}, virtual_shards{1}}};
    return write_report(path, advise(sample, load), advise_shards(sample, load, many),
        simulate(load_shape::append(arrival_pattern::constant(123'456'789)), options),
        run_stress(
            {{"call", 1, 1, [](std::uint64_t) -> result<void> { return failure{error_code::server_busy, "no"}; }}},
            {.peak = 1'999, .target = 2'000, .steps = 1, .step = 2ms, .workers = 1}, [] { return std::uint64_t{0}; }),
        plan_throughput({.partitions = 999, .desired = 987'654'321}),
        plan_ingest({.data_gb = 123'456, .autoscale = true}));
}

} // namespace

int main(int count, char** arguments) {
    if (count != 2) {
        std::fputs("write_reports FOLDER\n", stderr);
        return 2;
    }
    std::string const folder{arguments[1]};
    for (auto const& written : {write_full(folder + "/full.html"), write_small(folder + "/small.html"),
             write_uneven(folder + "/uneven.html"), write_hostile(folder + "/hostile.html")}) {
        if (!written) {
            std::fprintf(stderr, "%s\n", written.error().to_string().c_str());
            return 1;
        }
    }
    return 0;
}
