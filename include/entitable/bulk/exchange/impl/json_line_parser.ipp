// SPDX-License-Identifier: MIT
// Copyright (c) 2026 the entitable authors
#pragma once

#include <entitable/bulk/exchange/detail/json_line_parser.hpp>
#include <entitable/core/text.hpp>

ENTITABLE_BEGIN_NAMESPACE
namespace detail {

ENTITABLE_DECL bool json_line_parser::fail(std::size_t at, std::string_view message) noexcept {
    fault_at_ = at;
    message_ = message;
    return false;
}

ENTITABLE_DECL void json_line_parser::skip_spaces() noexcept {
    while (at_ < line_.size() && (line_[at_] == ' ' || line_[at_] == '\t' || line_[at_] == '\r')) { ++at_; }
}

ENTITABLE_DECL bool json_line_parser::take(char expected) noexcept {
    bool const found = at_ < line_.size() && line_[at_] == expected;
    at_ += found ? 1 : 0;
    return found;
}

ENTITABLE_DECL bool json_line_parser::take_hexadecimal(std::uint32_t& to) noexcept {
    to = 0;
    for (int digit = 0; digit < 4; ++digit, ++at_) {
        if (at_ == line_.size()) { return false; }
        char const next = line_[at_];
        std::uint32_t const value = next >= '0' && next <= '9' ? static_cast<std::uint32_t>(next - '0')
            : next >= 'a' && next <= 'f'                       ? static_cast<std::uint32_t>(next - 'a') + 10
            : next >= 'A' && next <= 'F'                       ? static_cast<std::uint32_t>(next - 'A') + 10
                                                               : 16;
        if (value == 16) { return false; }
        to = to << 4U | value;
    }
    return true;
}

/// Appends a code point that is not a surrogate.
ENTITABLE_DECL void append_json_code_point(std::string& out, std::uint32_t point) {
    auto const add = [&](std::uint32_t byte) { out += static_cast<char>(static_cast<unsigned char>(byte)); };
    if (point < 0x80) {
        add(point);
    } else if (point < 0x800) {
        add(0xC0U | point >> 6U);
        add(0x80U | (point & 0x3FU));
    } else if (point < 0x10000) {
        add(0xE0U | point >> 12U);
        add(0x80U | (point >> 6U & 0x3FU));
        add(0x80U | (point & 0x3FU));
    } else {
        add(0xF0U | point >> 18U);
        add(0x80U | (point >> 12U & 0x3FU));
        add(0x80U | (point >> 6U & 0x3FU));
        add(0x80U | (point & 0x3FU));
    }
}

ENTITABLE_DECL bool json_line_parser::take_escape() {
    constexpr std::string_view escaped = "\"\\/bfnrt";
    constexpr std::string_view plain = "\"\\/\b\f\n\r\t";
    std::size_t const begin = at_++;
    if (at_ == line_.size()) { return fail(begin, "an escape is not complete"); }
    if (std::size_t const index = escaped.find(line_[at_]); index != std::string_view::npos) {
        bytes_ += plain[index];
        ++at_;
        return true;
    }
    std::uint32_t point = 0;
    if (!take('u') || !take_hexadecimal(point)) { return fail(begin, "an invalid escape in a string"); }
    if (point >= 0xD800 && point < 0xDC00) {
        std::uint32_t low = 0;
        if (!take('\\') || !take('u') || !take_hexadecimal(low) || low < 0xDC00 || low > 0xDFFF) {
            return fail(begin, "the escape of a high surrogate without a low surrogate");
        }
        point = 0x10000 + ((point - 0xD800) << 10U) + (low - 0xDC00);
    } else if (point >= 0xDC00 && point <= 0xDFFF) {
        return fail(begin, "the escape of a low surrogate without a high surrogate");
    }
    append_json_code_point(bytes_, point);
    return true;
}

ENTITABLE_DECL bool json_line_parser::take_string() {
    std::size_t const begin = at_++;
    while (at_ < line_.size()) {
        auto const byte = static_cast<unsigned char>(line_[at_]);
        if (byte == '"') {
            ++at_;
            return true;
        }
        if (byte < 0x20) { return fail(at_, "a control character in a string must be escaped"); }
        if (byte == '\\') {
            if (!take_escape()) { return false; }
        } else {
            bytes_ += line_[at_++];
        }
    }
    return fail(begin, "a string begins here and does not end on this line");
}

ENTITABLE_DECL bool json_line_parser::take_digits() noexcept {
    std::size_t const begin = at_;
    while (at_ < line_.size() && line_[at_] >= '0' && line_[at_] <= '9') { ++at_; }
    return at_ != begin;
}

ENTITABLE_DECL bool json_line_parser::take_number() {
    std::size_t const begin = at_;
    static_cast<void>(take('-'));
    bool good = take('0') || take_digits();
    if (good && take('.')) { good = take_digits(); }
    if (good && (take('e') || take('E'))) {
        static_cast<void>(take('+') || take('-'));
        good = take_digits();
    }
    bytes_.append(line_.substr(begin, at_ - begin));
    return good || fail(begin, "a malformed number");
}

ENTITABLE_DECL bool json_line_parser::take_nested(char close, std::size_t depth) {
    std::size_t const begin = at_++;
    if (depth == max_depth) { return fail(begin, "more than 64 nested arrays or objects"); }
    skip_spaces();
    if (take(close)) { return true; }
    for (;;) {
        if (close == '}') {
            if (at_ == line_.size() || line_[at_] != '"') { return fail(at_, "a name in quotes is expected"); }
            if (!take_string()) { return false; }
            skip_spaces();
            if (!take(':')) { return fail(at_, "a colon is expected"); }
        }
        json_line_member::kind is{};
        if (!take_value(is, depth + 1)) { return false; }
        skip_spaces();
        if (take(close)) { return true; }
        if (!take(',')) { return fail(at_, close == '}' ? "a comma or } is expected" : "a comma or ] is expected"); }
        skip_spaces();
    }
}

ENTITABLE_DECL bool json_line_parser::take_value(json_line_member::kind& is, std::size_t depth) {
    using kind = json_line_member::kind;
    skip_spaces();
    std::string_view const rest = line_.substr(at_);
    if (rest.empty()) { return fail(at_, "a value is expected"); }
    if (rest.front() == '"') {
        is = kind::text;
        return take_string();
    }
    if (rest.front() == '{' || rest.front() == '[') {
        is = kind::nested;
        return take_nested(rest.front() == '{' ? '}' : ']', depth);
    }
    if (rest.front() == '-' || (rest.front() >= '0' && rest.front() <= '9')) {
        is = kind::number;
        return take_number();
    }
    for (std::string_view const word : {"true", "false", "null"}) {
        if (!rest.starts_with(word)) { continue; }
        is = word == "null" ? kind::null : kind::boolean;
        bytes_ += word;
        at_ += word.size();
        return true;
    }
    return fail(at_, "a value is expected");
}

ENTITABLE_DECL bool json_line_parser::take_member() {
    json_line_member made;
    made.at = at_;
    made.name_begin = bytes_.size();
    if (members_.size() == max_members) { return fail(at_, "the object has more than 10000 members"); }
    if (at_ == line_.size() || line_[at_] != '"') { return fail(at_, "a name in quotes is expected"); }
    if (!take_string()) { return false; }
    made.name_end = made.begin = bytes_.size();
    skip_spaces();
    if (!take(':')) { return fail(at_, "a colon is expected"); }
    skip_spaces();
    made.value_at = at_;
    if (!take_value(made.is, 1)) { return false; }
    made.end = bytes_.size();
    members_.push_back(made);
    return true;
}

ENTITABLE_DECL bool json_line_parser::take_object() {
    skip_spaces();
    if (!take('{')) { return fail(at_, "the line is not a JSON object"); }
    skip_spaces();
    if (!take('}')) {
        for (;;) {
            if (!take_member()) { return false; }
            skip_spaces();
            if (take('}')) { break; }
            if (!take(',')) { return fail(at_, "a comma or } is expected"); }
            skip_spaces();
        }
    }
    object_end_ = at_ - 1;
    skip_spaces();
    return at_ == line_.size() || fail(at_, "text follows the object: each line has one object");
}

ENTITABLE_DECL bool json_line_parser::parse(std::string_view line) {
    line_ = line;
    at_ = 0;
    bytes_.clear();
    members_.clear();
    if (std::size_t const valid = text::valid_utf8_prefix(line); valid != line.size()) {
        return fail(valid, "a byte that is not valid UTF-8");
    }
    return take_object();
}

} // namespace detail
ENTITABLE_END_NAMESPACE
