// SPDX-License-Identifier: MIT
// Copyright (c) 2026 the entitable authors
#pragma once

#include <entitable/advice/detail/figures.hpp>
#include <entitable/advice/throughput_plan.hpp>
#include <entitable/core/try.hpp>

#include <algorithm>
#include <cmath>

ENTITABLE_BEGIN_NAMESPACE
namespace detail {

/// The limit of a plan: up to this value counts in doubles are exact, and fit into 64 bits.
inline constexpr double most_partitions = 1e9;

[[nodiscard]] ENTITABLE_DECL result<void> check_figure(
    double value, double least, double most, std::string_view name, std::string_view unit) {
    if (value >= least && value <= most) { return {}; }
    return failure{error_code::out_of_range_input,
        std::string{name} + " must be from " + short_figure(least) + " to " + short_figure(most) + " " +
            std::string{unit}};
}

[[nodiscard]] ENTITABLE_DECL result<void> check_rules(throughput_rules const& rules) {
    for (double const value : {rules.units_per_partition, rules.gb_per_partition, rules.highest_ever_divisor,
             rules.autoscale_factor, rules.start_manual, rules.start_autoscale}) {
        if (!(value > 0) || !std::isfinite(value)) {
            return failure{
                error_code::out_of_range_input, "every value of the throughput rules must be greater than 0"};
        }
    }
    return {};
}

[[nodiscard]] ENTITABLE_DECL result<std::uint64_t> partitions_of(throughput_request const& request) {
    double const most = most_partitions * request.rules.units_per_partition;
    if (request.partitions == 0) {
        double const units = request.rules.units_per_partition;
        ENTITABLE_CHECK(check_figure(request.instant_maximum, units, most, "the instant maximum", "RU/s"));
        return static_cast<std::uint64_t>(std::round(request.instant_maximum / units));
    }
    if (static_cast<double>(request.partitions) > most_partitions) {
        return failure{error_code::out_of_range_input, "the number of partitions exceeds 1,000,000,000"};
    }
    return request.partitions;
}

[[nodiscard]] ENTITABLE_DECL std::vector<throughput_step> steps_of(throughput_plan const& plan) {
    std::uint64_t const now = plan.asked.partitions;
    double const wanted = plan.asked.desired;
    if (plan.instant) {
        return {
            {0, 0, 0, wanted, now, "set " + figure(wanted) + " RU/s: takes effect immediately; no partition is split",
                "lower it at any time, immediately"}};
    }
    throughput_rules const& rules = plan.asked.rules;
    double const split = rules.most_split_hours;
    double const assumed = plan.doublings > 1 ? split * plan.doublings : 0;
    std::vector<throughput_step> steps;
    steps.push_back({0, 0, 0, plan.instant_maximum, now,
        "set " + figure(plan.instant_maximum) +
            " RU/s, the instant maximum, which may be enough: check the share of 429 responses again",
        "lower it at any time, immediately"});
    steps.push_back({0, split, assumed, plan.first_raise, plan.partitions_even,
        "set " + figure(plan.first_raise) + " RU/s: every partition is split" +
            (plan.doublings == 1 ? std::string{" once"} : " " + figure(plan.doublings) + " times") + ", typically " +
            figure(rules.least_split_hours) + " to " + figure(rules.most_split_hours) +
            " hours for the whole operation" +
            (assumed > 0 ? " (assumed at most " + figure(assumed) + " hours, if each split takes as long)"
                         : std::string{}) +
            "; the data stay available; a change of regions pauses the split, which resumes by itself",
        "not possible: split partitions stay split, and the minimum RU/s rises to " + figure(plan.lowest_afterwards)});
    if (plan.first_raise != wanted) {
        steps.push_back({split, split, assumed, wanted, plan.partitions_even,
            "set " + figure(wanted) + " RU/s: takes effect immediately; each of the " +
                figure(static_cast<double>(plan.partitions_even)) + " partitions gets " +
                short_figure(plan.units_each_even),
            "raise it again to " + figure(instant_maximum(plan.partitions_even, rules)) + ", immediately"});
    }
    return steps;
}

[[nodiscard]] ENTITABLE_DECL std::string timetable(std::vector<throughput_step> const& steps) {
    std::string out = "timetable\n";
    for (throughput_step const& step : steps) {
        std::string const when = step.to_hour > step.from_hour
            ? "hour " + short_figure(step.from_hour) + " to " + short_figure(step.to_hour)
            : "hour " + short_figure(step.from_hour);
        out += "  " + when + std::string(when.size() < 14 ? 14 - when.size() : 1, ' ') + step.what + '\n';
        out += "                to undo: " + step.undo + '\n';
    }
    return out;
}

} // namespace detail

ENTITABLE_DECL result<throughput_plan> plan_throughput(throughput_request const& request) {
    ENTITABLE_CHECK(detail::check_rules(request.rules));
    ENTITABLE_TRY(auto const partitions, detail::partitions_of(request));
    throughput_rules const& rules = request.rules;
    double const most = detail::most_partitions * rules.units_per_partition;
    struct {
        double value, least;
        char const *name, *unit;
    } const given[] = {{request.desired, rules.least_units, "the desired throughput", "RU/s"},
        {request.storage_gb, 0, "the storage", "GB"},
        {request.highest_ever, 0, "the highest throughput ever provisioned", "RU/s"}};
    for (auto const& each : given) {
        ENTITABLE_CHECK(detail::check_figure(each.value, each.least, most, each.name, each.unit));
    }

    throughput_plan plan;
    plan.asked = request;
    plan.asked.partitions = partitions;
    std::uint64_t const before = partitions;
    plan.instant_maximum = instant_maximum(before, rules);
    plan.instant = request.desired <= plan.instant_maximum;
    plan.partitions_direct = partitions_for(before, request.desired, rules);
    plan.units_each_direct = request.desired / static_cast<double>(plan.partitions_direct);
    if (plan.partitions_direct <= 2 * before) {
        split_skew skew;
        skew.split = plan.partitions_direct - before;
        skew.unsplit = before - skew.split;
        skew.share_unsplit = 1 / static_cast<double>(before);
        skew.share_split = skew.split > 0 ? std::optional{skew.share_unsplit / 2} : std::nullopt;
        plan.skew_direct = skew;
    }
    plan.doublings = doublings_for(before, request.desired, rules);
    plan.first_raise = even_raise(before, request.desired, rules);
    plan.partitions_even = before << plan.doublings;
    plan.units_each_even = request.desired / static_cast<double>(plan.partitions_even);
    throughput_floor const floor{request.storage_gb, (std::max)(plan.first_raise, request.highest_ever)};
    plan.lowest_afterwards = lowest_units(floor, rules);
    plan.lowest_autoscale_maximum = lowest_autoscale_maximum(floor, rules);
    plan.autoscale_from = autoscale_minimum(request.desired, rules);
    plan.steps = detail::steps_of(plan);
    return plan;
}

ENTITABLE_DECL result<ingest_plan> plan_ingest(ingest_request const& request) {
    throughput_rules const& rules = request.rules;
    ENTITABLE_CHECK(detail::check_rules(rules));
    struct {
        double value, least, most;
        char const *name, *unit;
    } const given[] = {{request.data_gb, 1e-6, 1e9, "the data", "GB"},
        {request.gb_per_partition, 1e-3, rules.gb_per_partition, "the data of one partition", "GB"},
        {request.item_kb, 1e-3, 1e6, "one entity", "KB"}, {request.units_per_write, 1e-3, 1e6, "one write", "RU"}};
    for (auto const& each : given) {
        ENTITABLE_CHECK(detail::check_figure(each.value, each.least, each.most, each.name, each.unit));
    }
    ingest_plan plan;
    plan.asked = request;
    double const partitions = std::ceil(request.data_gb / request.gb_per_partition);
    plan.partitions = static_cast<std::uint64_t>(partitions);
    plan.fill = request.gb_per_partition / rules.gb_per_partition;
    plan.create_with = partitions * (request.autoscale ? rules.start_autoscale : rules.start_manual);
    plan.raise_to = instant_maximum(plan.partitions, rules);
    plan.hours = hours_to_write(request.data_gb * 1e6 / request.item_kb, request.units_per_write, plan.raise_to);
    plan.steps.push_back({0, 0, 0, plan.create_with, plan.partitions,
        "create the container with " + detail::figure(plan.create_with) + " RU/s" +
            (request.autoscale ? " as the autoscale maximum" : "") + ": it begins with " +
            detail::counted(partitions, "physical partition", "physical partitions"),
        "delete it"});
    if (plan.raise_to > plan.create_with) {
        plan.steps.push_back({0, 0, 0, plan.raise_to, plan.partitions,
            "set " + detail::figure(plan.raise_to) + " RU/s: takes effect immediately, because the partitions exist",
            "lower it at any time, immediately"});
    }
    plan.steps.push_back({0, plan.hours, 0, plan.raise_to, plan.partitions,
        "write in shuffled order, so that the writes of each second go to many partitions: at least " +
            detail::figure(plan.hours, 1) + " hours",
        "stop at any time"});
    double const lowest = lowest_units({request.data_gb, plan.raise_to}, rules);
    plan.steps.push_back({plan.hours, plan.hours, 0, lowest, plan.partitions,
        "lower it to what the application needs, at least " + detail::figure(lowest) + " RU/s",
        "raise it again to " + detail::figure(plan.raise_to) + ", immediately"});
    return plan;
}

ENTITABLE_DECL double units_for(std::vector<charged_request> const& requests) noexcept {
    double units = 0;
    for (charged_request const& each : requests) { units += each.charge * each.per_second; }
    return units;
}

ENTITABLE_DECL std::string throughput_plan::to_string() const {
    using detail::figure;
    using detail::short_figure;
    auto const whole = [](std::uint64_t count) { return figure(static_cast<double>(count)); };
    std::string out = "from              " +
        detail::counted(static_cast<double>(asked.partitions), "physical partition", "physical partitions") + " to " +
        figure(asked.desired) + " RU/s\n";
    out += "instant maximum   " + figure(instant_maximum) +
        " RU/s: " + (instant ? "enough, no partition is split\n" : "not enough, partitions must be split\n");
    if (!instant) {
        out += "direct raise      " + whole(partitions_direct) + " partitions of " + short_figure(units_each_direct) +
            " RU/s";
        if (skew_direct) {
            out += "; " + whole(skew_direct->split) + " split, " + whole(skew_direct->unsplit) + " not";
            if (skew_direct->unsplit > 0) {
                out += ": an unsplit partition keeps " + detail::percent(skew_direct->share_unsplit) +
                    " of the keys, each half of a split partition " + detail::percent(*skew_direct->share_split) +
                    ", with the same RU/s";
            }
        }
        out += "\neven raise        raise to " + figure(first_raise) + " RU/s first (" + whole(partitions_even) +
            " partitions)" +
            (first_raise == asked.desired ? std::string{} : ", then lower to " + figure(asked.desired)) + ": " +
            short_figure(units_each_even) + " RU/s each\n";
    }
    out += "lowest afterwards " + figure(lowest_afterwards) + " RU/s; as a maximum of autoscale " +
        figure(lowest_autoscale_maximum) + " RU/s\n";
    out += "autoscale         " + figure(autoscale_from) + " to " + figure(asked.desired) + " RU/s\n";
    out += "count partitions  in the portal: Insights > Throughput > Normalized RU Consumption (%) By "
           "PartitionKeyRangeID; it shows " +
        figure(asked.rules.portal_ranges) +
        " ranges at most: for more, count those returned by the REST call Get Partition Key Ranges\n";
    return out + detail::timetable(steps) + "values from the provider's page as of " + std::string{asked.rules.as_of} +
        '\n';
}

ENTITABLE_DECL std::string ingest_plan::to_string() const {
    using detail::figure;
    std::string out = "to write          " + figure(asked.data_gb) + " GB in entities of " +
        detail::short_figure(asked.item_kb) + " KB, " + detail::short_figure(asked.units_per_write) + " RU a write\n";
    out += "partitions        " + figure(static_cast<double>(partitions)) + ", each " + detail::percent(fill, 0) +
        " full (" + detail::short_figure(asked.gb_per_partition) + " of " +
        detail::short_figure(asked.rules.gb_per_partition) + " GB)\n";
    return out + detail::timetable(steps) + "values from the provider's page as of " + std::string{asked.rules.as_of} +
        '\n';
}

ENTITABLE_END_NAMESPACE
