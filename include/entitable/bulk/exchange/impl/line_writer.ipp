// SPDX-License-Identifier: MIT
// Copyright (c) 2026 the entitable authors
#pragma once

#include <entitable/bulk/exchange/detail/line_writer.hpp>
#include <entitable/core/text.hpp>

ENTITABLE_BEGIN_NAMESPACE
namespace detail {

ENTITABLE_DECL void append_csv_field(std::string& out, std::string_view content, char separator) {
    char const special[] = {separator, '"', '\n', '\r'};
    bool const plain = !content.empty() &&
        content.find_first_of(std::string_view{special, sizeof special}) == std::string_view::npos &&
        content.front() != ' ' && content.back() != ' ' && !content.starts_with("\xEF\xBB\xBF");
    if (plain) {
        out += content;
        return;
    }
    out += '"';
    for (std::size_t quote = content.find('"'); quote != std::string_view::npos; quote = content.find('"')) {
        out.append(content.substr(0, quote + 1)).append(1, '"');
        content.remove_prefix(quote + 1);
    }
    out.append(content).append(1, '"');
}

ENTITABLE_DECL result<void> line_writer::pass_on(bool all) {
    constexpr std::size_t enough = std::size_t{64} << 10U;
    if (!all && buffer_.size() < enough) { return {}; }
    out_->write(buffer_.data(), static_cast<std::streamsize>(buffer_.size()));
    if (all) { out_->flush(); }
    if (!out_->good()) { return failure{error_code::store_failed, "the stream cannot be written"}; }
    buffer_.clear();
    return {};
}

ENTITABLE_DECL failure line_writer::no_text(text_column const& column) const {
    return failure{error_code::out_of_range_input,
        text::joined({"the entity ", std::to_string(written_), " of the range, a ", columns_.entity, ": the member \"",
            column.full_name(),
            ("\" has a value without a text: an enumerator without a name, a time outside of the years 1601 to 9999, "
             "or "
             "a text that is not UTF-8")})};
}

ENTITABLE_DECL result<void> line_writer::begin_csv(csv_write_options const& options) {
    options_ = options;
    if (!is_csv_separator(options.separator)) {
        return failure{error_code::invalid_input, "a quote or a line end cannot separate the fields of a CSV text"};
    }
    if (options.bom) { buffer_ += "\xEF\xBB\xBF"; }
    for (std::size_t column = 0; column < columns_.count; ++column) {
        if (column != 0) { buffer_ += options_.separator; }
        append_csv_field(buffer_, columns_[column].full_name(), options_.separator);
    }
    buffer_ += options_.crlf ? "\r\n" : "\n";
    return {};
}

ENTITABLE_DECL result<void> line_writer::write_csv_record(void const* entity) {
    for (std::size_t column = 0; column < columns_.count; ++column) {
        if (column != 0) { buffer_ += options_.separator; }
        content_.clear();
        column_text const made = columns_[column].write(entity, content_);
        if (made == column_text::refused) { return no_text(columns_[column]); }
        if (made == column_text::written) { append_csv_field(buffer_, content_, options_.separator); }
    }
    buffer_ += options_.crlf ? "\r\n" : "\n";
    ++written_;
    return pass_on(false);
}

/// Appends a JSON string (RFC 8259, 7).
ENTITABLE_DECL void append_json_line_string(std::string& out, std::string_view content) {
    constexpr char digits[] = "0123456789abcdef";
    constexpr std::string_view letters = "btn?fr"; // for the characters 8 to 13; 11 has no letter
    out += '"';
    std::size_t begin = 0;
    for (std::size_t at = 0; at < content.size(); ++at) {
        auto const byte = static_cast<unsigned char>(content[at]);
        if (byte >= 0x20 && byte != '"' && byte != '\\') { continue; }
        out.append(content.substr(begin, at - begin)).append(1, '\\');
        begin = at + 1;
        if (byte >= 0x20) {
            out += content[at];
        } else if (byte >= 8 && byte <= 13 && byte != 11) {
            out += letters[byte - 8U];
        } else {
            out.append("u00").append(1, digits[byte >> 4U]).append(1, digits[byte & 0xFU]);
        }
    }
    out.append(content.substr(begin)).append(1, '"');
}

ENTITABLE_DECL result<void> line_writer::write_json_line(void const* entity) {
    char next = '{';
    for (std::size_t column = 0; column < columns_.count; ++column) {
        content_.clear();
        column_text const made = columns_[column].write(entity, content_);
        if (made == column_text::refused) { return no_text(columns_[column]); }
        if (made == column_text::absent) { continue; }
        buffer_ += std::exchange(next, ',');
        append_json_line_string(buffer_, columns_[column].full_name());
        buffer_ += ':';
        bool const has_digits = content_.find_first_of("NI") == std::string::npos; // in NaN and Infinity
        if (columns_[column].is_number_or_boolean() && has_digits) {
            buffer_ += content_;
        } else {
            append_json_line_string(buffer_, content_);
        }
    }
    buffer_ += next == '{' ? "{}\n" : "}\n";
    ++written_;
    return pass_on(false);
}

ENTITABLE_DECL result<void> line_writer::finish() { return pass_on(true); }

} // namespace detail
ENTITABLE_END_NAMESPACE
