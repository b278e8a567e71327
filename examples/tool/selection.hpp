// SPDX-License-Identifier: MIT
// Copyright (c) 2026 the entitable authors
#pragma once

/// \file
/// The words with which commands select rows, and the forms in which they print them: the same for query, count, sum and group.

#include "commands.hpp"
#include "text.hpp"

#include <map>
#include <memory>
#include <optional>

namespace tool {

/// The rows that a command reads.
struct selection {
    std::string store;
    std::string table;
    std::optional<std::string> partition;
    std::optional<std::string> rows; ///< FROM..TO
    std::string filter;
    bool scan{};
    bool system{}; ///< also rows that the library stores for itself
};

/// Adds STORE, TABLE, --partition, --rows, --filter, --scan and --system.
void add_selection(CLI::App& command, selection& given);

/// The request for the rows, without a projection. Comparisons of keys that the whole filter requires become part of the key range. Errors:
/// the refusal of a malformed range or filter, and of a scan that was not asked for.
[[nodiscard]] entitable::result<entitable::query_entities> request_of(selection const& given);
/// Does the same without refusing scans.
[[nodiscard]] entitable::result<entitable::query_entities> unchecked_request_of(selection const& given);

/// Reads the selected rows, without system rows unless they are asked for. `function` returns false to end.
[[nodiscard]] entitable::result<void> for_each_selected(entitable::any_store const& store, selection const& given,
    entitable::query_entities asked, std::function<entitable::result<bool>(entitable::row_view row)> const& function,
    std::function<void()> const& page_done = {});

/// Splits "A,B" into names. Errors: the refusal of an empty name.
[[nodiscard]] entitable::result<std::vector<std::string>> names_in(std::string const& list);

/// Whether values of the type are aligned to the right.
[[nodiscard]] bool is_number(entitable::edm_type type);

/// Adds --format.
void add_format(CLI::App& command, std::string& format);

/// Prints rows as they come, in constant memory.
class row_output {
public:
    /// `format` is "table", "jsonl" or "csv"; `select` are the columns, empty for the keys and all properties. Columns that are not
    /// selected follow from the first page, at most 1000 rows.
    row_output(console& with, std::string format, std::vector<std::string> select);
    void add(entitable::row_view row);
    /// Makes the rows visible that were added so far.
    void page_done();
    /// Writes the rest, and notes what was not shown. Returns `some_failed` for a CSV text without some of the properties.
    [[nodiscard]] exit_code finish();

private:
    void decide_columns();
    void print(entitable::row_view const& row);
    [[nodiscard]] std::optional<entitable::value> cell(entitable::row_view const& row, std::string const& column) const;
    void note_unknown(entitable::row_view const& row);

    console& with_;
    std::string format_;
    std::vector<std::string> columns_;
    bool chosen_;
    bool decided_{};
    std::vector<entitable::row> waiting_;
    std::unique_ptr<text_table> table_;
    std::map<std::string, std::uint64_t, std::less<>> unknown_; ///< properties without a column; bounded
    std::string line_;
};

/// Prints rows of results, whose columns are known: a table, JSON lines or CSV.
class result_output {
public:
    result_output(console& with, std::string format, std::vector<text_table::column> columns);
    /// Adds a row; an absent value is an empty cell.
    void add(std::vector<std::optional<entitable::value>> const& cells);
    void finish();

private:
    console& with_;
    std::string format_;
    std::vector<text_table::column> columns_;
    text_table table_;
};

} // namespace tool
