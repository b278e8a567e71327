// SPDX-License-Identifier: MIT
// Copyright (c) 2026 the entitable authors

#include "../commands.hpp"
#include "../exchange/progress.hpp"
#include "../exchange/value_text.hpp"
#include "../text.hpp"
#include <entitable/core/row/system_row_kinds.hpp>
#include <entitable/core/text.hpp>
#include <entitable/core/try.hpp>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <list>
#include <map>

namespace tool {

namespace {

struct export_options {
    std::string store;
    std::string table;
    std::string format;
    std::string output;
    std::string separator{","};
    std::vector<std::string> partitions;
    bool plain{};
    bool yes{};
};

/// A column of CSV: a property under one of its types.
struct csv_column {
    std::string name;
    entitable::edm_type type;
};

/// Columns in the order of the rows: one that an earlier row did not have follows the property before it.
class csv_columns {
public:
    /// Adds those of a row; false if there are too many.
    [[nodiscard]] bool add(entitable::row_view row) {
        entitable::property_cursor properties{row.payload};
        auto after = ordered_.begin();
        for (entitable::property_view each; properties.next(each);) {
            if (!each.present) { continue; }
            if (after != ordered_.end() && after->name == each.name && after->type == each.type) {
                ++after; // the next column, in most rows
                continue;
            }
            auto known = found_.find(key(each));
            if (known == found_.end()) {
                auto const made = ordered_.insert(after, csv_column{std::string{each.name}, each.type});
                known = found_.emplace(key(each), made).first;
            }
            after = std::next(known->second);
        }
        return ordered_.size() <= most;
    }
    /// Ends the search for columns.
    void settle() {
        columns_.assign(ordered_.begin(), ordered_.end());
        for (std::size_t at = 0; at < columns_.size(); ++at) { places_.emplace(key(columns_[at]), at); }
    }
    /// Position of the column of a property; the number of columns if it is new. `expected` follows the previous one.
    [[nodiscard]] std::size_t place(entitable::property_view const& of, std::size_t& expected) const {
        std::size_t at = expected;
        if (at >= columns_.size() || columns_[at].name != of.name || columns_[at].type != of.type) {
            auto const found = places_.find(key(of));
            at = found == places_.end() ? columns_.size() : found->second;
        }
        expected = at + 1;
        return at;
    }
    [[nodiscard]] std::vector<csv_column> const& all() const noexcept { return columns_; }

    static constexpr std::size_t most = 9'990; ///< bounds the memory, and what an import reads

private:
    [[nodiscard]] static std::string key(std::string_view name, entitable::edm_type type) {
        return std::string{name} + ':' + std::string{type_name(type)};
    }
    [[nodiscard]] static std::string key(entitable::property_view const& of) { return key(of.name, of.type); }
    [[nodiscard]] static std::string key(csv_column const& of) { return key(of.name, of.type); }

    std::list<csv_column> ordered_;
    std::map<std::string, std::list<csv_column>::iterator, std::less<>> found_;
    std::vector<csv_column> columns_;
    std::map<std::string, std::size_t, std::less<>> places_;
};

class exporting {
public:
    exporting(export_options const& given, console& with) : given_(given), with_(with), line_(with) {}

    [[nodiscard]] outcome run() {
        bool const csv = given_.format == "csv" || (given_.format.empty() && given_.output.ends_with(".csv"));
        if (given_.plain && !csv) {
            with_.err << "entitable: --plain is for CSV; JSON lines always have the types\n";
            return exit_code::usage;
        }
        separator_ = given_.separator == "tab" || given_.separator == "\\t" ? '\t' : given_.separator.front();
        ENTITABLE_TRY(auto const store, open_store(given_.store));
        if (given_.output.empty()) {
            out_ = &with_.out;
        } else {
            ENTITABLE_CHECK(confirm_overwrite(with_, given_.yes, given_.output));
            // The file gets its name when it is complete.
            file_.open(given_.output + ".new", std::ios::binary | std::ios::trunc);
            if (!file_) { return file_failure(); }
            out_ = &file_;
        }
        auto done = csv ? write_csv(store) : write_json(store);
        line_.clear();
        if (!given_.output.empty()) { done = close(std::move(done)); }
        if (!done) { return std::move(done).as_failure(); }
        if (!given_.output.empty()) { with_.err << counted_rows(rows_) << " exported to " << given_.output << '\n'; }
        return exit_code::success;
    }

private:
    [[nodiscard]] entitable::failure file_failure() const {
        return refuse(
            "cannot write " + given_.output + ".new: " + std::strerror(errno)); // NOLINT(concurrency-mt-unsafe)
    }

    [[nodiscard]] entitable::result<void> close(entitable::result<void> done) {
        std::string const unfinished = given_.output + ".new";
        std::error_code problem;
        errno = 0;
        file_.close();
        if (done && !file_) { done = file_failure(); }
        if (!done) {
            std::filesystem::remove(unfinished, problem);
            return done;
        }
        std::filesystem::rename(unfinished, given_.output, problem);
        if (problem) { return refuse("cannot rename " + unfinished + ": " + problem.message()); }
        return done;
    }

    /// Calls `function` for each row of an entity. Rows of the library are left out, or refused if the export would be wrong without them.
    [[nodiscard]] entitable::result<void> for_each(entitable::any_store const& store, std::string const& word,
        std::function<entitable::result<void>(entitable::row_view)> const& function) {
        std::vector<entitable::key_range> ranges;
        for (std::string const& each : given_.partitions) {
            ranges.emplace_back();
            ranges.back().partition = entitable::key_interval::only(each);
        }
        if (ranges.empty()) { ranges.emplace_back(); }
        std::uint64_t seen = 0;
        for (entitable::key_range const& range : ranges) {
            entitable::query_entities asked;
            asked.table = given_.table;
            asked.range = range;
            ENTITABLE_CHECK(for_each_row(
                store, std::move(asked),
                [&](entitable::row_view each) -> entitable::result<bool> {
                    if (auto const* const kind = entitable::system_row::kind_of(each.row_key)) {
                        if (kind->changed == entitable::system_row::copying::refused) {
                            return refuse("the table " + given_.table + " contains " + std::string{kind->holds} +
                                ", which an export would lose; entitable copy copies all of the table");
                        }
                        return true;
                    }
                    ENTITABLE_CHECK(function(each));
                    ++seen;
                    return out_->good();
                },
                [&] { line_.show(word + counted_rows(seen)); }));
            if (!out_->good()) { break; } // reported by the caller
        }
        return {};
    }

    [[nodiscard]] entitable::result<void> write_json(entitable::any_store const& store) {
        std::string text;
        return for_each(store, "", [&](entitable::row_view each) -> entitable::result<void> {
            text.clear();
            append_json_row(text, each);
            text += '\n';
            *out_ << text;
            ++rows_;
            return {};
        });
    }

    void append_field(std::string& out, std::string_view content) const {
        bool const quotes = content.empty() || content.front() == ' ' || content.back() == ' ' ||
            std::any_of(content.begin(), content.end(), [&](char each) {
                return each == separator_ || each == '"' || static_cast<unsigned char>(each) < 0x20;
            });
        if (!quotes) {
            out += content;
            return;
        }
        out += '"';
        for (char const each : content) {
            if (each == '"') { out += '"'; }
            out += each;
        }
        out += '"';
    }

    [[nodiscard]] entitable::result<void> write_csv(entitable::any_store const& store) {
        csv_columns columns;
        ENTITABLE_CHECK(
            for_each(store, "looking for columns: ", [&](entitable::row_view each) -> entitable::result<void> {
                if (!columns.add(each)) {
                    return refuse("the rows have more than 9,990 different properties; --format jsonl has no limit");
                }
                return {};
            }));
        columns.settle();
        ENTITABLE_CHECK(write_header(columns));
        std::vector<std::string> fields(columns.all().size());
        std::vector<char> present(columns.all().size());
        std::string text;
        return for_each(store, "", [&](entitable::row_view each) -> entitable::result<void> {
            std::fill(present.begin(), present.end(), char{0});
            entitable::property_cursor properties{each.payload};
            std::size_t expected = 0;
            for (entitable::property_view one; properties.next(one);) {
                if (!one.present) { continue; }
                std::size_t const at = columns.place(one, expected);
                if (at == fields.size()) {
                    return refuse("a row with the new property " + std::string{one.name} +
                        " was written during the export; run it again, or use --format jsonl");
                }
                present[at] = 1;
                fields[at].clear();
                append_value_text(fields[at], one.value);
            }
            text.clear();
            append_field(text, each.partition_key);
            text += separator_;
            append_field(text, each.row_key);
            for (std::size_t at = 0; at < fields.size(); ++at) {
                text += separator_;
                if (present[at] != 0) { append_field(text, fields[at]); }
            }
            text += '\n';
            *out_ << text;
            ++rows_;
            return {};
        });
    }

    [[nodiscard]] entitable::result<void> write_header(csv_columns const& columns) {
        std::string text;
        append_field(text, "PartitionKey");
        text += separator_;
        append_field(text, "RowKey");
        for (csv_column const& each : columns.all()) {
            auto const others = std::count_if(columns.all().begin(), columns.all().end(),
                [&](csv_column const& other) { return other.name == each.name; });
            if (given_.plain && others > 1) {
                return refuse("the property " + each.name +
                    " has values of different types; without --plain each type has a column");
            }
            text += separator_;
            append_field(text, given_.plain ? each.name : each.name + ":" + std::string{type_name(each.type)});
        }
        *out_ << text << '\n';
        return {};
    }

    export_options const& given_;
    console& with_;
    progress_line line_;
    std::ofstream file_;
    std::ostream* out_{};
    std::uint64_t rows_{};
    char separator_{','};
};

} // namespace

void add_export(command_list& all) {
    auto given = std::make_shared<export_options>();
    CLI::App& command = all.add("export", "Writes the rows of a table as JSON lines or CSV",
        "entitable export shop.db books > books.jsonl\n"
        "entitable export shop.db books --format csv -o books.csv\n"
        "entitable export env:STORE orders --partition \"customer 7\" --partition \"customer 8\"",
        [given](console& with) { return exporting{*given, with}.run(); });
    command.description(
        "Writes the rows of a table as JSON lines or CSV, in key order.\n"
        "entitable import of the result makes the same rows: JSON lines have the notation of the table service, and "
        "the "
        "first line of CSV has the types of the columns (age:Int32). In CSV an absent value is an empty field, and an "
        "empty text is \"\"; a property with values of two types has two columns; the table is read twice. Rows of "
        "the "
        "library are not exported: a table with a queue, wide entities or views is refused. ETags and Timestamps are "
        "not exported. An interrupted export starts over.");
    command.add_option("STORE", given->store, store_help)->required();
    command.add_option("TABLE", given->table, "Table")->required();
    command.add_option("--format", given->format, "jsonl or csv; default: by the name of the output, else jsonl")
        ->check(CLI::IsMember{{"csv", "jsonl"}});
    command.add_option("-o,--output", given->output, "File; default: the standard output");
    command.add_option("--partition", given->partitions, "Only the rows of this partition; may be repeated")
        ->allow_extra_args(false);
    command.add_option("--separator", given->separator, "Character between fields of CSV, or tab; default: a comma")
        ->check([](std::string const& text) {
            bool const good =
                text == "tab" || text == "\\t" || (text.size() == 1 && text != "\"" && text != "\n" && text != "\r");
            return good ? std::string{} : std::string{"--separator must be one character, or tab"};
        });
    command.add_flag("--plain", given->plain, "CSV without types in the first line, for other programs");
    command.add_flag("--yes", given->yes, "Overwrite the file without a question");
}

} // namespace tool
