// SPDX-License-Identifier: MIT
// Copyright (c) 2026 the entitable authors
// Run as a test with: {examples}/data/books.csv --partition-key original_publication_year --row-key book_id --workload {examples}/data/books_workload.json --minutes 5 --html {scratch}

/// \file
/// Advice on the keys of a table: its data, its queries, which keys would serve them better, and the effect of the load on the
/// service. For a store in a file, or for a CSV file that is not a table yet.

#include "support/csv.hpp"
#include "support/workload_file.hpp"
#include <entitable/advice.hpp>
#include <entitable/file.hpp>

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <iterator>
#include <limits>
#include <optional>
#include <sstream>
#include <string>
#include <vector>

namespace {

constexpr char const* help =
    R"(advise FILE TABLE [OPTIONS]       a table in a file made by file_backend
advise LIST.csv [OPTIONS]         a CSV file; the first line names the columns

  --partition-key A,B    members of the partition key: columns of the CSV file, or the parts of the table's
                         keys, which are separated by "__"
  --row-key C,D          members of the row key; without it the line numbers of a CSV file are used
  --workload FILE        the queries and writes, as JSON (see below)
  --html FILE            writes a page with pictures
  --rows N               maximum number of entities in the sample (100000)
  --seed N               seed of the sample and of the simulation (1)
  --minutes N            minutes of load to simulate (30); 0: no simulation
  --cosmos               compares with the Table API of Cosmos DB instead of Azure Table Storage
  --help                 prints this text

A workload:

  {"queries": [{"name": "of a year", "where": [["year", "==", 1999]],
                "per_second": 900, "latency_ms": 20, "priority": 2}],
   "writes":  [{"name": "import", "per_second": 300, "per_transaction": 1},
               {"name": "transfer", "per_second": 10, "together": ["tx"]}]}

)";

struct arguments {
    std::string file, table, workload, html;
    std::vector<std::string> partition, row;
    std::uint64_t rows{100'000}, seed{1};
    double minutes{30};
    bool cosmos{};
    bool help{};
};

[[noreturn]] void give_up(std::string const& why, int status = 1) {
    std::fprintf(stderr, "advise: %s\n", why.c_str());
    std::exit(status);
}

std::vector<std::string> split(std::string const& text) {
    std::vector<std::string> out;
    std::stringstream parts{text};
    for (std::string part; std::getline(parts, part, ',');) { out.push_back(part); }
    return out;
}

double number(std::string const& option, std::string const& text, double least) {
    char* end = nullptr;
    double const read = std::strtod(text.c_str(), &end);
    if (text.empty() || *end != '\0' || !(read >= least && read <= 1e9)) { give_up(option + " takes a number", 2); }
    return read;
}

arguments parse(int count, char** words) {
    arguments made;
    std::vector<std::string> plain;
    for (int index = 1; index < count; ++index) {
        std::string const option = words[index];
        if (option == "--help") {
            made.help = true;
        } else if (option == "--cosmos") {
            made.cosmos = true;
        } else if (option.starts_with("--")) {
            if (index + 1 == count) { give_up(option + " takes a value", 2); }
            std::string const value = words[++index];
            if (option == "--partition-key") {
                made.partition = split(value);
            } else if (option == "--row-key") {
                made.row = split(value);
            } else if (option == "--workload") {
                made.workload = value;
            } else if (option == "--html") {
                made.html = value;
            } else if (option == "--rows") {
                made.rows = static_cast<std::uint64_t>(number(option, value, 1));
            } else if (option == "--seed") {
                made.seed = static_cast<std::uint64_t>(number(option, value, 0));
            } else if (option == "--minutes") {
                made.minutes = number(option, value, 0);
            } else {
                give_up("there is no option " + option + "; see --help", 2);
            }
        } else {
            plain.push_back(option);
        }
    }
    if (!made.help && (plain.empty() || plain.size() > 2)) { give_up("which table? See --help", 2); }
    made.file = plain.empty() ? "" : plain[0];
    made.table = plain.size() < 2 ? "" : plain[1];
    return made;
}

std::string read_file(std::string const& path) {
    std::ifstream file{path, std::ios::binary};
    if (!file) { give_up("cannot read " + path); }
    return {std::istreambuf_iterator<char>{file}, {}};
}

// ---- lists ------------------------------------------------------------------------------------------------------------

struct column {
    std::string name;
    bool whole{true};  ///< every field is a 32-bit integer, or empty
    bool number{true}; ///< every field is a number, or empty
};

std::optional<double> as_number(std::string const& field) {
    char* end = nullptr;
    double const value = std::strtod(field.c_str(), &end);
    // "007" is a name, not a number.
    bool const name = field.size() > 1 && field[0] == '0' && field[1] != '.';
    return field.empty() || *end != '\0' || name || !std::isfinite(value) ? std::nullopt : std::optional{value};
}

std::string key_text(std::string const& field, bool whole) {
    if (field.empty()) { return std::string{entitable::absent_key_text}; }
    std::string text;
    if (whole) {
        entitable::key_codec<std::int32_t>::append(text, static_cast<std::int32_t>(*as_number(field)));
        return text;
    }
    return field;
}

entitable::table_sample sample_of_list(arguments const& given) {
    std::string const all = read_file(given.file);
    std::stringstream header{all.substr(0, all.find('\n'))};
    std::vector<column> columns;
    for (std::string const& each : split(header.str())) { columns.push_back({each.substr(0, each.find('\r'))}); }
    auto const find = [&](std::string const& name) -> column const& {
        for (column const& each : columns) {
            if (each.name == name) { return each; }
        }
        give_up("the list has no column " + name);
    };
    std::vector<std::string> const of_row = given.row.empty() ? std::vector<std::string>{"line"} : given.row;
    if (given.partition.empty()) { give_up("a list needs --partition-key", 2); }
    for (std::string const& each : given.partition) { (void)find(each); }
    for (std::string const& each : given.row) { (void)find(each); }
    std::stringstream first{all};
    for (examples::csv_reader record{first}; record.next();) {
        for (column& each : columns) {
            std::string const& field = record[each.name];
            std::optional<double> const value = as_number(field);
            bool const whole =
                value && *value == std::floor(*value) && std::fabs(*value) <= std::numeric_limits<std::int32_t>::max();
            each.number = each.number && (field.empty() || value);
            each.whole = each.whole && (field.empty() || whole);
        }
    }
    std::size_t const dot = given.file.find_last_of("/\\");
    std::string const name = given.file.substr(dot == std::string::npos ? 0 : dot + 1);
    examples::named_keys const keys{name.substr(0, name.find('.')), given.partition, of_row,
        [&](std::string const& each) { return each == "line" || find(each).whole; }};
    entitable::sample_builder builder{keys.declared, keys.partition, keys.row, {given.rows, given.seed, true}};
    std::stringstream second{all};
    std::int32_t line = 0;
    for (examples::csv_reader record{second}; record.next();) {
        ++line;
        auto const key = [&](std::vector<std::string> const& names) {
            std::string text;
            for (std::string const& each : names) {
                text += text.empty() && &each == &names.front() ? "" : entitable::key_separator;
                text +=
                    each == "line" ? key_text(std::to_string(line), true) : key_text(record[each], find(each).whole);
            }
            return text;
        };
        entitable::row_builder row{key(given.partition), key(of_row)};
        for (column const& each : columns) {
            auto const has = [&](std::vector<std::string> const& names) {
                return std::find(names.begin(), names.end(), each.name) != names.end();
            };
            std::string const& field = record[each.name];
            if (field.empty() || has(given.partition) || has(of_row)) { continue; }
            if (each.whole) {
                row.add(each.name, entitable::value_view{static_cast<std::int32_t>(*as_number(field))});
            } else if (each.number) {
                row.add(each.name, entitable::value_view{*as_number(field)});
            } else {
                row.add(each.name, entitable::value_view{field});
            }
        }
        builder.add(row.build());
    }
    return std::move(builder).finish();
}

// ---- tables -----------------------------------------------------------------------------------------------------------

entitable::table_sample sample_of_table(arguments const& given) {
    entitable::file_options options;
    options.create = false;
    auto store = entitable::file_backend::open(given.file, options);
    if (!store) { give_up(store.error().to_string()); }
    entitable::sample_table_options how;
    how.rows = given.rows;
    how.seed = given.seed;
    examples::named_keys const keys{given.table, given.partition, given.row, [](std::string const&) { return true; }};
    bool const named = !given.partition.empty() && !given.row.empty();
    auto sample = named
        ? entitable::sample_rows(*store, given.table,
              entitable::sample_builder{keys.declared, keys.partition, keys.row, {given.rows, given.seed}}, how)
        : entitable::sample_rows(*store, given.table, how);
    if (!sample) { give_up(sample.error().to_string()); }
    return *std::move(sample);
}

// ---- workloads --------------------------------------------------------------------------------------------------------

entitable::workload read_workload(std::string const& path, entitable::table_sample const& sample) {
    if (path.empty()) { return {}; }
    auto read = examples::workload_reader{sample}.read(read_file(path));
    if (!read) { give_up(path + ": " + read.error().message); }
    return *std::move(read);
}

} // namespace

int main(int count, char** words) {
    arguments const given = parse(count, words);
    if (given.help) {
        std::fputs(help, stdout);
        std::fputs(examples::workload_help, stdout);
        return 0;
    }
    entitable::table_sample const sample = given.table.empty() ? sample_of_list(given) : sample_of_table(given);
    entitable::workload const load = read_workload(given.workload, sample);
    entitable::advice_report report{"Advice on " + (given.table.empty() ? sample.declared().entity : given.table)};
    report.add(
        entitable::advise(sample, load, given.cosmos ? entitable::cosmos_targets() : entitable::storage_targets()));
    bool const asked = !load.queries().empty() || load.writes_per_second() > 0;
    if (given.minutes > 0 && asked) {
        entitable::simulation_options how;
        how.minutes = given.minutes;
        how.seed = given.seed;
        report.add(entitable::simulate(sample, load, how));
    }
    auto const text = report.to_string();
    if (!text) { give_up(text.error().to_string()); }
    std::fputs(text->c_str(), stdout);
    if (!given.html.empty()) {
        if (auto const written = report.write(given.html); !written) { give_up(written.error().to_string()); }
    }
    return 0;
}
