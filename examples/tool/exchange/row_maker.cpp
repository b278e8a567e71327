// SPDX-License-Identifier: MIT
// Copyright (c) 2026 the entitable authors

#include "row_maker.hpp"

#include "value_text.hpp"
#include <entitable/core/text.hpp>
#include <entitable/core/try.hpp>

#include <algorithm>
#include <iomanip>

namespace tool {

namespace {

using entitable::edm_type;
using entitable::error_code;
using entitable::failure;

constexpr std::string_view partition_name = "PartitionKey";
constexpr std::string_view row_name = "RowKey";

failure invalid(std::initializer_list<std::string_view> parts) {
    return failure{error_code::invalid_input, entitable::text::joined(parts)};
}

/// What the service returns with each entity, and a client cannot set.
bool is_of_the_service(std::string_view name) {
    return name == "Timestamp" || name == "odata.etag" || name == "odata.metadata" || name == "odata.type" ||
        name == "odata.id" || name == "odata.editLink";
}

/// A name that the service accepts for a property: letters, digits and _, not a digit first.
std::string property_name(std::string_view header) {
    std::string made;
    for (char const each : header) {
        auto const byte = static_cast<unsigned char>(each);
        bool const letter = (byte | 32U) >= 'a' && (byte | 32U) <= 'z';
        bool const digit = byte >= '0' && byte <= '9';
        if (digit && made.empty()) { made += '_'; }
        made += letter || digit || each == '_' || byte >= 0x80 ? each : '_';
    }
    return made;
}

bool looks_like_number(std::string_view given) {
    std::string_view digits = given;
    if (digits.starts_with('-')) { digits.remove_prefix(1); }
    // "007" and "+1" are names, and -0 would become 0.
    bool const leading_zero = digits.size() > 1 && digits[0] == '0' && digits[1] >= '0' && digits[1] <= '9';
    return !digits.empty() && !leading_zero && digits[0] != '+' && given != "-0";
}

/// Number of significant digits, at most: without signs, points and exponents.
std::size_t digits_of(std::string_view given) {
    std::string_view const mantissa = given.substr(0, given.find_first_of("eE"));
    return static_cast<std::size_t>(
        std::count_if(mantissa.begin(), mantissa.end(), [](char each) { return each >= '0' && each <= '9'; }));
}

/// Type of a member of JSON that names none.
edm_type natural_type(field const& each) {
    std::string bytes;
    switch (each.form) {
        case field_form::number:
            if (read_value_text(each.text, edm_type::int32, bytes)) { return edm_type::int32; }
            if (read_value_text(each.text, edm_type::int64, bytes)) { return edm_type::int64; }
            return edm_type::float64;
        case field_form::boolean: return edm_type::boolean;
        default: return edm_type::string;
    }
}

} // namespace

entitable::result<std::map<std::string, edm_type, std::less<>>> parse_types(std::string_view given) {
    std::map<std::string, edm_type, std::less<>> made;
    while (!given.empty()) {
        std::string_view const item = entitable::text::take_part(given, ',');
        std::size_t const equals = item.rfind('=');
        auto const type = equals == std::string_view::npos ? std::nullopt : type_named(item.substr(equals + 1));
        if (!type || equals == 0) {
            return invalid({"\"", entitable::text::printable(item),
                "\" is not NAME=TYPE; the types are String, Int32, Int64, Double, Boolean, DateTime, Guid and Binary"});
        }
        made[std::string{item.substr(0, equals)}] = *type;
    }
    return made;
}

void type_guess::add(std::string_view given) {
    seen_ = true;
    std::string bytes;
    bool const number = (int32_ || int64_ || float64_) && looks_like_number(given);
    int32_ = int32_ && number && read_value_text(given, edm_type::int32, bytes);
    int64_ = int64_ && number && read_value_text(given, edm_type::int64, bytes);
    float64_ = float64_ && number && digits_of(given) <= 17 && read_value_text(given, edm_type::float64, bytes);
    boolean_ = boolean_ && (given == "true" || given == "false");
    time_ = time_ && given.size() > 10 && given[10] == 'T' && read_value_text(given, edm_type::date_time, bytes);
    guid_ = guid_ && given.size() == 36 && given.find_first_of("ABCDEF") == std::string_view::npos &&
        read_value_text(given, edm_type::guid, bytes);
}

edm_type type_guess::type() const noexcept {
    if (!seen_) { return edm_type::string; }
    if (int32_) { return edm_type::int32; }
    if (int64_) { return edm_type::int64; }
    if (float64_) { return edm_type::float64; }
    if (boolean_) { return edm_type::boolean; }
    if (time_) { return edm_type::date_time; }
    return guid_ ? edm_type::guid : edm_type::string;
}

row_maker::row_maker(row_plan plan, std::string column_separator)
    : plan_(std::move(plan)), separator_(std::move(column_separator)) {
    if (!plan_.partition) { plan_.partition = key_expression::column(std::string{partition_name}); }
    if (!plan_.row) { plan_.row = key_expression::column(std::string{row_name}); }
}

bool row_maker::is_key_column(std::string_view name) const {
    auto const& first = plan_.partition->columns();
    auto const& second = plan_.row->columns();
    return std::find(first.begin(), first.end(), name) != first.end() ||
        std::find(second.begin(), second.end(), name) != second.end();
}

/// Checks that the columns exist which keys and types name.
entitable::result<void> row_maker::check_names() const {
    std::string known;
    for (column const& each : columns_) {
        if (known.size() < 300) {
            known += known.empty() ? "" : ", ";
            known += entitable::text::printable(each.header);
        }
    }
    auto const is_there = [&](std::string_view name) {
        return std::any_of(columns_.begin(), columns_.end(), [&](column const& each) { return each.header == name; });
    };
    for (auto const* of : {&*plan_.partition, &*plan_.row}) {
        for (std::string const& each : of->columns()) {
            if (is_there(each)) { continue; }
            bool const assumed = each == partition_name || each == row_name;
            return invalid({"the file has no column ", each, "; ",
                assumed ? (each == row_name ? "--row names the columns of the RowKey; "
                                            : "--partition names the columns of the PartitionKey; ")
                        : "",
                "its columns are ", known, columns_.size() == 1 ? "; --separator names another separator" : ""});
        }
    }
    for (auto const& [name, type] : plan_.types) {
        if (!is_there(name)) {
            return invalid(
                {"--types names the column ", name, ", which the file does not have; its columns are ", known});
        }
    }
    return {};
}

entitable::result<void> row_maker::set_header(std::vector<field> const& header) {
    for (std::size_t at = 0; at < header.size(); ++at) {
        column made;
        made.header = header[at].text;
        std::size_t const colon = made.header.rfind(':');
        if (colon != std::string::npos) {
            made.type = type_named(std::string_view{made.header}.substr(colon + 1));
            if (made.type) { made.header.resize(colon); }
        }
        if (made.header.empty()) { made.header = "column_" + std::to_string(at + 1); }
        bool const typed = made.type.has_value();
        if (auto const given = plan_.types.find(made.header); given != plan_.types.end()) { made.type = given->second; }
        made.guessed = !made.type;
        made.property = property_name(made.header);
        made.in_key = is_key_column(made.header);
        made.left_out = is_of_the_service(made.header) || (made.in_key && !plan_.keeps_key_columns) ||
            made.header == partition_name || made.header == row_name;
        for (column& each : columns_) {
            bool const variant = typed && each.header == made.header && each.type && each.type != made.type;
            made.has_variants = made.has_variants || variant;
            each.has_variants = each.has_variants || variant;
            if (each.header == made.header && !variant) {
                return invalid({"the column ", entitable::text::printable(made.header), " is there twice"});
            }
            if (each.property == made.property && !variant) {
                return invalid({"the columns ", entitable::text::printable(each.header), " and ",
                    entitable::text::printable(made.header), " would both become the property ", made.property,
                    "; rename one in the first line"});
            }
        }
        columns_.push_back(std::move(made));
    }
    ENTITABLE_CHECK(check_names());
    auto const place = [&](key_expression const& from, std::vector<std::size_t>& places) {
        for (std::string const& name : from.columns()) {
            auto const at =
                std::find_if(columns_.begin(), columns_.end(), [&](column const& each) { return each.header == name; });
            places.push_back(static_cast<std::size_t>(at - columns_.begin()));
        }
    };
    place(*plan_.partition, partition_places_);
    place(*plan_.row, row_places_);
    return {};
}

void row_maker::use_members() { members_ = true; }

void row_maker::add_sample(record_reader const& record) {
    if (!record.fault().empty()) { return; }
    auto const& fields = record.fields();
    if (!members_) {
        if (fields.size() != columns_.size()) { return; }
        for (std::size_t at = 0; at < fields.size(); ++at) {
            if (columns_[at].guessed && !columns_[at].left_out && !fields[at].text.empty()) {
                columns_[at].guess.add(fields[at].text);
            }
        }
        return;
    }
    for (field const& each : fields) {
        if (each.form == field_form::absent || each.name == partition_name || each.name == row_name ||
            is_of_the_service(each.name)) {
            continue;
        }
        auto known = member_types_.find(each.name);
        if (known == member_types_.end()) {
            if (member_names_.size() == 1'000) { continue; } // bounds the memory, and the printed lines
            member_names_.emplace_back(each.name);
            known = member_types_.emplace(std::string{each.name}, std::vector<edm_type>{}).first;
        }
        auto const given = plan_.types.find(each.name);
        edm_type const type = given != plan_.types.end() ? given->second : each.type ? *each.type : natural_type(each);
        if (std::find(known->second.begin(), known->second.end(), type) == known->second.end()) {
            known->second.push_back(type);
        }
    }
}

void row_maker::end_sample() {
    for (column& each : columns_) {
        if (each.guessed) { each.type = each.guess.type(); }
    }
}

void row_maker::describe(std::ostream& out) const {
    auto const role = [&](std::string_view name) -> std::string {
        auto const has = [&](key_expression const& from) {
            return std::find(from.columns().begin(), from.columns().end(), name) != from.columns().end();
        };
        std::string made = has(*plan_.partition) ? "PartitionKey" : "";
        if (has(*plan_.row)) { made += made.empty() ? "RowKey" : " and RowKey"; }
        return made;
    };
    std::size_t width = 0;
    for (column const& each : columns_) { width = (std::max)(width, each.header.size()); }
    for (std::string const& each : member_names_) { width = (std::max)(width, each.size()); }
    width = (std::min)(width, std::size_t{40}) + 2;
    auto const line = [&](std::string_view name, std::string const& text) {
        out << "  " << std::left << std::setw(static_cast<int>(width)) << entitable::text::printable(name) << text
            << '\n';
    };
    for (column const& each : columns_) {
        std::string text = role(each.header);
        if (!each.left_out) {
            text += text.empty() ? "" : ", ";
            text += type_name(*each.type);
            if (each.property != each.header) { text += ", as " + each.property; }
        } else if (text.empty()) {
            text = "left out";
        }
        line(each.header, text);
    }
    for (std::string const& each : member_names_) {
        std::string text = role(each);
        auto const& types = member_types_.find(each)->second;
        if (text.empty() || plan_.keeps_key_columns) {
            for (edm_type const type : types) {
                text += text.empty() ? "" : ", ";
                text += type_name(type);
            }
            if (types.size() > 1) { text += " (--types " + each + "=TYPE makes them one type)"; }
        }
        line(each, text);
    }
}

entitable::result<void> row_maker::append_key(std::string& key, key_expression const& from,
    std::vector<std::size_t> const& places, record_reader const& record) const {
    auto const find = [&](std::size_t at) -> std::optional<std::string_view> {
        if (!members_) {
            field const& each = record.fields()[places[at]];
            return each.form == field_form::absent ? std::nullopt : std::optional{each.text};
        }
        for (field const& each : record.fields()) {
            if (each.name == from.columns()[at] && each.form != field_form::absent) { return each.text; }
        }
        return std::nullopt;
    };
    return from.append(key, find);
}

entitable::result<void> row_maker::add_property(std::string_view name, bool may_be_there, field const& each,
    std::optional<edm_type> type, std::string_view header) {
    if (each.form == field_form::absent) { return {}; }
    edm_type const of = type ? *type : each.type ? *each.type : natural_type(each);
    if (each.text.empty() && each.form == field_form::text && of != edm_type::string && of != edm_type::binary) {
        return {}; // many programs quote every field, so that an absent number is an empty text
    }
    auto const read = read_value_text(each.text, of, bytes_);
    if (!read) {
        return invalid({"the column ", entitable::text::printable(header), " holds \"",
            entitable::text::printable(entitable::text::shortened(each.text)), "\", which is not of type ",
            type_name(of), "; --types ", entitable::text::printable(header), "=String keeps it as text"});
    }
    if (may_be_there) {
        if (std::find(names_.begin(), names_.end(), name) != names_.end()) {
            return invalid({"two columns have a value for the property ", entitable::text::printable(name)});
        }
        names_.emplace_back(name);
    }
    builder_.add(name, *read);
    return {};
}

entitable::result<void> row_maker::make(record_reader const& record, entitable::row& into) {
    if (!record.fault().empty()) { return failure{error_code::invalid_input, record.fault()}; }
    auto const& fields = record.fields();
    if (!members_ && fields.size() != columns_.size()) {
        return invalid({"the record has ", std::to_string(fields.size()), fields.size() == 1 ? " field" : " fields",
            ", and the first line names ", std::to_string(columns_.size()), " columns"});
    }
    partition_key_.clear();
    row_key_.clear();
    names_.clear();
    ENTITABLE_CHECK(append_key(partition_key_, *plan_.partition, partition_places_, record));
    ENTITABLE_CHECK(append_key(row_key_, *plan_.row, row_places_, record));
    builder_.restart(partition_key_, row_key_);
    for (std::size_t at = 0; at < fields.size(); ++at) {
        field const& each = fields[at];
        if (!members_) {
            column const& of = columns_[at];
            if (!of.left_out) { ENTITABLE_CHECK(add_property(of.property, of.has_variants, each, of.type, of.header)); }
            continue;
        }
        if (each.name == partition_name || each.name == row_name || is_of_the_service(each.name) ||
            (!plan_.keeps_key_columns && is_key_column(each.name))) {
            continue;
        }
        auto const given = plan_.types.find(each.name);
        ENTITABLE_CHECK(add_property(property_name(each.name), true, each,
            given == plan_.types.end() ? std::nullopt : std::optional{given->second}, each.name));
    }
    builder_.build(into);
    return {};
}

} // namespace tool
