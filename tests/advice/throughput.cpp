// SPDX-License-Identifier: MIT
// Copyright (c) 2026 the entitable authors

#include <entitable/advice/throughput_plan.hpp>

#include <support/catch.hpp>
#include <support/vectors.hpp>

#include <cmath>
#include <limits>

using namespace entitable;
using entitable_test::ContainsSubstring;
using entitable_test::vectors;

namespace {

double double_of(simdjson::dom::element object, char const* name) {
    double value{};
    REQUIRE(object[name].get(value) == simdjson::SUCCESS);
    return value;
}
void check_if_there(simdjson::dom::element object, char const* name, double ours) {
    if (entitable_test::has(object, name)) {
        INFO(name);
        CHECK(std::abs(double_of(object, name) - ours) < 1e-6);
    }
}

} // namespace

TEST_CASE("a plan has the expected figures for every raise") {
    vectors const golden{"throughput.json"};
    if (!golden) { return; }
    std::size_t seen = 0;
    for (auto const each : golden.list("scale_up")) {
        ++seen;
        throughput_request request;
        request.partitions = static_cast<std::uint64_t>(entitable_test::number_of(each, "partitions"));
        request.desired = double_of(each, "desired");
        throughput_plan const plan = plan_throughput(request).value();
        bool instant{};
        REQUIRE(each["instant"].get(instant) == simdjson::SUCCESS);
        INFO(plan.to_string());
        CHECK(plan.instant == instant);
        check_if_there(each, "instant_maximum", plan.instant_maximum);
        check_if_there(each, "partitions_after_direct", static_cast<double>(plan.partitions_direct));
        check_if_there(each, "ru_each_after_direct", plan.units_each_direct);
        CHECK(plan.skew_direct.has_value() == entitable_test::has(each, "split"));
        if (plan.skew_direct) {
            check_if_there(each, "split", static_cast<double>(plan.skew_direct->split));
            check_if_there(each, "unsplit", static_cast<double>(plan.skew_direct->unsplit));
            check_if_there(each, "share_of_keys_unsplit_percent", 100 * plan.skew_direct->share_unsplit);
            CHECK(
                plan.skew_direct->share_split.has_value() == entitable_test::has(each, "share_of_keys_split_percent"));
            check_if_there(each, "share_of_keys_split_percent", 100 * plan.skew_direct->share_split.value_or(0));
        }
        check_if_there(each, "even_first_raise_to", plan.first_raise);
        check_if_there(each, "even_partitions", static_cast<double>(plan.partitions_even));
        check_if_there(each, "even_doublings", plan.doublings);
        check_if_there(each, "even_then_lower_to", plan.steps.back().units);
        check_if_there(each, "even_ru_each", plan.units_each_even);
        check_if_there(each, "lowest_manual_afterwards", plan.lowest_afterwards);
        check_if_there(each, "lowest_autoscale_maximum_afterwards", plan.lowest_autoscale_maximum);
        auto const range = entitable_test::list_of(each, "autoscale_range_of_desired");
        CHECK(std::abs(range.at(0).get_double().value() - plan.autoscale_from) < 1e-6);
        CHECK(range.at(1).get_double().value() == plan.asked.desired);

        // The same if only the instant maximum is known.
        throughput_request other;
        other.instant_maximum = plan.instant_maximum;
        other.desired = request.desired;
        CHECK(plan_throughput(other).value().to_string() == plan.to_string());
    }
    CHECK(seen == 12);
}

TEST_CASE("the minimum throughput and the ingest match their golden figures") {
    vectors const golden{"throughput.json"};
    if (!golden) { return; }
    for (auto const each : golden.list("minimum")) {
        throughput_floor const floor{double_of(each, "storage_gb"), double_of(each, "highest_ever")};
        check_if_there(each, "lowest_manual", lowest_units(floor));
        check_if_there(each, "lowest_autoscale_maximum", lowest_autoscale_maximum(floor));
    }
    for (auto const each : golden.list("ingest")) {
        ingest_request request;
        request.data_gb = double_of(each, "data_gb");
        request.gb_per_partition = double_of(each, "target_gb_per_partition");
        request.autoscale = entitable_test::text_of(each, "mode") == "autoscale";
        request.item_kb = double_of(each, "item_kb");
        request.units_per_write = double_of(each, "ru_per_write");
        ingest_plan const plan = plan_ingest(request).value();
        check_if_there(each, "fill_percent", 100 * plan.fill);
        check_if_there(each, "partitions", static_cast<double>(plan.partitions));
        check_if_there(each, "create_with_ru", plan.create_with);
        check_if_there(each, "raise_to_before_ingest", plan.raise_to);
        check_if_there(each, "hours", plan.hours);
    }
}

// The worked examples of the provider's page, without a file.
TEST_CASE("the worked examples of the page on scaling throughput are reproduced") {
    CHECK(instant_maximum(5) == 50'000);
    CHECK(autoscale_minimum(30'000) == 3'000);
    CHECK(autoscale_minimum(50'000) == 5'000);
    CHECK(partitions_for(3, 45'000) == 5);
    CHECK(even_raise(2, 30'000) == 40'000);
    CHECK(even_raise(5, 150'000) == 200'000);
    CHECK(lowest_units({.highest_ever = 100'000}) == 1'000);
    CHECK(lowest_units({.highest_ever = 200'000}) == 2'000);
    CHECK(lowest_autoscale_maximum({.highest_ever = 200'000}) == 20'000);

    throughput_plan const three = plan_throughput({.partitions = 3, .desired = 45'000}).value();
    CHECK(three.skew_direct->split == 2);
    CHECK(three.skew_direct->unsplit == 1);

    throughput_plan const two = plan_throughput({.partitions = 2, .desired = 30'000}).value();
    CHECK(two.skew_direct->share_unsplit == 0.5);
    CHECK(two.skew_direct->share_split == 0.25);
    CHECK(two.partitions_even == 4);
    CHECK(two.units_each_even == 7'500);

    ingest_plan const terabyte = plan_ingest({.data_gb = 1'000}).value();
    CHECK(terabyte.partitions == 25);
    CHECK(terabyte.create_with == 150'000);
    CHECK(terabyte.raise_to == 250'000);
    CHECK(std::abs(terabyte.hours - 11.1) < 0.02);
    CHECK(terabyte.steps.size() == 4);
    ingest_plan const autoscale = plan_ingest({.data_gb = 1'000, .autoscale = true}).value();
    CHECK(autoscale.create_with == 250'000);
    CHECK(autoscale.steps.size() == 3); // nothing left to raise
}

TEST_CASE("the minimum throughput follows the documentation as of the selected date") {
    throughput_floor const floor{.storage_gb = 80, .highest_ever = 20'000};
    CHECK(lowest_units(floor, throughput_rules_of_2025()) == 400);
    CHECK(lowest_units(floor, throughput_rules_of_2021()) == 800);
    CHECK(plan_throughput({.partitions = 1, .desired = 400, .rules = throughput_rules_of_2021()})
            .value()
            .to_string()
            .ends_with("page as of 2021-08-20\n"));
    throughput_rules cassandra;
    cassandra.gb_per_partition = 30;
    CHECK(plan_ingest({.data_gb = 100, .gb_per_partition = 40, .rules = cassandra}).error().code ==
        error_code::out_of_range_input);
}

TEST_CASE("every plan reaches the requested throughput, and no partition exceeds its maximum") {
    for (std::uint64_t partitions = 1; partitions < 60; ++partitions) {
        for (double desired = 400; desired < 3e6; desired *= 1.37) {
            throughput_plan const plan = plan_throughput({.partitions = partitions, .desired = desired}).value();
            CHECK(plan.steps.back().units == desired);
            CHECK(plan.units_each_even <= 10'000);
            CHECK(plan.units_each_direct <= 10'000);
            CHECK(plan.partitions_direct <= plan.partitions_even);
            CHECK(plan.first_raise < 2 * std::max(desired, plan.instant_maximum));
            if (plan.skew_direct) {
                double const all = static_cast<double>(plan.skew_direct->unsplit) * plan.skew_direct->share_unsplit +
                    2 * static_cast<double>(plan.skew_direct->split) * plan.skew_direct->share_split.value_or(0);
                CHECK(std::abs(all - 1) < 1e-9);
            }
        }
    }
    // A logarithm that is an integer in exact arithmetic.
    CHECK(plan_throughput({.partitions = 1, .desired = 80'000}).value().doublings == 3);
    CHECK(plan_throughput({.partitions = 3, .desired = 240'000}).value().doublings == 3);
}

TEST_CASE("an impossible plan is refused, and the error names the field") {
    double const nan = std::numeric_limits<double>::quiet_NaN();
    auto const refused = [](throughput_request const& request, char const* words) {
        auto const plan = plan_throughput(request);
        REQUIRE_FALSE(plan);
        CHECK(plan.error().code == error_code::out_of_range_input);
        CHECK_THAT(plan.error().message, ContainsSubstring(words));
    };
    refused({.desired = 1'000}, "the instant maximum");
    refused({.instant_maximum = nan, .desired = 1'000}, "the instant maximum");
    refused({.partitions = 1, .desired = 399}, "the desired throughput must be from 400");
    refused({.partitions = 1, .desired = -1}, "the desired throughput");
    refused({.partitions = 1, .desired = nan}, "the desired throughput");
    refused({.partitions = 1, .desired = 1e300}, "the desired throughput");
    refused({.partitions = ~std::uint64_t{}, .desired = 1'000}, "the number of partitions");
    refused({.partitions = 1, .desired = 1'000, .storage_gb = -1}, "the storage");
    throughput_rules none;
    none.units_per_partition = 0;
    refused({.partitions = 1, .desired = 1'000, .rules = none}, "every value of the throughput rules");
    CHECK_FALSE(plan_ingest({}));
    CHECK_FALSE(plan_ingest({.data_gb = 10, .gb_per_partition = 51}));
    CHECK_FALSE(plan_ingest({.data_gb = 10, .item_kb = 0}));
    CHECK_FALSE(plan_ingest({.data_gb = nan}));
}

TEST_CASE("a share of 1 to 5 percent of 429 answers is healthy") {
    CHECK(judge_throttling(0) == throttling::idle);
    CHECK(judge_throttling(0.01) == throttling::healthy);
    CHECK(judge_throttling(0.05) == throttling::healthy);
    CHECK(judge_throttling(0.051) == throttling::short_);
    CHECK(units_for({{"point read", 1, 900}, {"insert", 10, 300}}) == 3'900);
}

TEST_CASE("a timetable has the hours of the provider's page, and says what it assumes for several splits") {
    // By hand: 5 partitions to 150,000 RU/s need two doublings; the page gives 4 to 6 hours for the operation.
    throughput_plan const twice = plan_throughput({.partitions = 5, .desired = 150'000}).value();
    CHECK(twice.doublings == 2);
    CHECK(twice.steps[1].to_hour == 6);
    CHECK(twice.steps[1].assumed_hour == 12);
    CHECK(twice.steps[1].what.find("typically 4 to 6 hours for the whole operation (assumed at most 12 hours") !=
        std::string::npos);
    CHECK(twice.steps[1].what.find("which resumes by itself") != std::string::npos);
    throughput_plan const once = plan_throughput({.partitions = 5, .desired = 100'000}).value();
    CHECK(once.steps[1].to_hour == 6);
    CHECK(once.steps[1].assumed_hour == 0);
    CHECK(once.steps[1].what.find("assumed") == std::string::npos);
}
