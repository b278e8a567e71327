// SPDX-License-Identifier: MIT
// Copyright (c) 2026 the entitable authors
#pragma once

/// \file
/// Values and rows as text: for people in a table, for programs as JSON lines and CSV.

#include "console.hpp"
#include <entitable/core/request/kinds.hpp>
#include <entitable/core/row/row.hpp>
#include <entitable/core/value.hpp>

#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace tool {

/// Text that is safe on a terminal: control characters, marks that change the direction of writing, and bytes that are not UTF-8 are
/// shown as escapes.
[[nodiscard]] std::string printable(std::string_view text);
/// The same for a text of several lines, whose line ends stay.
[[nodiscard]] std::string printable_lines(std::string_view text);
/// Columns that a printable text occupies.
[[nodiscard]] std::size_t display_width(std::string_view text);
/// Cuts a printable text to this width; what was cut ends in "..".
[[nodiscard]] std::string cut(std::string_view text, std::size_t width);

/// A value for people and CSV: times in ISO 8601, binaries in base64, numbers with all digits. Not escaped.
[[nodiscard]] std::string plain_text(entitable::value_view shown);

/// Parses a value of a type. Errors: the refusal, which names the expected form.
[[nodiscard]] entitable::result<entitable::value> parse_value(entitable::edm_type type, std::string_view text);
/// Returns the type of a short name: string, int32, int64, double, boolean, datetime, guid, binary; also Edm.Int32 and so on.
[[nodiscard]] std::optional<entitable::edm_type> type_of_name(std::string_view name);
/// The names that `type_of_name` knows, for messages.
inline constexpr std::string_view type_names = "string, int32, int64, double, boolean, datetime, guid, binary";

/// Appends a JSON string, with quotes. Bytes that are not UTF-8 become U+FFFD.
void append_json_string(std::string& out, std::string_view text);
/// Appends a row as one JSON object in the notation of the table service, so that the types are kept: keys, then properties; a property
/// whose type the JSON value does not show is preceded by its "NAME@odata.type". `with_version`: also the ETag and the Timestamp.
void append_json_row(std::string& out, entitable::row_view const& row, bool with_version = false);
/// Appends a member of such an object, with its annotation; a comma unless it is the first.
void append_json_member(std::string& out, std::string_view name, entitable::value_view shown);
/// Reads such an object. Numbers without annotation are Int32, or Int64 if they do not fit, or Double; "odata.etag" and "Timestamp" are
/// skipped; null is an absent value. Errors: the refusal with the position in the line; keys must be present.
[[nodiscard]] entitable::result<entitable::row> read_json_row(std::string_view line);

/// Appends a field of CSV, in quotes if needed.
void append_csv_field(std::string& out, std::string_view text);

/// Rows of text in aligned columns. The widths follow from the first rows (`finish` or 100 rows), so memory is constant and rows appear
/// as they come. On a terminal lines fit its width: long cells are cut, and columns without room are left out, which a note says.
class text_table {
public:
    struct column {
        std::string name; ///< printable
        bool right{};     ///< numbers are aligned to the right
    };
    text_table(console& with, std::vector<column> columns);
    /// Adds a row of printable cells.
    void add(std::vector<std::string> cells);
    /// Writes the rows that wait for their widths; later rows are written at once.
    void flush();
    /// Writes what is left, and the note of columns that were left out.
    void finish();

private:
    void write_line(std::vector<std::string> const& cells, bool is_header);
    void decide_widths();

    console& with_;
    std::vector<column> columns_;
    std::vector<std::size_t> widths_;
    std::vector<std::vector<std::string>> waiting_;
    std::size_t shown_{}; ///< number of columns that fit
    bool decided_{};
};

} // namespace tool
