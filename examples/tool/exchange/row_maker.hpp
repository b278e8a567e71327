// SPDX-License-Identifier: MIT
// Copyright (c) 2026 the entitable authors
#pragma once

/// \file
/// Makes rows from records: which columns are keys, which are properties, and of which types.

#include "key_expression.hpp"
#include "records.hpp"
#include <entitable/core/row/row.hpp>

#include <map>
#include <ostream>

namespace tool {

/// Splits a list of `NAME=TYPE`, separated by commas. Errors: InvalidInput names the item.
[[nodiscard]] entitable::result<std::map<std::string, entitable::edm_type, std::less<>>> parse_types(
    std::string_view given);

/// How to make rows from records.
struct row_plan {
    std::optional<key_expression> partition{};                       ///< absent: the column PartitionKey
    std::optional<key_expression> row{};                             ///< absent: the column RowKey
    std::map<std::string, entitable::edm_type, std::less<>> types{}; ///< by column
    bool keeps_key_columns{};                                        ///< whether columns of keys are also properties
};

/// The types that the values of a column could have.
class type_guess {
public:
    /// Restricts the guess to the types of a text.
    void add(std::string_view given);
    /// The narrowest type of all texts; String if there were none.
    [[nodiscard]] entitable::edm_type type() const noexcept;

private:
    bool int32_{true};
    bool int64_{true};
    bool float64_{true};
    bool boolean_{true};
    bool time_{true};
    bool guid_{true};
    bool seen_{};
};

/// Makes rows from the records of one text. Used by one thread.
class row_maker {
public:
    row_maker(row_plan plan, std::string column_separator);

    /// Sets the columns of a CSV file from its header. Errors: InvalidInput names a column that is there twice, or that a key or --types
    /// names and that is missing.
    [[nodiscard]] entitable::result<void> set_header(std::vector<field> const& header);
    /// Prepares for JSON lines, whose members are the columns.
    void use_members();

    /// Restricts the types of the columns by a record of the sample.
    void add_sample(record_reader const& record);
    /// Ends the sample.
    void end_sample();
    /// Prints a line for each column: its name and type, or that it is a key.
    void describe(std::ostream& out) const;

    /// Makes the row of a record, in the memory of an earlier row. Errors: InvalidInput for a malformed record, a wrong number of fields, a
    /// value that does not have the type of its column, a key without a value.
    [[nodiscard]] entitable::result<void> make(record_reader const& record, entitable::row& into);

private:
    struct column {
        std::string header;   ///< as in the file
        std::string property; ///< its name in the store
        std::optional<entitable::edm_type> type;
        type_guess guess;
        bool in_key{};
        bool left_out{};
        bool guessed{};
        bool has_variants{}; ///< other columns are the same property, with other types
    };
    [[nodiscard]] entitable::result<void> check_names() const;
    [[nodiscard]] entitable::result<void> add_property(std::string_view name, bool may_be_there, field const& each,
        std::optional<entitable::edm_type> type, std::string_view header);
    [[nodiscard]] entitable::result<void> append_key(std::string& key, key_expression const& from,
        std::vector<std::size_t> const& places, record_reader const& record) const;
    [[nodiscard]] bool is_key_column(std::string_view name) const;

    row_plan plan_;
    std::string separator_; ///< as an option, for messages
    bool members_{};
    std::vector<column> columns_;
    std::vector<std::size_t> partition_places_; ///< column of each component of the PartitionKey
    std::vector<std::size_t> row_places_;
    std::string bytes_;
    std::string partition_key_;
    std::string row_key_;
    entitable::row_builder builder_{{}, {}};
    std::vector<std::string> names_; ///< properties of the row that could be there twice
    std::map<std::string, std::vector<entitable::edm_type>, std::less<>> member_types_; ///< of the sample of JSON lines
    std::vector<std::string> member_names_;                                             ///< in their order
};

} // namespace tool
