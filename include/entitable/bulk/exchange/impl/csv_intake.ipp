// SPDX-License-Identifier: MIT
// Copyright (c) 2026 the entitable authors
#pragma once

#include <entitable/bulk/exchange/csv.hpp>
#include <entitable/bulk/exchange/detail/line_writer.hpp>
#include <entitable/core/text.hpp>
#include <entitable/core/try.hpp>

ENTITABLE_BEGIN_NAMESPACE
namespace detail {

/// Appends `"a", "b"`.
ENTITABLE_DECL std::string quoted_list(std::vector<std::string> const& names) {
    std::string made;
    for (std::string const& name : names) {
        made += text::joined({made.empty() ? "\"" : ", \"", text::printable(text::shortened(name)), "\""});
    }
    return made;
}

ENTITABLE_DECL csv_intake::csv_intake(std::istream& in, csv_read_options const& options, text_columns columns)
    : parser_(in, options.separator, options.max_record),
      columns_(columns),
      separator_(options.separator),
      reading_(options.reading),
      refused_(options.max_refused, options.keep_refused, options.on_refused) {}

ENTITABLE_DECL result<void> csv_intake::read_header() {
    if (!is_csv_separator(separator_)) {
        return failure{error_code::invalid_input, "a quote or a line end cannot separate the fields of a CSV text"};
    }
    ENTITABLE_CHECK(parser_.source().take_mark());
    if (!parser_.next(false)) {
        if (parser_.source().failed()) { return unreadable_text(parser_.source().position()); }
        return failure{error_code::invalid_input,
            text::joined({"the text is empty: a CSV text begins with the names of its columns, such as \"",
                columns_[0].full_name(), "\""})};
    }
    if (parser_.fault()) {
        return failure{error_code::invalid_input,
            located(parser_.fault()->at, {}, text::joined({"the header is malformed: ", parser_.fault()->message}))};
    }
    return take_names();
}

ENTITABLE_DECL result<void> csv_intake::take_names() {
    sources_.assign(columns_.count, parser_.fields().size());
    for (csv_field const& field : parser_.fields()) {
        std::string_view const name = parser_.content(field);
        std::size_t const column = columns_.find(name);
        if (column == columns_.count) {
            unknown_.emplace_back(name);
        } else if (sources_[column] != parser_.fields().size()) {
            return failure{
                error_code::invalid_input, located(field.at, name, "the header has two columns with this name")};
        } else {
            sources_[column] = targets_.size();
        }
        targets_.push_back(column);
        header_.emplace_back(name);
    }
    std::vector<std::string> needed;
    auto const is_missing = [&](std::size_t column) { return sources_[column] == targets_.size(); };
    for (std::size_t column = 0; column < columns_.count; ++column) {
        bool const may_be_missing =
            columns_[column].nullable || (reading_ == reading::lenient && column >= columns_.keys);
        bool const is_half = (columns_[column].begins_pair && !is_missing(column + 1)) ||
            (column != 0 && columns_[column - 1].begins_pair && !is_missing(column - 1));
        if (!is_missing(column)) { continue; }
        missing_.push_back(columns_[column].full_name());
        if (!may_be_missing || is_half) { needed.push_back(missing_.back()); }
    }
    std::string const entity{columns_.entity};
    if (!needed.empty()) {
        return failure{error_code::row_mismatch,
            text::joined({"the header does not have the columns ", quoted_list(needed), ", which the entity ", entity,
                " needs; its columns are ", quoted_list(header_)})};
    }
    if (reading_ == reading::strict && !unknown_.empty()) {
        return failure{error_code::row_mismatch,
            text::joined({"the header has the columns ", quoted_list(unknown_), ", which the entity ", entity,
                " does not have; reading::standard ignores them"})};
    }
    return {};
}

ENTITABLE_DECL csv_field const* csv_intake::field_of(std::size_t column) const noexcept {
    return sources_[column] < targets_.size() ? &parser_.fields()[sources_[column]] : nullptr;
}

ENTITABLE_DECL std::optional<record_fault> csv_intake::check_count() const {
    std::size_t const count = parser_.fields().size();
    std::size_t const expected = header_.size();
    if (count == expected) { return std::nullopt; }
    std::string message = text::joined({"the record has ", std::to_string(count), count == 1 ? " field" : " fields",
        ", and the header has ", std::to_string(expected)});
    if (count > expected) {
        return record_fault{parser_.fields()[expected].at, {}, error_code::invalid_input, std::move(message)};
    }
    return record_fault{parser_.end_of_record(), header_[count], error_code::invalid_input, std::move(message)};
}

ENTITABLE_DECL std::optional<record_fault> csv_intake::check_pairs() const {
    for (std::size_t column = 0; column + 1 < columns_.count; ++column) {
        if (!columns_[column].begins_pair) { continue; }
        csv_field const* const first = field_of(column);
        csv_field const* const second = field_of(column + 1);
        if (is_absent(first) == is_absent(second)) { continue; }
        std::size_t const absent = is_absent(first) ? column : column + 1;
        return record_fault{(is_absent(first) ? first : second)->at, columns_[absent].full_name(),
            error_code::row_mismatch, "the field is empty, but the other key of the reference is not"};
    }
    return std::nullopt;
}

ENTITABLE_DECL std::optional<record_fault> csv_intake::fill_column(
    void* entity, text_column const& column, csv_field const& field) const {
    bool const has_empty = column.type == edm_type::string || column.type == edm_type::binary;
    if (is_absent(&field)) {
        if (column.nullable) {
            column.clear(entity);
            return std::nullopt;
        }
        if (!has_empty) {
            return record_fault{field.at, column.full_name(), error_code::row_mismatch,
                "the field is empty; make the member a std::optional to allow that"};
        }
    }
    if (column.read(entity, parser_.content(field))) { return std::nullopt; }
    return record_fault{field.at, column.full_name(), error_code::row_mismatch,
        text::joined({"the text is not a value of the member, which is an ", to_string(column.type)})};
}

ENTITABLE_DECL std::optional<record_fault> csv_intake::fill(void* entity) const {
    if (parser_.fault()) { return parser_.fault(); }
    if (auto fault = check_count()) { return fault; }
    for (std::size_t index = 0; index < targets_.size(); ++index) {
        if (targets_[index] == columns_.count) { continue; }
        if (auto fault = fill_column(entity, columns_[targets_[index]], parser_.fields()[index])) { return fault; }
    }
    for (std::size_t column = 0; column < columns_.count; ++column) {
        if (columns_[column].nullable && field_of(column) == nullptr) { columns_[column].clear(entity); }
    }
    return check_pairs();
}

ENTITABLE_DECL intake csv_intake::next(void* entity, result<void>& why) {
    if (stopped_) { return intake::end; }
    if (!parser_.next(header_.size() == 1)) {
        stopped_ = true;
        if (parser_.source().failed()) {
            why = unreadable_text(parser_.source().position());
            return intake::refused;
        }
        refused_.report().ended = true;
        return intake::end;
    }
    ++refused_.report().records;
    auto const fault = fill(entity);
    if (!fault) { return intake::entity; }
    why = refused_.refuse(*fault, parser_.first_line(), parser_.last_line(), parser_.raw(), parser_.is_cut());
    stopped_ = refused_.too_many();
    return intake::refused;
}

} // namespace detail
ENTITABLE_END_NAMESPACE
