// SPDX-License-Identifier: MIT
// Copyright (c) 2026 the entitable authors

#include "../commands.hpp"
#include "../exchange/progress.hpp"
#include <entitable/advice.hpp>
#include <entitable/core/try.hpp>

#include <cstdio>

namespace tool {

namespace {

struct plan_options {
    std::uint64_t partitions{};
    double instant_maximum{};
    double to{};
    double storage{};
    double highest_ever{};
    double ingest{};
    double fill{40};
    double item_kb{1};
    double units_per_write{10};
    double refused{};
    double of{};
    int page{2025};
    bool autoscale{};
    bool yes{};
    std::string html;
};

/// The options that were given.
struct given_options {
    CLI::Option* to{};
    CLI::Option* ingest{};
    CLI::Option* refused{};
    CLI::Option* of{};
};

outcome judge(plan_options const& given, given_options const& was, console& with) {
    bool const both = was.refused->count() != 0 && was.of->count() != 0;
    if (!(both && given.of > 0 && given.refused <= given.of)) {
        with.err << "entitable: --refused N --of M means that N of M requests were answered with 429\n";
        return exit_code::usage;
    }
    constexpr char const* words_for[] = {"there is throughput to spare",
        "healthy, if the latency is acceptable: the provisioned throughput is used",
        "too many: look for a hot partition first, then raise to the instant maximum and look again"};
    double const share = given.refused / given.of;
    char text[32];
    std::snprintf(text, sizeof text, "%.2f", 100 * share);
    with.out << text << " % of the requests were answered with 429: "
             << words_for[static_cast<std::size_t>(entitable::judge_throttling(share))] << '\n';
    return exit_code::success;
}

outcome plan(plan_options const& given, given_options const& was, console& with) {
    bool const judges = was.refused->count() != 0 || was.of->count() != 0;
    int const questions = int{judges} + int{was.to->count() != 0} + int{was.ingest->count() != 0};
    if (questions != 1) {
        with.err << "entitable: give one of --to, --ingest and --refused; see entitable plan --help\n";
        return exit_code::usage;
    }
    if (judges) { return judge(given, was, with); }
    if (!given.html.empty()) { ENTITABLE_CHECK(confirm_overwrite(with, given.yes, given.html)); }
    auto const rules =
        given.page == 2021 ? entitable::throughput_rules_of_2021() : entitable::throughput_rules_of_2025();
    entitable::advice_report report{"Throughput of a container"};
    if (was.ingest->count() != 0) {
        entitable::ingest_request asked;
        asked.data_gb = given.ingest;
        asked.gb_per_partition = given.fill;
        asked.autoscale = given.autoscale;
        asked.item_kb = given.item_kb;
        asked.units_per_write = given.units_per_write;
        asked.rules = rules;
        report.add(entitable::plan_ingest(asked));
    } else {
        entitable::throughput_request asked;
        asked.partitions = given.partitions;
        asked.instant_maximum = given.instant_maximum;
        asked.desired = given.to;
        asked.storage_gb = given.storage;
        asked.highest_ever = given.highest_ever;
        asked.rules = rules;
        report.add(entitable::plan_throughput(asked));
    }
    ENTITABLE_TRY(std::string const text, report.to_string());
    with.out << text;
    if (!given.html.empty()) { ENTITABLE_CHECK(report.write(given.html)); }
    return exit_code::success;
}

} // namespace

void add_plan(command_list& all) {
    auto given = std::make_shared<plan_options>();
    auto was = std::make_shared<given_options>();
    CLI::App& command = all.add("plan", "Plans the throughput of a container of Cosmos DB",
        "entitable plan --partitions 5 --to 150000\n"
        "entitable plan --ingest 1000 --html plan.html\n"
        "entitable plan --refused 120 --of 10000",
        [given, was](console& with) { return plan(*given, *was, with); });
    command.description(
        "Plans the throughput of a container of Cosmos DB.\n"
        "How to get from the current request units a second (RU/s) to the desired ones, how much to provision before "
        "much data is written, and what a share of requests that were answered with 429 means: by the formulas of the "
        "provider's page \"Best practices for scaling provisioned throughput (RU/s)\". Sends no request.");
    auto const at_least_zero = CLI::Range(0.0, 1e12);
    command.add_option("--partitions", given->partitions,
        "Physical partitions now; in the portal: Insights > Throughput > Normalized RU Consumption (%) By "
        "PartitionKeyRangeID");
    command
        .add_option("--instant-maximum", given->instant_maximum,
            "RU/s that can be set at once, as Scale and Settings shows it; instead of --partitions")
        ->check(at_least_zero);
    was->to = command.add_option("--to", given->to, "Desired RU/s")->check(at_least_zero);
    command.add_option("--storage", given->storage, "Stored data in GB, for the lowest RU/s afterwards")
        ->check(at_least_zero);
    command.add_option("--highest-ever", given->highest_ever, "The highest RU/s ever provisioned")
        ->check(at_least_zero);
    was->ingest =
        command.add_option("--ingest", given->ingest, "Data in GB to write into a new container")->check(at_least_zero);
    command
        .add_option("--fill", given->fill,
            "Target size of a physical partition in GB: 30 if it will grow, 45 if it will not; default: 40")
        ->check(at_least_zero);
    command.add_flag(
        "--autoscale", given->autoscale, "Create with autoscale, or in a database that shares its throughput");
    command.add_option("--item-kb", given->item_kb, "Size of one entity in KB; default: 1")->check(at_least_zero);
    command
        .add_option(
            "--ru-per-write", given->units_per_write, "Request units charged for one write; default: 10; measure yours")
        ->check(at_least_zero);
    was->refused =
        command.add_option("--refused", given->refused, "Requests that were answered with 429")->check(at_least_zero);
    was->of = command.add_option("--of", given->of, "All requests, with --refused")->check(at_least_zero);
    command.add_option("--page", given->page, "Version of the provider's page: 2025 or 2021; default: 2025")
        ->check(CLI::IsMember{{2021, 2025}});
    command.add_option("--html", given->html, "Write a page with a picture");
    command.add_flag("--yes", given->yes, "Overwrite the page without a question");
}

} // namespace tool
