// SPDX-License-Identifier: MIT
// Copyright (c) 2026 the entitable authors

#include "selection.hpp"

#include <entitable/azure.hpp>
#include <entitable/core/row/system_rows.hpp>
#include <entitable/core/try.hpp>

#include <algorithm>

namespace tool {

using entitable::edm_type;
using entitable::filter_node;
using entitable::filter_operator;
using entitable::key_bound;
using entitable::key_interval;

// ---- the rows ---------------------------------------------------------------------------------------------------

void add_selection(CLI::App& command, selection& given) {
    command.add_option("STORE", given.store, store_help)->required();
    command.add_option("TABLE", given.table, "Table to read")->required();
    command
        .add_option_function<std::string>(
            "--partition", [&given](std::string const& key) { given.partition = key; }, "Partition to read")
        ->type_name("KEY");
    command
        .add_option_function<std::string>(
            "--rows", [&given](std::string const& range) { given.rows = range; },
            "Row keys FROM..TO: from FROM up to, without, TO; FROM.. and ..TO are open; without \"..\" a single row "
            "key")
        ->type_name("RANGE");
    command
        .add_option("--filter", given.filter,
            "Condition in the language of the table service, such as \"Age ge 50 and not (Name eq 'Ann')\"; a number "
            "without suffix is compared with integers and doubles")
        ->type_name("CONDITION");
    command.add_flag("--scan", given.scan, "Permit reading the whole table");
    command.add_flag("--system", given.system, "Also read the rows that the library stores for itself");
}

namespace {

entitable::result<key_interval> rows_of(std::string const& text) {
    std::size_t const dots = text.find("..");
    if (dots == std::string::npos) { return key_interval::only(text); }
    std::string from = text.substr(0, dots);
    std::string to = text.substr(dots + 2);
    if (to.find("..") != std::string::npos) {
        return refuse("--rows has more than one \"..\": write --filter \"RowKey ge 'FROM' and RowKey lt 'TO'\"");
    }
    key_interval made;
    if (!from.empty()) { made.lower = key_bound::including(std::move(from)); }
    if (!to.empty()) { made.upper = key_bound::excluding(std::move(to)); }
    return made;
}

/// The parts of a condition that must all hold, each in postfix order.
class conjunction {
public:
    explicit conjunction(entitable::filter const& whole) : nodes_(whole.nodes) {
        if (!nodes_.empty()) { split(nodes_.size() - 1); }
    }
    [[nodiscard]] std::vector<std::vector<filter_node>> const& parts() const noexcept { return parts_; }

private:
    [[nodiscard]] std::size_t first_of(std::size_t last) const {
        std::size_t missing = 1; // operands that are still to be found
        for (std::size_t at = last + 1; at-- > 0;) {
            filter_operator const operation = nodes_[at].operation;
            if (is_comparison(operation)) {
                --missing;
            } else if (operation != filter_operator::negation) {
                ++missing;
            }
            if (missing == 0) { return at; }
        }
        return 0;
    }
    void split(std::size_t last) {
        if (nodes_[last].operation == filter_operator::all_of) {
            split(first_of(last - 1) - 1);
            split(last - 1);
            return;
        }
        parts_.emplace_back(nodes_.begin() + static_cast<std::ptrdiff_t>(first_of(last)),
            nodes_.begin() + static_cast<std::ptrdiff_t>(last) + 1);
    }

    std::vector<filter_node> const& nodes_;
    std::vector<std::vector<filter_node>> parts_;
};

/// The keys that satisfy a comparison; nullopt if they are not one interval.
std::optional<key_interval> interval_of(filter_node const& node) {
    if (node.operand.type() != edm_type::string) { return std::nullopt; }
    std::string const key{node.operand.view().as_string()};
    key_interval made;
    switch (node.operation) {
        case filter_operator::equal: return key_interval::only(key);
        case filter_operator::less: made.upper = key_bound::excluding(key); return made;
        case filter_operator::less_equal: made.upper = key_bound::including(key); return made;
        case filter_operator::greater: made.lower = key_bound::excluding(key); return made;
        case filter_operator::greater_equal: made.lower = key_bound::including(key); return made;
        default: return std::nullopt;
    }
}

/// Moves comparisons of keys from the filter to the range, in which every store seeks.
void narrow(entitable::query_entities& asked) {
    entitable::filter left;
    std::size_t count = 0;
    conjunction const whole{asked.filter};
    for (auto const& part : whole.parts()) {
        bool const of_partition = part.size() == 1 && part.front().name == "PartitionKey";
        bool const of_row = part.size() == 1 && part.front().name == "RowKey";
        auto const keys = of_partition || of_row ? interval_of(part.front()) : std::nullopt;
        if (keys) {
            key_interval& range = of_partition ? asked.range.partition : asked.range.row;
            range = entitable::intersection(range, *keys);
            continue;
        }
        left.nodes.insert(left.nodes.end(), part.begin(), part.end());
        if (++count > 1) { left.nodes.push_back({filter_operator::all_of, {}, {}}); }
    }
    asked.filter = std::move(left);
}

/// Compares numbers without suffix with properties of each type of number: a service compares equal types only, and who writes
/// "Total gt 100" rarely knows the type. Unchanged if there would be more comparisons than a service accepts.
void accept_all_numbers(entitable::filter& condition) {
    constexpr std::size_t most_comparisons = 11; // of 15, four are for keys
    entitable::filter made;
    for (filter_node const& each : condition.nodes) {
        made.nodes.push_back(each);
        if (!is_comparison(each.operation) || each.operand.type() != edm_type::int32) { continue; }
        std::int32_t const number = each.operand.view().as_int32();
        made.nodes.push_back({each.operation, each.name, entitable::value_view{std::int64_t{number}}});
        made.nodes.push_back({filter_operator::any_of, {}, {}});
        made.nodes.push_back({each.operation, each.name, entitable::value_view{static_cast<double>(number)}});
        made.nodes.push_back({filter_operator::any_of, {}, {}});
    }
    if (made.comparisons() <= most_comparisons) { condition = std::move(made); }
}

} // namespace

entitable::result<entitable::query_entities> unchecked_request_of(selection const& given) {
    entitable::query_entities asked;
    asked.table = given.table;
    if (given.partition) { asked.range.partition = key_interval::only(*given.partition); }
    if (given.rows) { ENTITABLE_TRY(asked.range.row, rows_of(*given.rows)); }
    auto condition = entitable::parse_filter(given.filter);
    if (!condition) {
        return refuse(
            "--filter: " + condition.error().message + " A condition is, for example, \"Age ge 50 and Name ne 'Ann'\"");
    }
    asked.filter = std::move(*condition);
    narrow(asked);
    accept_all_numbers(asked.filter);
    return asked;
}

entitable::result<entitable::query_entities> request_of(selection const& given) {
    ENTITABLE_TRY(auto asked, unchecked_request_of(given));
    if (!given.scan && !asked.range.partition.is_point() && !asked.range.is_empty()) {
        return refuse("this would read the whole table: choose a partition with --partition, or permit it with --scan");
    }
    return asked;
}

entitable::result<void> for_each_selected(entitable::any_store const& store, selection const& given,
    entitable::query_entities asked, std::function<entitable::result<bool>(entitable::row_view row)> const& function,
    std::function<void()> const& page_done) {
    if (asked.range.is_empty()) { return {}; }
    std::string const table = asked.table;
    auto read = for_each_row(
        store, std::move(asked),
        [&](entitable::row_view each) -> entitable::result<bool> {
            if (!given.system && entitable::system_row::is_one(each.row_key)) { return true; }
            return function(each);
        },
        page_done);
    if (!read) { return no_table(std::move(read).as_failure(), table); }
    return read;
}

entitable::result<std::vector<std::string>> names_in(std::string const& list) {
    std::vector<std::string> names;
    if (list.empty()) { return names; }
    for (std::size_t at = 0;;) {
        std::size_t const comma = list.find(',', at);
        std::string name = list.substr(at, comma == std::string::npos ? comma : comma - at);
        if (name.empty()) { return refuse("a name is missing in \"" + printable(list) + "\": write A,B"); }
        if (std::find(names.begin(), names.end(), name) == names.end()) { names.push_back(std::move(name)); }
        if (comma == std::string::npos) { return names; }
        at = comma + 1;
    }
}

// ---- output -----------------------------------------------------------------------------------------------------

void add_format(CLI::App& command, std::string& format) {
    command.add_option("--format", format, "table (fits the width of a terminal), jsonl (keeps the types) or csv")
        ->type_name("FORMAT")
        ->check(CLI::IsMember({"table", "jsonl", "csv"}))
        ->capture_default_str();
}

bool is_number(edm_type type) {
    return type == edm_type::int32 || type == edm_type::int64 || type == edm_type::float64;
}

row_output::row_output(console& with, std::string format, std::vector<std::string> select)
    : with_(with), format_(std::move(format)), columns_(std::move(select)), chosen_(!columns_.empty()) {}

void row_output::add(entitable::row_view row) {
    if (format_ == "jsonl" && !chosen_) {
        line_.clear();
        append_json_row(line_, row);
        line_ += '\n';
        with_.out << line_;
        return;
    }
    if (!decided_) {
        waiting_.emplace_back(row);
        return;
    }
    print(row);
}

void row_output::page_done() {
    if (!decided_ && !waiting_.empty()) { decide_columns(); }
    if (table_) { table_->flush(); }
    with_.out.flush();
}

void row_output::decide_columns() {
    decided_ = true;
    if (!chosen_) {
        columns_ = {"PartitionKey", "RowKey"};
        std::map<std::string, bool, std::less<>> known;
        for (entitable::row const& row : waiting_) {
            entitable::property_cursor properties{row.payload()};
            for (entitable::property_view each; properties.next(each);) {
                if (each.present && known.emplace(each.name, true).second) { columns_.emplace_back(each.name); }
            }
        }
    }
    if (format_ == "table") {
        std::vector<text_table::column> shown;
        for (std::string const& name : columns_) {
            bool right = false;
            for (entitable::row const& row : waiting_) {
                if (auto const value = cell(row, name)) { // the first value decides
                    right = is_number(value->type());
                    break;
                }
            }
            shown.push_back({printable(name), right});
        }
        table_ = std::make_unique<text_table>(with_, std::move(shown));
    } else if (format_ == "csv") {
        line_.clear();
        for (std::string const& name : columns_) {
            if (&name != &columns_.front()) { line_ += ','; }
            append_csv_field(line_, name);
        }
        with_.out << line_ << '\n';
    }
    for (entitable::row const& row : waiting_) { print(row); }
    waiting_.clear();
    waiting_.shrink_to_fit();
}

std::optional<entitable::value> row_output::cell(entitable::row_view const& row, std::string const& column) const {
    if (column == "PartitionKey") { return entitable::value{entitable::value_view{row.partition_key}}; }
    if (column == "RowKey") { return entitable::value{entitable::value_view{row.row_key}}; }
    if (column == "Timestamp") { return entitable::value{entitable::value_view{row.timestamp()}}; }
    auto const found = row.find(column);
    return found ? std::optional{entitable::value{*found}} : std::nullopt;
}

void row_output::note_unknown(entitable::row_view const& row) {
    constexpr std::size_t most_named = 100;
    entitable::property_cursor properties{row.payload};
    for (entitable::property_view each; properties.next(each);) {
        if (!each.present || std::find(columns_.begin(), columns_.end(), each.name) != columns_.end()) { continue; }
        auto const known = unknown_.find(each.name);
        if (known != unknown_.end()) {
            ++known->second;
        } else if (unknown_.size() < most_named) {
            unknown_.emplace(each.name, 1);
        }
    }
}

void row_output::print(entitable::row_view const& row) {
    if (!chosen_) { note_unknown(row); }
    if (format_ == "table") {
        std::vector<std::string> cells;
        for (std::string const& name : columns_) {
            auto const value = cell(row, name);
            cells.push_back(value ? printable(plain_text(*value)) : std::string{});
        }
        table_->add(std::move(cells));
        return;
    }
    line_.clear();
    if (format_ == "csv") {
        for (std::string const& name : columns_) {
            if (&name != &columns_.front()) { line_ += ','; }
            if (auto const value = cell(row, name)) { append_csv_field(line_, plain_text(*value)); }
        }
    } else {
        line_ += '{';
        for (std::string const& name : columns_) {
            if (auto const value = cell(row, name)) { append_json_member(line_, name, *value); }
        }
        line_ += '}';
    }
    with_.out << line_ << '\n';
}

exit_code row_output::finish() {
    page_done();
    if (table_) { table_->finish(); }
    if (!decided_ && format_ == "table" && with_.out_is_terminal) { with_.err << "no rows\n"; }
    if (unknown_.empty() || !with_.can_write()) { return exit_code::success; }
    with_.out.flush();
    with_.err << "properties of later rows without a column:";
    for (auto const& [name, count] : unknown_) {
        with_.err << (name == unknown_.begin()->first ? " " : ", ") << printable(name) << " (" << count << " rows)";
    }
    with_.err << ": --select chooses columns, --format jsonl shows all\n";
    return format_ == "csv" ? exit_code::some_failed : exit_code::success;
}

result_output::result_output(console& with, std::string format, std::vector<text_table::column> columns)
    : with_(with), format_(std::move(format)), columns_(std::move(columns)), table_(with, columns_) {
    if (format_ != "csv") { return; }
    std::string line;
    for (text_table::column const& each : columns_) {
        if (&each != &columns_.front()) { line += ','; }
        append_csv_field(line, each.name);
    }
    with_.out << line << '\n';
}

void result_output::add(std::vector<std::optional<entitable::value>> const& cells) {
    if (format_ == "table") {
        std::vector<std::string> texts;
        for (auto const& each : cells) { texts.push_back(each ? printable(plain_text(*each)) : std::string{}); }
        table_.add(std::move(texts));
        return;
    }
    std::string line = format_ == "csv" ? "" : "{";
    for (std::size_t at = 0; at < cells.size(); ++at) {
        if (format_ == "csv") {
            if (at > 0) { line += ','; }
            if (cells[at]) { append_csv_field(line, plain_text(*cells[at])); }
        } else if (cells[at]) {
            append_json_member(line, columns_[at].name, *cells[at]);
        }
    }
    with_.out << line << (format_ == "csv" ? "\n" : "}\n");
}

void result_output::finish() {
    if (format_ == "table") { table_.finish(); }
}

} // namespace tool
