// SPDX-License-Identifier: MIT
// Copyright (c) 2026 the entitable authors
#pragma once

#include <entitable/bulk/exchange/json_lines.hpp>
#include <entitable/core/text.hpp>

#include <algorithm>

ENTITABLE_BEGIN_NAMESPACE
namespace detail {

ENTITABLE_DECL json_intake::json_intake(std::istream& in, json_lines_options const& options, text_columns columns)
    : source_(in),
      columns_(columns),
      reading_(options.reading),
      max_record_(options.max_record),
      refused_(options.max_refused, options.keep_refused, options.on_refused) {}

/// Reads a line, without its end and at most its maximum size; false at the end of the text, or if the stream failed.
ENTITABLE_DECL bool json_intake::read_line() {
    line_.clear();
    is_cut_ = false;
    if (!source_.has_more()) { return false; }
    number_ = source_.position().line;
    while (source_.has_more()) {
        std::string_view const rest = source_.rest();
        std::size_t const stop = rest.find('\n');
        std::size_t const size = (std::min)(stop, rest.size());
        std::size_t const room = (std::min)(size, max_record_ - line_.size());
        line_.append(rest.substr(0, room));
        is_cut_ = is_cut_ || room != size;
        source_.take(stop == std::string_view::npos ? size : size + 1);
        if (stop != std::string_view::npos) { break; }
    }
    if (!line_.empty() && line_.back() == '\r' && !is_cut_) { line_.pop_back(); }
    return !source_.failed();
}

ENTITABLE_DECL record_fault json_intake::misfit(std::size_t offset, std::string name, std::string message) const {
    return {{number_, offset + 1}, std::move(name), error_code::row_mismatch, std::move(message)};
}

/// Finds a column by name; looks first at the column that follows the previous one.
ENTITABLE_DECL std::size_t json_intake::column_of(std::string_view name) noexcept {
    std::size_t const column =
        expected_ < columns_.count && columns_[expected_].is_called(name) ? expected_ : columns_.find(name);
    expected_ = column + 1;
    return column;
}

ENTITABLE_DECL std::optional<record_fault> json_intake::fill_member(void* entity, json_line_member const& member) {
    using kind = json_line_member::kind;
    std::string_view const content = parser_.content(member);
    std::size_t const index = column_of(parser_.name(member));
    if (index == columns_.count) {
        if (reading_ != reading::strict) { return std::nullopt; }
        return misfit(member.at, text::printable(text::shortened(parser_.name(member))),
            text::joined({"the entity ", columns_.entity, " does not have this member; reading::standard ignores it"}));
    }
    text_column const& column = columns_[index];
    if (mentioned_[index] != 0) {
        return misfit(member.at, column.full_name(), "the object has two members with this name");
    }
    mentioned_[index] = 1;
    if (member.is == kind::null) {
        if (column.nullable) { return std::nullopt; }
        return misfit(
            member.value_at, column.full_name(), "the value is null; make the member a std::optional to allow that");
    }
    present_[index] = 1;
    bool fits = false;
    switch (column.type) {
        case edm_type::int32: fits = member.is == kind::number; break;
        case edm_type::int64: fits = member.is == kind::number || member.is == kind::text; break;
        case edm_type::float64:
            fits = member.is == kind::number ||
                (member.is == kind::text && (content == "NaN" || content == "Infinity" || content == "-Infinity"));
            break;
        case edm_type::boolean: fits = member.is == kind::boolean; break;
        default: fits = member.is == kind::text; break;
    }
    if (fits && column.read(entity, content)) { return std::nullopt; }
    return misfit(member.value_at, column.full_name(),
        text::joined({"the value is not a value of the member, which is an ", to_string(column.type)}));
}

ENTITABLE_DECL std::optional<record_fault> json_intake::fill_missing(void* entity) {
    for (std::size_t index = 0; index < columns_.count; ++index) {
        text_column const& column = columns_[index];
        if (column.begins_pair && present_[index] != present_[index + 1]) {
            return misfit(parser_.object_end(), columns_[present_[index] == 0 ? index : index + 1].full_name(),
                "the member is absent, but the other key of the reference is not");
        }
        if (present_[index] != 0) { continue; }
        if (column.nullable) {
            column.clear(entity);
        } else if (reading_ != reading::lenient || index < columns_.keys) {
            return misfit(parser_.object_end(), column.full_name(),
                "the object does not have this member; make the member a std::optional to allow that");
        }
    }
    return std::nullopt;
}

ENTITABLE_DECL std::optional<record_fault> json_intake::fill(void* entity) {
    if (is_cut_) {
        return record_fault{{number_, 1}, {}, error_code::invalid_input,
            text::joined({"the line has more than ", std::to_string(max_record_), " bytes"})};
    }
    if (!parser_.parse(line_)) {
        return record_fault{
            {number_, parser_.fault_at() + 1}, {}, error_code::invalid_input, std::string{parser_.message()}};
    }
    present_.assign(columns_.count, 0);
    mentioned_.assign(columns_.count, 0);
    expected_ = 0;
    for (json_line_member const& member : parser_.members()) {
        if (auto fault = fill_member(entity, member)) { return fault; }
    }
    return fill_missing(entity);
}

ENTITABLE_DECL intake json_intake::next(void* entity, result<void>& why) {
    if (stopped_) { return intake::end; }
    if (!std::exchange(began_, true)) {
        why = source_.take_mark();
        if (!why) {
            stopped_ = true;
            return intake::refused;
        }
    }
    do {
        if (read_line()) { continue; }
        stopped_ = true;
        if (source_.failed()) {
            why = unreadable_text(source_.position());
            return intake::refused;
        }
        refused_.report().ended = true;
        return intake::end;
    } while (!is_cut_ && line_.find_first_not_of(" \t\r") == std::string::npos);
    ++refused_.report().records;
    auto const fault = fill(entity);
    if (!fault) { return intake::entity; }
    why = refused_.refuse(*fault, number_, number_, line_, is_cut_);
    stopped_ = refused_.too_many();
    return intake::refused;
}

} // namespace detail
ENTITABLE_END_NAMESPACE
