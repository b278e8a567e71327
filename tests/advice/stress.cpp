// SPDX-License-Identifier: MIT
// Copyright (c) 2026 the entitable authors

#include <entitable/advice.hpp>
#include <entitable/cloud/rest/rest_backend.hpp>
#include <entitable/core/random.hpp>
#include <entitable/file.hpp>
#include <entitable/memory.hpp>
#include <entitable/retrying.hpp>
#include <entitable/server.hpp>
#include <entitable/testing.hpp>

#include <support/catch.hpp>
#include <support/temporary_folder.hpp>

#include <algorithm>
#include <cmath>
#include <stdexcept>

using namespace entitable;
using namespace std::chrono_literals;
using entitable_test::ContainsSubstring;

namespace stress_test_cases {

struct order {
    std::string customer;
    std::int32_t number{};
    std::string what;
};
ENTITABLE(order, partition_key(customer), row_key(number), properties(what))

std::vector<order> orders(int count) {
    std::vector<order> all;
    for (int number = 0; number < count; ++number) { all.push_back({"Ann", number, "tea"}); }
    return all;
}

/// The only account of a server, with a test key.
server_options with_account() {
    server_options options;
    options.accounts.push_back({"acct", "b3RoZXI=", {}, {}});
    return options;
}
constexpr char const* connection = "DefaultEndpointsProtocol=http;AccountName=acct;AccountKey=b3RoZXI=";

/// Virtual time, one worker, calls at equal intervals: every figure is exact.
stress_options exact(entitable::clock& time, double peak) {
    stress_options made;
    made.peak = peak;
    made.most = 2'500;
    made.steps = 10;
    made.step = 2s;
    made.poisson = false;
    made.workers = 1;
    made.time = &time;
    return made;
}

template <class Store>
bool has_table(Store const& store, std::string const& name) {
    call context;
    any_store const through{store};
    auto const listed = through.execute(list_tables{}, context).value();
    return std::find(listed.tables.begin(), listed.tables.end(), name) != listed.tables.end();
}

} // namespace stress_test_cases

TEST_CASE("stress test: fills its table in transactions within the limits of the transport") {
    using namespace stress_test_cases;
    testing::manual_clock time;
    memory_backend store;
    retrying const kept{store, {.operation_rows = true, .time = &time}}; // 99 operations per transaction
    stress_options how = exact(time, 100);
    how.steps = 1;
    CHECK(stress_test<order>{kept, "stress", orders(250)}.reads(1).run(how));
}

using namespace stress_test_cases;

TEST_CASE("a planted limit of 2,000 entities a second is found") {
    testing::manual_clock time;
    memory_backend memory;
    testing::faulty store{memory, {&time, testing::partition_target{2'000, 10s, {}}}};
    stress_test<order> test{store, "stressed", orders(150)};
    test.reads(3).writes(1);

    stress_outcome const low = test.run(exact(time, 1'500)).value();
    INFO(low.to_string());
    CHECK(low.verdict == stress_verdict::fits);
    CHECK(low.carried == 2'000); // the step of 2,250 is throttled
    CHECK(low.steps.size() == 9);
    CHECK(low.steps.back().saturated());
    CHECK(low.steps.back().errors.at(error_code::server_busy) > 0);
    CHECK(low.steps[3].served == 1'000);
    CHECK(low.steps[3].sent == 2'000);
    CHECK(low.steps[3].failed() == 0);
    CHECK_FALSE(has_table(memory, "stressed"));

    time.advance(1min);
    CHECK(test.run(exact(time, 2'250)).value().verdict == stress_verdict::too_coarse);
    CHECK_FALSE(has_table(memory, "stressed"));
}

TEST_CASE("a rate above the target is shown as one that the service does not promise") {
    testing::manual_clock time;
    memory_backend memory;
    testing::faulty idle{memory, {&time, testing::partition_target{3'000, 10s, {}}}};
    stress_options how = exact(time, 1'500);
    how.most = 2'500;
    std::string const text = stress_test<order>{idle, "stressed", orders(150)}.reads(1).run(how).value().to_string();
    CHECK_THAT(text, ContainsSubstring("above the target: a server with little load may serve more"));
    testing::faulty busy{memory, {&time, testing::partition_target{2'000, 10s, {}}}};
    CHECK_THAT(stress_test<order>(busy, "stressed", orders(150)).reads(1).run(how).value().to_string(),
        !ContainsSubstring("above the target"));
}

TEST_CASE("a planted limit is also found through a server") {
    testing::manual_clock time;
    memory_backend memory;
    testing::faulty store{memory, {&time, testing::partition_target{200, 10s, {}}}};
    stress_test<order> test{rest{table_server{store, with_account()}, connection}, "stressed", orders(15)};
    stress_options options = exact(time, 150);
    options.target = 200;
    options.most = 250;
    options.step = 1s;
    stress_outcome const outcome = test.reads(3).writes(1).run(options).value();
    INFO(outcome.to_string());
    CHECK(outcome.verdict == stress_verdict::fits);
    CHECK(outcome.carried == 200);
    CHECK(outcome.steps.back().errors.at(error_code::server_busy) > 0);
    CHECK_FALSE(has_table(memory, "stressed"));
}

TEST_CASE("a partition that is throttled from the first step gives the verdict hot_at_once") {
    testing::manual_clock time;
    memory_backend memory;
    testing::faulty store{memory, {&time, testing::partition_target{20, 10s, {}}}};
    stress_test<order> test{store, "stressed", orders(10)};
    stress_outcome const outcome = test.reads(1).run(exact(time, 1'500)).value();
    CHECK(outcome.verdict == stress_verdict::hot_at_once);
    CHECK(outcome.carried == 0);
    CHECK(outcome.steps.size() == 1);
    CHECK_THAT(outcome.to_string(), ContainsSubstring("ServerBusy"));
}

TEST_CASE("a partition whose peak is above the target is too coarse, even if the store sustains the peak") {
    testing::manual_clock time;
    stress_test<order> test{memory_backend{}, "stressed", orders(10)};
    stress_options options = exact(time, 2'400);
    options.step = 100ms;
    stress_outcome const outcome = test.reads(1).run(options).value();
    CHECK(outcome.carried == 2'500);
    CHECK(outcome.verdict == stress_verdict::too_coarse);
}

TEST_CASE("a step that received few calls by chance is not saturated") {
    for (std::uint64_t seed = 1; seed <= 40; ++seed) { // 200 calls, give or take 14
        testing::manual_clock time;
        stress_options options = exact(time, 100);
        options.most = 100;
        options.steps = 1;
        options.poisson = true;
        options.seed = seed;
        auto const call = [](std::uint64_t) -> result<void> { return {}; };
        stress_outcome const outcome =
            run_stress({{"call", 1, 1, call}}, options, [] { return std::uint64_t{0}; }).value();
        INFO(seed << '\n' << outcome.to_string());
        CHECK(outcome.verdict == stress_verdict::fits);
    }
}

TEST_CASE("percentiles match the distribution and include the waits") {
    // One worker with service times of 0.1, 0.2 ... 10 ms, each equally often, for calls every 20 ms: no call waits.
    testing::manual_clock time;
    auto const drawn = [&](std::uint64_t random) -> result<void> {
        time.advance(std::chrono::microseconds{100 * (1 + random % 100)});
        return {};
    };
    stress_options options = exact(time, 50);
    options.most = 50;
    options.steps = 1;
    options.step = 200s;
    stress_outcome const free = run_stress({{"call", 1, 1, drawn}}, options, [] { return std::uint64_t{0}; }).value();
    REQUIRE(free.steps[0].sent == 10'000);
    for (double const part : {0.1, 0.5, 0.9, 0.99}) {
        double const found = static_cast<double>(free.steps[0].latencies.quantile(part).count()) / 1e7;
        CHECK(std::abs(found - part) < 0.025);
    }
    // A service time of 10 ms for calls every 5 ms: the latency grows with each call, and half of the calls are not
    // served.
    auto const slow = [&](std::uint64_t) -> result<void> {
        time.advance(10ms);
        return {};
    };
    options.most = options.peak = 200;
    options.step = 10s;
    stress_step const step =
        run_stress({{"call", 1, 1, slow}}, options, [] { return std::uint64_t{0}; }).value().steps[0];
    CHECK(step.saturated());
    CHECK(step.sent == 1'000);
    CHECK(step.unsent == 1'000);
    CHECK(step.latencies.most() > 4900ms); // the last call waited for 999 others, alone it takes 10 ms
    CHECK(step.latencies.quantile(0.5) > 2400ms);
}

TEST_CASE("a missed latency target gives the verdict too_coarse") {
    testing::manual_clock time;
    auto const call = [&](std::uint64_t random) -> result<void> {
        time.advance(random % 50 == 0 ? 5ms : 10us); // 2 of 100 are slow
        return {};
    };
    stress_options options = exact(time, 100);
    options.most = 100;
    options.step = 20s;
    auto const none = [] { return std::uint64_t{0}; };
    CHECK(run_stress({{"call", 1, 1, call}}, options, none).value().verdict == stress_verdict::fits);
    options.latency = 1ms;
    CHECK(run_stress({{"call", 1, 1, call}}, options, none).value().verdict == stress_verdict::too_coarse);
    options.latency = 6ms;
    CHECK(run_stress({{"call", 1, 1, call}}, options, none).value().verdict == stress_verdict::fits);
}

TEST_CASE("retries are counted") {
    testing::manual_clock time;
    memory_backend memory;
    testing::faulty store{memory};
    retrying patient{store, {.policy = retry_policy::fixed(3, 1ms), .time = &time}};
    stress_test<order> test{patient, "stressed", orders(5)};
    test.reads(1);
    store.plan({testing::fault::busy(), 5, "get_entity", {}, false});
    store.plan({testing::fault::busy(), 9, "get_entity", {}, false});
    stress_options options = exact(time, 100);
    options.most = 100;
    options.steps = 1;
    stress_outcome const outcome = test.run(options).value();
    CHECK(outcome.steps[0].attempts == outcome.steps[0].sent + 2);
    CHECK(outcome.steps[0].failed() == 0);
}

TEST_CASE("the table is dropped after an error or an exception, and a table that existed before is not") {
    testing::manual_clock time;
    memory_backend memory;
    stress_options options = exact(time, 100);
    options.step = 100ms;

    testing::faulty store{memory};
    stress_test<order> filling{store, "stressed", orders(5)};
    store.plan({testing::fault::status(500, false, effect::none), 1, "transact", {}, false});
    CHECK(filling.reads(1).run(options).error().code == error_code::internal_error);
    CHECK_FALSE(has_table(memory, "stressed"));

    for (std::uint32_t const workers : {1U, 3U}) {
        options.workers = workers;
        options.time = workers == 1 ? static_cast<entitable::clock*>(&time) : &system_clock();
        stress_test<order> throwing{memory, "stressed", orders(5)};
        throwing.does("throws", 1, 1, [](table<order> const&, order const& any) -> result<order> {
            if (any.number == 3) { throw std::runtime_error{"of the application"}; }
            return any;
        });
        CHECK_THROWS_AS((void)throwing.run(options), std::runtime_error);
        CHECK_FALSE(has_table(memory, "stressed"));
    }

    table<order> mine{memory, "mine"};
    mine.create().value();
    mine.insert(orders(1)[0]).value();
    options = exact(time, 100);
    CHECK(stress_test<order>{memory, "mine", orders(5)}.reads(1).run(options).error().code ==
        error_code::table_already_exists);
    CHECK(mine.get("Ann", 0).value().what == "tea");

    // The error of the removal is returned and not hidden by a good outcome.
    store.plan({testing::fault::status(500, false, effect::none), 1, "delete_table", {}, false});
    options.step = 10ms;
    CHECK(stress_test<order>{store, "stressed", orders(5)}.reads(1).run(options).error().code ==
        error_code::internal_error);
}

TEST_CASE("an impossible stress test is refused") {
    memory_backend memory;
    CHECK(stress_test<order>{memory, "stressed", {}}.reads(1).run().error().code == error_code::invalid_input);
    CHECK(stress_test<order>{memory, "stressed", orders(1)}.run().error().code == error_code::invalid_input);
    auto two = orders(2);
    two[1].customer = "Bob";
    CHECK_THAT(stress_test<order>(memory, "stressed", two).reads(1).run().error().message,
        ContainsSubstring("must be in one partition"));
    CHECK(stress_test<order>{memory, "stressed", orders(1)}.reads(-1).run().error().code == error_code::invalid_input);
    stress_options none;
    none.workers = 0;
    CHECK(stress_test<order>{memory, "stressed", orders(1)}.reads(1).run(none).error().code ==
        error_code::out_of_range_input);
    CHECK_FALSE(has_table(memory, "stressed"));
}

TEST_CASE("a stress test runs with threads and the system clock, against memory, a file and a server") {
    entitable_test::temporary_folder const folder;
    stress_options options;
    options.peak = 200;
    options.most = 200;
    options.steps = 2;
    options.step = 150ms;
    options.workers = 4;
    memory_backend memory;
    file_backend file{folder / "stress.db"};
    memory_backend behind;
    rest const server{table_server{behind, with_account()}, connection};
    for (any_store const& store : {any_store{memory}, any_store{file}, any_store{server}}) {
        stress_test<order> test{store, "stressed", orders(250)};
        test.reads(8).writes(1).does("of Ann", 1, 250, [](table<order> const& into, order const& any) {
            return into.where(fields<order>::customer == any.customer).count();
        });
        stress_outcome const outcome = test.run(options).value();
        INFO(outcome.to_string());
        CHECK_FALSE(outcome.steps.empty());
        CHECK(outcome.steps[0].failed() == 0);
        CHECK(outcome.steps[0].latencies.count() == outcome.steps[0].sent);
        CHECK_FALSE(has_table(store, "stressed"));
    }
}

TEST_CASE("a table is sampled completely or up to a limit, without the library's system rows") {
    memory_backend store;
    table<order> all{store, "orders"};
    all.create().value();
    for (int number = 0; number < 2'345; ++number) {
        all.insert({"customer " + std::to_string(number % 7), number, number % 3 == 0 ? "tea" : "coffee"}).value();
    }
    {
        call context;
        any_store const through{store};
        row const own{"customer 1", std::string{system_row::operation} + "x", row_builder{"", ""}.build().payload()};
        (void)through.execute(write_entity{"orders", mutation::insert(own)}, context);
    }
    table_sample const whole = sample_table(all).value();
    CHECK(whole.rows() == 2'345);
    CHECK(whole.whole());
    CHECK(whole.partitions().size() == 7);
    CHECK_FALSE(whole.cut_short());
    CHECK(take_census(whole).find("number")->growth.value() > 0.99); // the Timestamps come from the store

    table_sample const drawn = sample_table(all, {.rows = 100}).value();
    CHECK(drawn.size() == 100);
    CHECK(drawn.rows() == 2'345);

    table_sample const cut = sample_table(all, {.read_at_most = 1'500}).value();
    CHECK(cut.rows() == 1'500);
    CHECK(cut.cut_short());
    CHECK_THAT(take_census(cut).to_string(), ContainsSubstring("cut short"));
    CHECK_FALSE(sample_table(all, {.read_at_most = 2'345}).value().cut_short());

    table_sample const untyped = sample_rows(store, "orders").value();
    CHECK(untyped.find("RowKey")->distinct() == 2'345);
    CHECK(sample_rows(store, "nothing").error().code == error_code::table_not_found);
}

TEST_CASE("calls are counted by kind: latency, errors and throttling") {
    testing::manual_clock time;
    std::uint64_t reads = 0;
    std::uint64_t writes = 0;
    std::uint64_t batches = 0;
    stress_options options{.peak = 1'000, .target = 2'000, .most = 1'000, .steps = 2, .step = std::chrono::seconds{10}};
    options.workers = 1;
    options.time = &time;
    auto const outcome = run_stress(
        {{"GET", 6, 1,
             [&](std::uint64_t) -> result<void> {
                 ++reads;
                 time.advance(std::chrono::microseconds{100});
                 return {};
             }},
            {"PUT", 3, 1,
                [&](std::uint64_t) -> result<void> {
                    time.advance(std::chrono::microseconds{300});
                    return ++writes % 200 == 0 ? result<void>{failure{error_code::server_busy, "no"}} : result<void>{};
                }},
            {"batch", 1, 10,
                [&](std::uint64_t) -> result<void> {
                    time.advance(std::chrono::microseconds{900});
                    return ++batches % 200 == 0
                        ? result<void>{failure{error_code::update_condition_not_satisfied, "no"}}
                        : result<void>{};
                }},
            {"GET", 1, 1,
                [&](std::uint64_t) -> result<void> {
                    ++reads;
                    return {};
                }}},
        options, [] {
            return std::uint64_t{0};
        }).value();
    INFO(outcome.to_string());
    REQUIRE(outcome.steps.back().kinds.size() == 3); // both actions called GET are one kind
    stress_kind const get = outcome.kind("GET");
    stress_kind const put = outcome.kind("PUT");
    stress_kind const batch = outcome.kind("batch");
    CHECK(get.sent == reads);
    CHECK(put.sent == writes);
    CHECK(batch.sent == batches);
    CHECK(get.failed() == 0);
    CHECK(put.failed() == writes / 200);
    CHECK(put.throttled() == writes / 200);
    CHECK(batch.failed() == batches / 200);
    CHECK(batch.throttled() == 0);
    CHECK(get.latencies.count() == reads);
    CHECK(get.latencies.quantile(0.5) <= std::chrono::microseconds{102}); // a few wait for a batch
    CHECK(put.latencies.quantile(0.5) >= std::chrono::microseconds{295});
    CHECK(batch.latencies.quantile(0.5) >= std::chrono::microseconds{885});
    // The kinds add up to the step, and to the table.
    for (stress_step const& step : outcome.steps) {
        std::uint64_t sent = 0;
        double served = 0;
        for (stress_kind const& each : step.kinds) {
            sent += each.sent;
            served += each.served;
        }
        CHECK(sent == step.sent);
        CHECK(std::abs(served - step.served) < 1e-6);
        CHECK(step.find("nothing") == nullptr);
    }
    double const seconds = outcome.steps[0].seconds + outcome.steps[1].seconds;
    CHECK(std::abs(batch.served - static_cast<double>(10 * (batches - batches / 200)) / seconds) < 1e-6);
    CHECK(outcome.kind("nothing").sent == 0);
    CHECK(outcome.to_string().find("by kind of call") != std::string::npos);
}
