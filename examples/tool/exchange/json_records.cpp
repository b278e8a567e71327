// SPDX-License-Identifier: MIT
// Copyright (c) 2026 the entitable authors

#include "records.hpp"
#include "value_text.hpp"
#include <entitable/core/text.hpp>

#include <charconv>

namespace tool {

namespace {

constexpr std::string_view type_suffix = "@odata.type";

void skip_space(std::string_view& rest) {
    std::size_t const first = rest.find_first_not_of(" \t\r\n");
    rest.remove_prefix(first == std::string_view::npos ? rest.size() : first);
}

bool take_character(std::string_view& rest, char wanted) {
    skip_space(rest);
    if (!rest.starts_with(wanted)) { return false; }
    rest.remove_prefix(1);
    return true;
}

void append_utf8(std::string& out, std::uint32_t point) {
    auto const put = [&](std::uint32_t byte) { out += static_cast<char>(static_cast<unsigned char>(byte)); };
    if (point < 0x80) {
        put(point);
    } else if (point < 0x800) {
        put(0xC0U | (point >> 6U));
        put(0x80U | (point & 63U));
    } else if (point < 0x10000) {
        put(0xE0U | (point >> 12U));
        put(0x80U | ((point >> 6U) & 63U));
        put(0x80U | (point & 63U));
    } else {
        put(0xF0U | (point >> 18U));
        put(0x80U | ((point >> 12U) & 63U));
        put(0x80U | ((point >> 6U) & 63U));
        put(0x80U | (point & 63U));
    }
}

/// Takes four hexadecimal digits.
bool take_unit(std::string_view& rest, std::uint32_t& unit) {
    if (rest.size() < 4) { return false; }
    auto const read = std::from_chars(rest.data(), rest.data() + 4, unit, 16);
    bool const good = read.ec == std::errc{} && read.ptr == rest.data() + 4;
    rest.remove_prefix(4);
    return good;
}

/// Takes a code point after `\u`: one unit, or two surrogates.
bool take_escaped_point(std::string_view& rest, std::uint32_t& point) {
    if (!take_unit(rest, point)) { return false; }
    if (point < 0xD800 || point > 0xDFFF) { return true; }
    std::uint32_t low = 0;
    if (point > 0xDBFF || !rest.starts_with("\\u")) { return false; }
    rest.remove_prefix(2);
    if (!take_unit(rest, low) || low < 0xDC00 || low > 0xDFFF) { return false; }
    point = 0x10000 + ((point - 0xD800) << 10U) + (low - 0xDC00);
    return true;
}

/// Whether the text is a number as JSON defines it.
bool is_json_number(std::string_view text) {
    if (text.starts_with('-')) { text.remove_prefix(1); }
    auto const take_digits = [&] {
        std::size_t const count = (std::min)(text.find_first_not_of("0123456789"), text.size());
        text.remove_prefix(count);
        return count;
    };
    bool const zero = text.starts_with('0');
    std::size_t const whole = take_digits();
    if (whole == 0 || (zero && whole > 1)) { return false; }
    if (text.starts_with('.')) {
        text.remove_prefix(1);
        if (take_digits() == 0) { return false; }
    }
    if (text.starts_with('e') || text.starts_with('E')) {
        text.remove_prefix(1);
        if (text.starts_with('+') || text.starts_with('-')) { text.remove_prefix(1); }
        if (take_digits() == 0) { return false; }
    }
    return text.empty();
}

} // namespace

bool json_records::fail(std::string message) {
    fault_ = std::move(message);
    fields_.clear();
    return false;
}

std::string& json_records::new_text() {
    if (used_texts_ == texts_.size()) { texts_.push_back(std::make_unique<std::string>()); }
    std::string& made = *texts_[used_texts_++];
    made.clear();
    return made;
}

/// Parses a text in quotes. Without escapes the result refers to the line.
bool json_records::parse_text(std::string_view& rest, std::string_view& out) {
    if (!take_character(rest, '"')) { return fail("a name or a text in quotes is missing"); }
    std::size_t const special = rest.find_first_of("\"\\");
    if (special != std::string_view::npos && rest[special] == '"') {
        out = rest.substr(0, special);
        rest.remove_prefix(special + 1);
        return true;
    }
    std::string& text = new_text();
    for (;;) {
        std::size_t const stop = rest.find_first_of("\"\\");
        if (stop == std::string_view::npos) { return fail("a text has no second quote"); }
        text += rest.substr(0, stop);
        bool const ends = rest[stop] == '"';
        rest.remove_prefix(stop + 1);
        if (ends) { break; }
        if (rest.empty()) { return fail("a text has no second quote"); }
        char const escaped = rest.front();
        rest.remove_prefix(1);
        constexpr std::string_view names = "\"\\/bfnrt";
        constexpr std::string_view meanings = "\"\\/\b\f\n\r\t";
        std::uint32_t point = 0;
        if (std::size_t const known = names.find(escaped); known != std::string_view::npos) {
            text += meanings[known];
        } else if (escaped == 'u' && take_escaped_point(rest, point)) {
            append_utf8(text, point);
        } else {
            return fail("a text contains an invalid escape after \\");
        }
    }
    out = text;
    return true;
}

bool json_records::parse_scalar(std::string_view& rest, field& into) {
    skip_space(rest);
    if (rest.starts_with('"')) {
        into.form = field_form::text;
        return parse_text(rest, into.text);
    }
    if (rest.starts_with('{') || rest.starts_with('[')) {
        return fail("the member \"" + entitable::text::printable(into.name) +
            "\" is an object or an array; a property is a text, a number, true, false or null");
    }
    into.text = rest.substr(0, rest.find_first_of(" \t\r\n,}"));
    rest.remove_prefix(into.text.size());
    if (into.text == "null") {
        into.form = field_form::absent;
        into.text = {};
    } else if (into.text == "true" || into.text == "false") {
        into.form = field_form::boolean;
    } else if (is_json_number(into.text)) {
        into.form = field_form::number;
    } else {
        return fail("the value of \"" + entitable::text::printable(into.name) + "\" is not JSON");
    }
    return true;
}

/// Moves the types that the record names to their members.
bool json_records::add_types() {
    std::vector<field> values;
    values.reserve(fields_.size());
    for (field const& each : fields_) {
        if (!each.name.ends_with(type_suffix)) { values.push_back(each); }
    }
    if (values.size() == fields_.size()) { return true; }
    for (field const& each : fields_) {
        if (!each.name.ends_with(type_suffix)) { continue; }
        std::string_view const name = each.name.substr(0, each.name.size() - type_suffix.size());
        auto const type = type_named(each.text);
        if (!type) {
            return fail("the type \"" + entitable::text::printable(each.text) + "\" of \"" +
                entitable::text::printable(name) + "\" is unknown");
        }
        for (field& value : values) {
            if (value.name == name) { value.type = type; }
        }
    }
    fields_.swap(values);
    return true;
}

bool json_records::parse(std::string_view line) {
    std::string_view rest = line;
    if (!take_character(rest, '{')) { return fail("the line is not a JSON object"); }
    bool named_types = false;
    if (!take_character(rest, '}')) {
        do {
            field made;
            if (!parse_text(rest, made.name)) { return false; }
            if (!take_character(rest, ':')) { return fail("a colon is missing after a name"); }
            if (!parse_scalar(rest, made)) { return false; }
            for (field const& each : fields_) {
                if (each.name == made.name) {
                    return fail("the member \"" + entitable::text::printable(made.name) + "\" is there twice");
                }
            }
            named_types = named_types || made.name.ends_with(type_suffix);
            fields_.push_back(made);
        } while (take_character(rest, ','));
        if (!take_character(rest, '}')) { return fail("a comma or } is missing"); }
    }
    skip_space(rest);
    if (!rest.empty()) { return fail("text follows the object"); }
    return !named_types || add_types();
}

bool json_records::next() {
    for (;;) {
        fields_.clear();
        fault_.clear();
        used_texts_ = 0;
        skip_cut_line();
        if (!take_line()) { return false; }
        if (is_cut_) {
            fault_ = "the line is longer than 8 MiB";
            return true;
        }
        if (raw_.find_first_not_of(" \t\r\n") == std::string_view::npos) { continue; }
        static_cast<void>(parse(raw_));
        return true;
    }
}

} // namespace tool
