// SPDX-License-Identifier: MIT
// Copyright (c) 2026 the entitable authors
#pragma once

#include <entitable/bulk/exchange/detail/csv_parser.hpp>

#include <algorithm>
#include <cstring>

ENTITABLE_BEGIN_NAMESPACE
namespace detail {

ENTITABLE_DECL void csv_parser::complain(text_position at, std::string message) {
    if (!fault_) { fault_ = record_fault{at, {}, error_code::invalid_input, std::move(message)}; }
}

/// Takes bytes from the source and keeps them as part of the record.
ENTITABLE_DECL void csv_parser::take(std::size_t count) {
    if (count > max_record_ - raw_.size()) {
        raw_.append(source_.rest().substr(0, max_record_ - raw_.size()));
        is_cut_ = true;
        complain({first_line_, 1}, "the record has more than " + std::to_string(max_record_) + " bytes");
    } else {
        raw_.append(source_.rest().substr(0, count));
    }
    source_.take(count);
}

/// Takes bytes that belong to a field.
ENTITABLE_DECL void csv_parser::take_to(std::string& bytes, std::size_t count) {
    if (!is_cut_) { bytes.append(source_.rest().substr(0, count)); }
    take(count);
}

ENTITABLE_DECL void csv_parser::read_quoted(csv_field& field) {
    take(1);
    while (source_.has_more()) {
        std::string_view const rest = source_.rest();
        std::size_t const stop = rest.find_first_of("\"\n");
        if (stop == std::string_view::npos) {
            take_to(bytes_, rest.size());
        } else if (rest[stop] == '\n') {
            take_to(bytes_, stop + 1);
        } else {
            take_to(bytes_, stop);
            take(1);
            if (!source_.has_more() || source_.front() != '"') { return; }
            take_to(bytes_, 1); // a doubled quote is one quote
        }
    }
    complain(field.at, "a quote opens here and is never closed");
}

ENTITABLE_DECL void csv_parser::read_plain() {
    char const stops[] = {separator_, '"', '\n', '\r'};
    while (source_.has_more()) {
        std::string_view const rest = source_.rest();
        std::size_t const stop = rest.find_first_of(std::string_view{stops, sizeof stops});
        take_to(bytes_, (std::min)(stop, rest.size()));
        if (stop != std::string_view::npos) { return; }
    }
}

/// Takes LF or CR LF, which does not become part of the record; false for a CR without LF, which is taken.
ENTITABLE_DECL bool csv_parser::take_line_end() {
    end_ = source_.position();
    last_line_ = end_.line;
    if (source_.front() == '\r') {
        take(1);
        if (!source_.has_more() || source_.front() != '\n') { return false; }
        if (!is_cut_) { raw_.pop_back(); }
    }
    source_.take(1);
    return true;
}

/// Takes the rest of the line, which is part of a malformed record.
ENTITABLE_DECL void csv_parser::skip_line() {
    while (source_.has_more()) {
        std::string_view const rest = source_.rest();
        std::size_t const stop = rest.find('\n');
        take((std::min)(stop, rest.size()));
        last_line_ = source_.position().line;
        if (stop != std::string_view::npos) {
            source_.take(1);
            break;
        }
    }
    if (!raw_.empty() && raw_.back() == '\r') { raw_.pop_back(); }
}

ENTITABLE_DECL csv_parser::after csv_parser::read_end_of_field(bool quoted) {
    if (!source_.has_more()) {
        end_ = source_.position();
        last_line_ = end_.line;
        return after::record;
    }
    char const next = source_.front();
    if (next == separator_) {
        take(1);
        return after::field;
    }
    text_position const at = source_.position();
    if (next == '\n' || next == '\r') {
        if (take_line_end()) { return after::record; }
        complain(at, "a carriage return without a line feed must be inside quotes");
    } else {
        complain(at,
            quoted ? "text follows a closing quote: a quote inside a quoted field is written twice"
                   : "a quote inside a field that does not begin with one: quote the field and double the quote");
    }
    skip_line();
    return after::record;
}

ENTITABLE_DECL csv_parser::after csv_parser::read_field() {
    csv_field field{source_.position(), bytes_.size(), 0, source_.has_more() && source_.front() == '"'};
    if (field.quoted) {
        read_quoted(field);
    } else {
        read_plain();
    }
    field.end = bytes_.size();
    if (fields_.size() == max_fields) {
        complain(field.at, "the record has more than " + std::to_string(max_fields) + " fields");
    } else if (!is_cut_) {
        fields_.push_back(field);
    }
    return read_end_of_field(field.quoted);
}

ENTITABLE_DECL bool csv_parser::next(bool keep_empty) {
    bytes_.clear();
    raw_.clear();
    fields_.clear();
    fault_.reset();
    is_cut_ = false;
    while (source_.has_more()) {
        first_line_ = source_.position().line;
        while (read_field() == after::field) {}
        if (source_.failed()) { return false; }
        if (fault_) {
            fields_.clear();
            return true;
        }
        if (keep_empty || fields_.size() > 1 || fields_.front().quoted || fields_.front().end != 0) { return true; }
        fields_.clear();
        raw_.clear();
    }
    return false;
}

} // namespace detail
ENTITABLE_END_NAMESPACE
