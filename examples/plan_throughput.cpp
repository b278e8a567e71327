// SPDX-License-Identifier: MIT
// Copyright (c) 2026 the entitable authors
// Run as a test with: --partitions 5 --to 150000

/// \file
/// How to get from the current request units per second of a container of Cosmos DB to the desired ones, and how much to
/// provision before writing a lot of data: the formulas of the provider's page "Best practices for scaling provisioned
/// throughput (RU/s)".

#include <entitable/advice.hpp>

#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <map>
#include <string>

namespace {

constexpr char const* help =
    R"(plan_throughput --partitions P --to S [OPTIONS]          raises a container to S RU/s
plan_throughput --instant-maximum M --to S [OPTIONS]     the same, if only instantMaximumThroughput is known
plan_throughput --ingest GB [OPTIONS]                    writes much data into a new container
plan_throughput --refused N --of M                       judges a share of requests answered with 429

  --partitions P         physical partitions now; in the portal: Insights > Throughput >
                         Normalized RU Consumption (%) By PartitionKeyRangeID
  --instant-maximum M    RU/s that can be set at once, as Scale and Settings shows it
  --to S                 desired RU/s
  --storage GB           stored data, for the lowest RU/s afterwards
  --highest-ever H       the highest RU/s ever provisioned
  --fill GB              target size of a physical partition: 30 if it will grow, 45 if it will not (40)
  --autoscale            creates with autoscale, or in a database that shares its throughput
  --item-kb K            size of one entity in KB (1)
  --ru-per-write R       request units charged for one write (10); measure yours
  --page YEAR            version of the provider's page: 2025 or 2021 (2025)
  --html FILE            writes a page with a picture
  --help                 prints this text
)";

[[noreturn]] void give_up(std::string const& why, int status = 1) {
    std::fprintf(stderr, "plan_throughput: %s\n", why.c_str());
    std::exit(status);
}

} // namespace

int main(int count, char** words) {
    std::map<std::string, double> figures;
    std::string html;
    bool autoscale = false;
    for (int index = 1; index < count; ++index) {
        std::string const option = words[index];
        if (option == "--help") {
            std::fputs(help, stdout);
            return 0;
        }
        if (option == "--autoscale") {
            autoscale = true;
            continue;
        }
        bool known = option == "--html";
        for (char const* each : {"--partitions", "--instant-maximum", "--to", "--storage", "--highest-ever", "--ingest",
                 "--fill", "--item-kb", "--ru-per-write", "--page", "--refused", "--of"}) {
            known = known || option == each;
        }
        if (!known || index + 1 == count) {
            give_up(known ? option + " takes a value" : "there is no option " + option + "; see --help", 2);
        }
        std::string const value = words[++index];
        if (option == "--html") {
            html = value;
            continue;
        }
        char* end = nullptr;
        figures[option] = std::strtod(value.c_str(), &end);
        if (value.empty() || *end != '\0') { give_up(option + " takes a number", 2); }
    }
    auto const given = [&](char const* option, double otherwise) {
        auto const found = figures.find(option);
        return found == figures.end() ? otherwise : found->second;
    };
    double const page = given("--page", 2025);
    if (page != 2021 && page != 2025) { give_up("--page is 2021 or 2025", 2); }
    entitable::throughput_rules const rules =
        page == 2021 ? entitable::throughput_rules_of_2021() : entitable::throughput_rules_of_2025();

    entitable::advice_report report{"Throughput of a container"};
    if (figures.contains("--refused")) {
        double const all = given("--of", 0);
        double const refused = given("--refused", 0);
        if (!(all > 0 && refused >= 0 && refused <= all)) {
            give_up("--refused N --of M: N of M requests were answered with 429", 2);
        }
        constexpr char const* words_for[] = {"there is throughput to spare",
            "healthy, where the latency is accepted: what was provisioned is used",
            "too many: look for a hot partition first, then raise to the instant maximum and look again"};
        std::printf("%.2f %% of the requests were answered with 429: %s\n", 100 * refused / all,
            words_for[static_cast<std::size_t>(entitable::judge_throttling(refused / all))]);
        return 0;
    }
    if (figures.contains("--ingest")) {
        entitable::ingest_request asked;
        asked.data_gb = given("--ingest", 0);
        asked.gb_per_partition = given("--fill", asked.gb_per_partition);
        asked.autoscale = autoscale;
        asked.item_kb = given("--item-kb", asked.item_kb);
        asked.units_per_write = given("--ru-per-write", asked.units_per_write);
        asked.rules = rules;
        report.add(entitable::plan_ingest(asked));
    } else if (figures.contains("--to")) {
        double const partitions = given("--partitions", 0);
        if (!(partitions >= 0 && partitions <= 1e9 && partitions == std::floor(partitions))) {
            give_up("--partitions is a whole number", 2);
        }
        entitable::throughput_request asked;
        asked.partitions = static_cast<std::uint64_t>(partitions);
        asked.instant_maximum = given("--instant-maximum", 0);
        asked.desired = given("--to", 0);
        asked.storage_gb = given("--storage", 0);
        asked.highest_ever = given("--highest-ever", 0);
        asked.rules = rules;
        report.add(entitable::plan_throughput(asked));
    } else {
        give_up("what is wanted? See --help", 2);
    }
    auto const text = report.to_string();
    if (!text) { give_up(text.error().to_string()); }
    std::fputs(text->c_str(), stdout);
    if (!html.empty()) {
        if (auto const written = report.write(html); !written) { give_up(written.error().to_string()); }
    }
    return 0;
}
