// SPDX-License-Identifier: MIT
// Copyright (c) 2026 the entitable authors

#include "text.hpp"

#include "commands.hpp"
#include <entitable/core/text.hpp>

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>
#include <numeric>

namespace tool {

using entitable::edm_type;

namespace {

constexpr std::string_view hexadecimal_digits = "0123456789abcdef";

void append_hexadecimal(std::string& out, std::uint32_t number, unsigned digits) {
    for (unsigned left = digits; left > 0; --left) { out += hexadecimal_digits[(number >> (4 * (left - 1))) & 15U]; }
}

/// Whether a terminal would do something else than show the character.
bool is_invisible(char32_t point) {
    return point < 0x20 || (point >= 0x7f && point <= 0x9f) || (point >= 0x200b && point <= 0x200f) ||
        (point >= 0x2028 && point <= 0x202e) || (point >= 0x2060 && point <= 0x2069) || point == 0xfeff;
}

std::size_t width_of(char32_t point) {
    if (point < 0x300) { return 1; }
    if (point <= 0x36f || (point >= 0xfe00 && point <= 0xfe0f)) { return 0; }
    bool const wide = (point >= 0x1100 && point <= 0x115f) || (point >= 0x2e80 && point <= 0xa4cf) ||
        (point >= 0xac00 && point <= 0xd7a3) || (point >= 0xf900 && point <= 0xfaff) ||
        (point >= 0xfe30 && point <= 0xfe6f) || (point >= 0xff00 && point <= 0xff60) ||
        (point >= 0xffe0 && point <= 0xffe6) || (point >= 0x1f300 && point <= 0x1faff) ||
        (point >= 0x20000 && point <= 0x3fffd);
    return wide ? 2 : 1;
}

/// Calls `function(bytes, code point or nullopt)` for each character; bytes that are not UTF-8 come one by one.
template <class Function>
void each_character(std::string_view text, Function const& function) {
    while (!text.empty()) {
        entitable::text::code_point const next = entitable::text::first_code_point(text);
        std::size_t const size = next.size == 0 ? 1 : next.size;
        if (!function(text.substr(0, size), next.size == 0 ? std::nullopt : std::optional{next.value})) { return; }
        text.remove_prefix(size);
    }
}

std::string double_text(double number) {
    if (std::isnan(number)) { return "NaN"; }
    if (std::isinf(number)) { return number > 0 ? "Infinity" : "-Infinity"; }
    std::array<char, 32> digits{};
    auto const end = std::to_chars(digits.data(), digits.data() + digits.size(), number);
    std::string text{digits.data(), end.ptr};
    if (text.find_first_of(".e") == std::string::npos) { text += ".0"; }
    return text;
}

void append_base64(std::string& out, std::string_view bytes) {
    constexpr std::string_view digits = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    for (std::size_t at = 0; at < bytes.size(); at += 3) {
        auto const byte = [&](std::size_t index) {
            return at + index < bytes.size() ? static_cast<unsigned char>(bytes[at + index]) : 0U;
        };
        std::uint32_t const three = (byte(0) << 16U) | (byte(1) << 8U) | byte(2);
        out += digits[three >> 18U];
        out += digits[(three >> 12U) & 63U];
        out += at + 1 < bytes.size() ? digits[(three >> 6U) & 63U] : '=';
        out += at + 2 < bytes.size() ? digits[three & 63U] : '=';
    }
}

std::optional<std::string> from_base64(std::string_view text) {
    if (text.size() % 4 != 0) { return std::nullopt; }
    std::string bytes;
    for (std::size_t at = 0; at < text.size(); at += 4) {
        std::uint32_t four = 0;
        std::size_t padding = 0;
        for (std::size_t index = 0; index < 4; ++index) {
            char const each = text[at + index];
            std::uint32_t digit = 0;
            if (each >= 'A' && each <= 'Z') {
                digit = static_cast<std::uint32_t>(each - 'A');
            } else if (each >= 'a' && each <= 'z') {
                digit = static_cast<std::uint32_t>(each - 'a' + 26);
            } else if (each >= '0' && each <= '9') {
                digit = static_cast<std::uint32_t>(each - '0' + 52);
            } else if (each == '+') {
                digit = 62;
            } else if (each == '/') {
                digit = 63;
            } else if (each == '=' && index >= 2 && at + 4 == text.size()) {
                ++padding;
            } else {
                return std::nullopt;
            }
            if (padding > 0 && each != '=') { return std::nullopt; }
            four = (four << 6U) | digit;
        }
        bytes += static_cast<char>(four >> 16U);
        if (padding < 2) { bytes += static_cast<char>((four >> 8U) & 255U); }
        if (padding < 1) { bytes += static_cast<char>(four & 255U); }
    }
    return bytes;
}

template <class Number>
entitable::result<entitable::value> parse_number(std::string_view text, std::string_view expected) {
    Number number{};
    auto const read = std::from_chars(text.data(), text.data() + text.size(), number);
    if (text.empty() || read.ec != std::errc{} || read.ptr != text.data() + text.size()) {
        return refuse("\"" + printable(text.substr(0, 64)) + "\" is not " + std::string{expected});
    }
    return entitable::value{entitable::value_view{number}};
}

} // namespace

std::string printable(std::string_view text) {
    std::string made;
    made.reserve(text.size());
    each_character(text, [&](std::string_view bytes, std::optional<char32_t> point) {
        if (!point) {
            made += "\\x";
            append_hexadecimal(made, static_cast<unsigned char>(bytes.front()), 2);
        } else if (*point == '\n') {
            made += "\\n";
        } else if (*point == '\r') {
            made += "\\r";
        } else if (*point == '\t') {
            made += "\\t";
        } else if (is_invisible(*point)) {
            made += *point < 0x100 ? "\\x" : "\\u";
            append_hexadecimal(made, *point, *point < 0x100 ? 2 : 4);
        } else {
            made += bytes;
        }
        return true;
    });
    return made;
}

std::string printable_lines(std::string_view text) {
    std::string made;
    while (!text.empty()) {
        std::size_t const end = (std::min)(text.find('\n'), text.size());
        made += printable(text.substr(0, end));
        if (end < text.size()) { made += '\n'; }
        text.remove_prefix((std::min)(end + 1, text.size()));
    }
    return made;
}

std::size_t display_width(std::string_view text) {
    std::size_t width = 0;
    each_character(text, [&](std::string_view, std::optional<char32_t> point) {
        width += point ? width_of(*point) : 1;
        return true;
    });
    return width;
}

std::string cut(std::string_view text, std::size_t width) {
    if (text.size() <= width || display_width(text) <= width) { return std::string{text}; }
    std::string made;
    std::size_t const room = width > 2 ? width - 2 : 0;
    std::size_t used = 0;
    each_character(text, [&](std::string_view bytes, std::optional<char32_t> point) {
        used += point ? width_of(*point) : 1;
        if (used > room) { return false; }
        made += bytes;
        return true;
    });
    return made + std::string{".."}.substr(0, width);
}

std::string plain_text(entitable::value_view shown) {
    switch (shown.type()) {
        case edm_type::string: return std::string{shown.as_string()};
        case edm_type::int32: return std::to_string(shown.as_int32());
        case edm_type::int64: return std::to_string(shown.as_int64());
        case edm_type::float64: return double_text(shown.as_float64());
        case edm_type::boolean: return shown.as_boolean() ? "true" : "false";
        case edm_type::date_time: return shown.as_date_time().to_string(true);
        case edm_type::guid: return shown.as_guid().to_string();
        case edm_type::binary: {
            std::string text;
            append_base64(text, shown.bytes());
            return text;
        }
    }
    return {};
}

std::optional<edm_type> type_of_name(std::string_view name) {
    struct known {
        std::string_view name;
        edm_type type;
    };
    constexpr known all[] = {{"string", edm_type::string}, {"text", edm_type::string}, {"int32", edm_type::int32},
        {"int", edm_type::int32}, {"int64", edm_type::int64}, {"double", edm_type::float64},
        {"float64", edm_type::float64}, {"boolean", edm_type::boolean}, {"bool", edm_type::boolean},
        {"datetime", edm_type::date_time}, {"time", edm_type::date_time}, {"guid", edm_type::guid},
        {"binary", edm_type::binary}};
    std::string const lower = entitable::text::ascii_lower(name.starts_with("Edm.") ? name.substr(4) : name);
    for (known const& each : all) {
        if (each.name == lower) { return each.type; }
    }
    return std::nullopt;
}

entitable::result<entitable::value> parse_value(edm_type type, std::string_view text) {
    std::string const shown = "\"" + printable(text.substr(0, 64)) + "\"";
    switch (type) {
        case edm_type::string: return entitable::value{entitable::value_view{text}};
        case edm_type::int32: return parse_number<std::int32_t>(text, "an integer of 32 bits");
        case edm_type::int64: return parse_number<std::int64_t>(text, "an integer of 64 bits");
        case edm_type::float64: {
            if (text == "NaN") { return entitable::value{entitable::value_view{std::nan("")}}; }
            if (text == "Infinity") { return entitable::value{entitable::value_view{HUGE_VAL}}; }
            if (text == "-Infinity") { return entitable::value{entitable::value_view{-HUGE_VAL}}; }
            return parse_number<double>(text, "a number");
        }
        case edm_type::boolean:
            if (text != "true" && text != "false") { return refuse(shown + " is neither true nor false"); }
            return entitable::value{entitable::value_view{text == "true"}};
        case edm_type::date_time: {
            auto time = entitable::date_time::parse(text);
            if (!time) { time = entitable::date_time::parse_date(text); }
            if (!time) { return refuse(shown + " is not a time such as 2026-01-31T12:00:00Z"); }
            return entitable::value{entitable::value_view{*time}};
        }
        case edm_type::guid: {
            auto const id = entitable::guid::parse(text);
            if (!id) { return refuse(shown + " is not a GUID such as c9da6455-213d-42c9-9a79-3e9149a57833"); }
            std::string_view const bytes{reinterpret_cast<char const*>(id->bytes.data()), id->bytes.size()};
            return entitable::value{entitable::value_view{edm_type::guid, bytes}};
        }
        case edm_type::binary: {
            auto const bytes = from_base64(text);
            if (!bytes) { return refuse(shown + " is not base64"); }
            return entitable::value{entitable::value_view{edm_type::binary, std::string_view{*bytes}}};
        }
    }
    return refuse("unknown type");
}

void append_csv_field(std::string& out, std::string_view text) {
    bool const spaced = !text.empty() && (text.front() == ' ' || text.back() == ' ');
    if (!text.empty() && !spaced && text.find_first_of(",\"\r\n") == std::string_view::npos) {
        out += text;
        return;
    }
    out += '"';
    for (char const each : text) {
        if (each == '"') { out += '"'; }
        out += each;
    }
    out += '"';
}

// ---- tables ---------------------------------------------------------------------------------------------------

namespace {

constexpr std::size_t gap = 2;           // spaces between columns
constexpr std::size_t least_width = 6;   // of a column that is made narrower
constexpr std::size_t padded_width = 60; // of a column that is not on a terminal: a longer cell moves its line only
constexpr std::size_t rows_measured = 100;

/// Makes the widest columns narrower until a line fits.
void fit(std::vector<std::size_t>& widths, std::size_t room) {
    auto const total = [&] {
        return std::accumulate(widths.begin(), widths.end(), std::size_t{0}) +
            gap * (widths.empty() ? 0 : widths.size() - 1);
    };
    while (!widths.empty() && total() > room) {
        auto const widest = std::max_element(widths.begin(), widths.end());
        if (*widest <= least_width) { return; }
        --*widest;
    }
}

} // namespace

text_table::text_table(console& with, std::vector<column> columns) : with_(with), columns_(std::move(columns)) {}

void text_table::add(std::vector<std::string> cells) {
    if (decided_) {
        write_line(cells, false);
        return;
    }
    waiting_.push_back(std::move(cells));
    if (waiting_.size() == rows_measured) { flush(); }
}

void text_table::flush() {
    if (!decided_) {
        decide_widths();
        std::vector<std::string> names;
        for (column const& each : columns_) { names.push_back(each.name); }
        write_line(names, true);
    }
    for (auto const& each : waiting_) { write_line(each, false); }
    waiting_.clear();
}

void text_table::finish() {
    flush();
    if (shown_ < columns_.size() && with_.can_write()) {
        with_.out.flush();
        with_.err << columns_.size() - shown_
                  << " more columns do not fit: --select chooses columns, --format jsonl shows all\n";
    }
}

void text_table::decide_widths() {
    decided_ = true;
    for (column const& each : columns_) { widths_.push_back(display_width(each.name)); }
    for (auto const& cells : waiting_) {
        for (std::size_t at = 0; at < columns_.size() && at < cells.size(); ++at) {
            widths_[at] = (std::max)(widths_[at], display_width(cells[at]));
        }
    }
    shown_ = columns_.size();
    if (!with_.out_is_terminal) {
        for (std::size_t& each : widths_) { each = (std::min)(each, padded_width); }
        return;
    }
    for (; shown_ > 0; --shown_) {
        std::vector<std::size_t> fitting{widths_.begin(), widths_.begin() + static_cast<std::ptrdiff_t>(shown_)};
        fit(fitting, with_.width);
        std::size_t const used = std::accumulate(fitting.begin(), fitting.end(), gap * (shown_ - 1));
        if (used <= with_.width || shown_ == 1) {
            if (used > with_.width) { fitting.front() = with_.width; }
            widths_ = std::move(fitting);
            return;
        }
    }
}

void text_table::write_line(std::vector<std::string> const& cells, bool is_header) {
    std::string line;
    std::size_t owed = 0; // spaces are written in front of the next cell only: no line ends in spaces
    for (std::size_t at = 0; at < shown_; ++at) {
        std::string const cell = at >= cells.size() ? std::string{}
            : with_.out_is_terminal                 ? cut(cells[at], widths_[at])
                                                    : cells[at];
        std::size_t const used = display_width(cell);
        std::size_t const padding = used < widths_[at] ? widths_[at] - used : 0;
        if (columns_[at].right) { owed += padding; }
        if (!cell.empty()) {
            line.append(owed, ' ');
            owed = 0;
            line += cell;
        }
        owed += (columns_[at].right ? 0 : padding) + gap;
    }
    if (is_header && with_.colours) {
        with_.out << "\x1b[1m" << line << "\x1b[0m\n";
    } else {
        with_.out << line << '\n';
    }
}

} // namespace tool
