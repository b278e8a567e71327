// SPDX-License-Identifier: MIT
// Copyright (c) 2026 the entitable authors

#include "commands.hpp"
#include "text.hpp"
#include <entitable/core/text.hpp>
#include <entitable/core/try.hpp>

#include <algorithm>

namespace tool {

using entitable::edm_type;

namespace {

constexpr std::string_view type_suffix = "@odata.type";

/// Whether a JSON value without annotation is read back as this type.
bool is_plain(entitable::value_view shown) {
    switch (shown.type()) {
        case edm_type::string:
        case edm_type::int32:
        case edm_type::boolean: return true;
        case edm_type::float64: return shown.as_float64() - shown.as_float64() == 0; // finite
        default: return false;
    }
}

/// One member of an object: strings without escapes, all other values as their text.
struct member {
    enum class kind : std::uint8_t { text, number, boolean, null };
    std::string name;
    kind is{};
    std::string content;
};

/// Reads one object of scalars.
class object_reader {
public:
    explicit object_reader(std::string_view line) : line_(line) {}

    [[nodiscard]] entitable::result<std::vector<member>> read() {
        std::vector<member> members;
        skip_spaces();
        if (!take('{')) { return fail("expected an object"); }
        skip_spaces();
        if (!take('}')) {
            do {
                skip_spaces();
                member next;
                if (!take_string(next.name)) { return fail("expected the name of a member in quotes"); }
                skip_spaces();
                if (!take(':')) { return fail("expected a colon"); }
                skip_spaces();
                if (!take_value(next)) { return fail("expected a string, a number, true, false or null"); }
                members.push_back(std::move(next));
                skip_spaces();
            } while (take(','));
            if (!take('}')) { return fail("expected a comma or a closing brace"); }
        }
        skip_spaces();
        if (at_ != line_.size()) { return fail("unexpected text after the object"); }
        return members;
    }

private:
    [[nodiscard]] entitable::failure fail(std::string_view message) const {
        return refuse("column " + std::to_string(at_ + 1) + ": " + std::string{message});
    }
    void skip_spaces() {
        while (at_ < line_.size() && std::string_view{" \t\r\n"}.find(line_[at_]) != std::string_view::npos) { ++at_; }
    }
    [[nodiscard]] bool take(char expected) {
        bool const found = at_ < line_.size() && line_[at_] == expected;
        at_ += found ? 1 : 0;
        return found;
    }
    [[nodiscard]] bool take_word(std::string_view word) {
        bool const found = line_.substr(at_).starts_with(word);
        at_ += found ? word.size() : 0;
        return found;
    }
    [[nodiscard]] bool take_value(member& to) {
        if (at_ < line_.size() && line_[at_] == '"') {
            to.is = member::kind::text;
            return take_string(to.content);
        }
        std::size_t const begin = at_;
        if (take_word("true") || take_word("false")) {
            to.is = member::kind::boolean;
        } else if (take_word("null")) {
            to.is = member::kind::null;
        } else {
            to.is = member::kind::number;
            while (
                at_ < line_.size() && std::string_view{"0123456789+-.eE"}.find(line_[at_]) != std::string_view::npos) {
                ++at_;
            }
        }
        to.content = line_.substr(begin, at_ - begin);
        return at_ != begin;
    }
    [[nodiscard]] bool take_string(std::string& to) {
        if (!take('"')) { return false; }
        while (at_ < line_.size()) {
            char const each = line_[at_];
            if (each == '"') {
                ++at_;
                return entitable::text::valid_utf8_prefix(to) == to.size();
            }
            if (static_cast<unsigned char>(each) < 0x20) { return false; }
            ++at_;
            if (each != '\\') {
                to += each;
            } else if (!take_escape(to)) {
                return false;
            }
        }
        return false;
    }
    [[nodiscard]] bool take_escape(std::string& to) {
        if (at_ == line_.size()) { return false; }
        char const kind = line_[at_++];
        constexpr std::string_view names = "\"\\/bfnrt";
        constexpr std::string_view meanings = "\"\\/\b\f\n\r\t";
        if (std::size_t const known = names.find(kind); known != std::string_view::npos) {
            to += meanings[known];
            return true;
        }
        char32_t unit = 0;
        if (kind != 'u' || !take_unit(unit)) { return false; }
        if (unit >= 0xdc00 && unit <= 0xdfff) { return false; }
        if (unit >= 0xd800 && unit <= 0xdbff) {
            char32_t low = 0;
            if (!take_word("\\u") || !take_unit(low) || low < 0xdc00 || low > 0xdfff) { return false; }
            unit = 0x10000 + ((unit - 0xd800) << 10U) + (low - 0xdc00);
        }
        append_utf8(to, unit);
        return true;
    }
    [[nodiscard]] bool take_unit(char32_t& to) {
        if (line_.size() - at_ < 4) { return false; }
        for (int digit = 0; digit < 4; ++digit) {
            char const each = line_[at_++];
            char32_t const number = each >= '0' && each <= '9' ? static_cast<char32_t>(each - '0')
                : each >= 'a' && each <= 'f'                   ? static_cast<char32_t>(each - 'a' + 10)
                : each >= 'A' && each <= 'F'                   ? static_cast<char32_t>(each - 'A' + 10)
                                                               : char32_t{16};
            if (number == 16) { return false; }
            to = (to << 4U) | number;
        }
        return true;
    }
    static void append_utf8(std::string& to, char32_t point) {
        auto const byte = [&](char32_t bits) { to += static_cast<char>(static_cast<unsigned char>(bits)); };
        if (point < 0x80) {
            byte(point);
        } else if (point < 0x800) {
            byte(0xc0U | (point >> 6U));
            byte(0x80U | (point & 63U));
        } else if (point < 0x10000) {
            byte(0xe0U | (point >> 12U));
            byte(0x80U | ((point >> 6U) & 63U));
            byte(0x80U | (point & 63U));
        } else {
            byte(0xf0U | (point >> 18U));
            byte(0x80U | ((point >> 12U) & 63U));
            byte(0x80U | ((point >> 6U) & 63U));
            byte(0x80U | (point & 63U));
        }
    }

    std::string_view line_;
    std::size_t at_{};
};

/// The value of a member without annotation.
entitable::result<entitable::value> value_of(member const& given) {
    switch (given.is) {
        case member::kind::text: return entitable::value{entitable::value_view{std::string_view{given.content}}};
        case member::kind::boolean: return parse_value(edm_type::boolean, given.content);
        default: break;
    }
    if (given.content.find_first_of(".eE") != std::string::npos) {
        return parse_value(edm_type::float64, given.content);
    }
    auto number = parse_value(edm_type::int32, given.content);
    return number ? std::move(number) : parse_value(edm_type::int64, given.content);
}

entitable::failure in_member(std::string const& name, entitable::error const& reason) {
    return refuse("member \"" + printable(name) + "\": " + reason.message);
}

/// Builds the row from the members.
class row_from_members {
public:
    explicit row_from_members(std::vector<member> const& members) : members_(members) {}

    [[nodiscard]] entitable::result<entitable::row> build() {
        ENTITABLE_TRY(std::string const partition, key("PartitionKey"));
        ENTITABLE_TRY(std::string const row, key("RowKey"));
        entitable::row_builder made{partition, row};
        for (std::size_t at = 0; at < members_.size(); ++at) {
            member const& each = members_[at];
            bool const repeated = std::any_of(members_.begin(), members_.begin() + static_cast<std::ptrdiff_t>(at),
                [&](member const& other) { return other.name == each.name; });
            if (repeated) { return refuse("member \"" + printable(each.name) + "\" appears twice"); }
            if (is_left_out(each)) { continue; }
            ENTITABLE_TRY(entitable::value const value, typed_value(each));
            made.add(each.name, value.view());
        }
        return made.build();
    }

private:
    [[nodiscard]] member const* find(std::string_view name) const {
        auto const found =
            std::find_if(members_.begin(), members_.end(), [&](member const& each) { return each.name == name; });
        return found == members_.end() ? nullptr : &*found;
    }
    [[nodiscard]] entitable::result<std::string> key(std::string_view name) const {
        member const* const found = find(name);
        if (found == nullptr || found->is != member::kind::text) {
            return refuse("the member \"" + std::string{name} + "\" is missing or not a string");
        }
        return found->content;
    }
    [[nodiscard]] static bool is_left_out(member const& each) {
        return each.is == member::kind::null || each.name == "PartitionKey" || each.name == "RowKey" ||
            each.name == "Timestamp" || each.name == "odata.etag" || each.name.ends_with(type_suffix);
    }
    [[nodiscard]] entitable::result<entitable::value> typed_value(member const& each) const {
        member const* const annotation = find(each.name + std::string{type_suffix});
        auto read = [&]() -> entitable::result<entitable::value> {
            if (annotation == nullptr) { return value_of(each); }
            auto const type = type_of_name(annotation->content);
            if (!type) { return refuse("unknown type \"" + printable(annotation->content) + "\""); }
            return parse_value(*type, each.content);
        }();
        if (!read) { return in_member(each.name, read.error()); }
        return read;
    }

    std::vector<member> const& members_;
};

} // namespace

void append_json_string(std::string& out, std::string_view text) {
    constexpr std::string_view digits = "0123456789abcdef";
    out += '"';
    while (!text.empty()) {
        unsigned char const first = static_cast<unsigned char>(text.front());
        std::size_t size = 1;
        if (first == '"' || first == '\\') {
            out += '\\';
            out += text.front();
        } else if (first == '\n') {
            out += "\\n";
        } else if (first == '\r') {
            out += "\\r";
        } else if (first == '\t') {
            out += "\\t";
        } else if (first < 0x20 || first == 0x7f) {
            out += "\\u00";
            out += digits[first >> 4U];
            out += digits[first & 15U];
        } else if (first < 0x80) {
            out += text.front();
        } else if (auto const point = entitable::text::first_code_point(text); point.size == 0) {
            out += "\\ufffd";
        } else if (point.value < 0xa0) { // controls of terminals
            out += "\\u00";
            out += digits[point.value >> 4U];
            out += digits[point.value & 15U];
            size = point.size;
        } else {
            size = point.size;
            out += text.substr(0, size);
        }
        text.remove_prefix(size);
    }
    out += '"';
}

void append_json_member(std::string& out, std::string_view name, entitable::value_view shown) {
    auto const begin = [&] {
        if (!out.ends_with('{')) { out += ','; }
    };
    if (!is_plain(shown)) {
        begin();
        append_json_string(out, std::string{name} + std::string{type_suffix});
        out += ":\"";
        out += to_string(shown.type());
        out += '"';
    }
    begin();
    append_json_string(out, name);
    out += ':';
    if (shown.type() == edm_type::string) {
        append_json_string(out, shown.as_string());
    } else if (!is_plain(shown)) {
        append_json_string(out, plain_text(shown));
    } else {
        out += plain_text(shown);
    }
}

void append_json_row(std::string& out, entitable::row_view const& row, bool with_version) {
    out += '{';
    if (with_version) {
        out += "\"odata.etag\":";
        append_json_string(out, row.etag().to_string());
        out += ',';
    }
    out += "\"PartitionKey\":";
    append_json_string(out, row.partition_key);
    out += ",\"RowKey\":";
    append_json_string(out, row.row_key);
    if (with_version) { append_json_member(out, "Timestamp", entitable::value_view{row.timestamp()}); }
    entitable::property_cursor properties{row.payload};
    for (entitable::property_view each; properties.next(each);) {
        if (each.present) { append_json_member(out, each.name, each.value); }
    }
    out += '}';
}

entitable::result<entitable::row> read_json_row(std::string_view line) {
    ENTITABLE_TRY(auto const members, object_reader{line}.read());
    return row_from_members{members}.build();
}

} // namespace tool
