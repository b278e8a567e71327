// SPDX-License-Identifier: MIT
// Copyright (c) 2026 the entitable authors
#pragma once

/// \file
/// A reader of comma-separated values according to RFC 4180: fields in double quotes may contain commas, line breaks and
/// doubled quotes. Enough for the examples.

#include <istream>
#include <map>
#include <string>
#include <utility>
#include <vector>

namespace examples {

class csv_reader {
public:
    /// The first record names the columns.
    explicit csv_reader(std::istream& input) : input_(input) {
        if (std::vector<std::string> names; read(names)) {
            for (std::size_t column = 0; column < names.size(); ++column) { columns_[names[column]] = column; }
            names_ = std::move(names);
        }
    }

    /// The columns, in their order.
    [[nodiscard]] std::vector<std::string> const& names() const { return names_; }
    /// The fields of the record, in their order.
    [[nodiscard]] std::vector<std::string> const& fields() const { return fields_; }
    /// The next record; false at the end.
    bool next() { return read(fields_); }
    /// The field under a column's name; empty if there is no such column.
    [[nodiscard]] std::string const& operator[](std::string const& column) const {
        static std::string const none;
        auto const found = columns_.find(column);
        return found == columns_.end() || found->second >= fields_.size() ? none : fields_[found->second];
    }

private:
    bool read(std::vector<std::string>& fields) {
        fields.clear();
        std::string field;
        bool quoted = false;
        bool any = false;
        for (int read = input_.get(); read != std::istream::traits_type::eof(); read = input_.get()) {
            any = true;
            char const character = static_cast<char>(read);
            if (quoted) {
                if (character != '"') {
                    field += character;
                } else if (input_.peek() == '"') {
                    field += static_cast<char>(input_.get());
                } else {
                    quoted = false;
                }
            } else if (character == '"') {
                quoted = true;
            } else if (character == ',') {
                fields.push_back(std::exchange(field, {}));
            } else if (character == '\n') {
                break;
            } else if (character != '\r') {
                field += character;
            }
        }
        if (any) { fields.push_back(std::move(field)); }
        return any;
    }

    std::istream& input_;
    std::vector<std::string> names_;
    std::map<std::string, std::size_t> columns_;
    std::vector<std::string> fields_;
};

} // namespace examples
