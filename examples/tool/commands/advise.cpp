// SPDX-License-Identifier: MIT
// Copyright (c) 2026 the entitable authors

#include "../../support/workload_file.hpp"
#include "../commands.hpp"
#include "../exchange/progress.hpp"
#include "../selection.hpp"
#include <entitable/advice.hpp>
#include <entitable/core/try.hpp>

#include <fstream>
#include <iterator>

namespace tool {

namespace {

struct advise_options {
    std::string store;
    std::string table;
    std::string partition_key;
    std::string row_key;
    std::string workload;
    std::string html;
    std::uint64_t rows{100'000};
    std::uint64_t seed{1};
    double minutes{30};
    bool cosmos{};
    bool yes{};
};

entitable::result<entitable::table_sample> sample_of(advise_options const& given, entitable::any_store const& store) {
    entitable::sample_table_options how;
    how.rows = given.rows;
    how.seed = given.seed;
    if (given.partition_key.empty()) { return entitable::sample_rows(store, given.table, how); }
    ENTITABLE_TRY(auto const partition, names_in(given.partition_key));
    ENTITABLE_TRY(auto const row, names_in(given.row_key));
    examples::named_keys const keys{given.table, partition, row, [](std::string const&) { return true; }};
    return entitable::sample_rows(store, given.table,
        entitable::sample_builder{keys.declared, keys.partition, keys.row, {given.rows, given.seed}}, how);
}

entitable::result<entitable::workload> workload_of(advise_options const& given, entitable::table_sample const& sample) {
    if (given.workload.empty()) { return entitable::workload{}; }
    std::ifstream file{given.workload, std::ios::binary};
    if (!file) { return refuse("cannot read " + given.workload); }
    std::string const text{std::istreambuf_iterator<char>{file}, {}};
    auto read = examples::workload_reader{sample}.read(text);
    if (!read) { return refuse(given.workload + ": " + read.error().message); }
    return read;
}

outcome advise(advise_options const& given, console& with) {
    if (!given.html.empty()) { ENTITABLE_CHECK(confirm_overwrite(with, given.yes, given.html)); }
    ENTITABLE_TRY(auto const store, open_store(given.store));
    auto const sample = sample_of(given, store);
    if (!sample) { return no_table(entitable::failure{sample.error()}, given.table); }
    ENTITABLE_TRY(auto const load, workload_of(given, *sample));
    entitable::advice_report report{"Advice on " + given.table};
    report.add(
        entitable::advise(*sample, load, given.cosmos ? entitable::cosmos_targets() : entitable::storage_targets()));
    bool const asked = !load.queries().empty() || load.writes_per_second() > 0;
    if (given.minutes > 0 && asked) {
        entitable::simulation_options how;
        how.minutes = given.minutes;
        how.seed = given.seed;
        report.add(entitable::simulate(*sample, load, how));
    }
    ENTITABLE_TRY(std::string const text, report.to_string());
    with.out << printable_lines(text);
    if (!given.html.empty()) { ENTITABLE_CHECK(report.write(given.html)); }
    return exit_code::success;
}

} // namespace

void add_advise(command_list& all) {
    auto given = std::make_shared<advise_options>();
    CLI::App& command = all.add("advise", "Advises on the keys of a table, under a workload",
        "entitable advise shop.db books\n"
        "entitable advise shop.db books --partition-key year --row-key id --workload load.json --html advice.html",
        [given](console& with) { return advise(*given, with); });
    command.description(
        "Advises on the keys of a table, under a workload.\n"
        "Reads a sample of the rows, and prints the sizes of partitions, the values of each property, what each query "
        "costs, which keys would serve the queries better, and how the service would serve the load, simulated. Reads "
        "the table once. A workload is a JSON file: {\"queries\": [{\"name\": \"of a year\", \"where\": [[\"year\", "
        "\"==\", 1999]], \"per_second\": 900, \"latency_ms\": 20}], \"writes\": [{\"name\": \"import\", "
        "\"per_second\": 300}]}. Operators: ==, !=, <, <=, >, >=, starts_with. In a query of equalities alone a value "
        "stands for all existing values.");
    command.add_option("STORE", given->store, store_help)->required();
    command.add_option("TABLE", given->table, "Table to sample")->required();
    auto* const partition = command.add_option("--partition-key", given->partition_key,
        "Names for the components of the partition key, which are separated by __ in it: A,B");
    auto* const row = command.add_option("--row-key", given->row_key, "The same for the row key");
    partition->needs(row);
    row->needs(partition);
    command.add_option("--workload", given->workload, "JSON file with the queries and writes");
    command.add_option("--rows", given->rows, "Most entities in the sample; default: 100000")
        ->check(CLI::Range(std::uint64_t{1}, std::uint64_t{100'000'000}));
    command.add_option("--seed", given->seed, "Seed of the sample and of the simulation; default: 1");
    command.add_option("--minutes", given->minutes, "Minutes of load to simulate; 0: no simulation; default: 30")
        ->check(CLI::Range(0.0, 100'000.0));
    command.add_flag("--cosmos", given->cosmos, "The limits of Cosmos DB for Table instead of Azure Table Storage");
    command.add_option("--html", given->html, "Write a page with pictures");
    command.add_flag("--yes", given->yes, "Overwrite the page without a question");
}

} // namespace tool
