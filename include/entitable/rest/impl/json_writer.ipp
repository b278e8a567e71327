// SPDX-License-Identifier: MIT
// Copyright (c) 2026 the entitable authors
#pragma once

#include <entitable/core/impl/date_time.ipp>
#include <entitable/core/impl/guid.ipp>
#include <entitable/rest/detail/json_writer.hpp>
#include <entitable/rest/impl/base64.ipp>
#include <entitable/row/impl/row.ipp>

#include <array>
#include <charconv>

ENTITABLE_BEGIN_NAMESPACE
namespace detail {

/// Which bytes JSON wants escaped inside of a string.
inline constexpr std::array<bool, 256> json_escaped = [] {
    std::array<bool, 256> table{};
    for (std::size_t byte = 0; byte < 0x20; ++byte) {
        table[byte] = true;
    }
    table['"'] = true;
    table['\\'] = true;
    return table;
}();

ENTITABLE_DECL void append_json_string(std::string& out, std::string_view text) {
    constexpr char digits[] = "0123456789abcdef";
    out += '"';
    std::size_t start = 0;
    for (std::size_t at = 0; at < text.size(); ++at) {
        auto const byte = static_cast<unsigned char>(text[at]);
        if (!json_escaped[byte]) {
            continue;
        }
        out.append(text.substr(start, at - start));
        start = at + 1;
        char escape[6] = {'\\', text[at]};
        std::size_t size = 2;
        switch (text[at]) {
            case '"':
            case '\\': break;
            case '\n': escape[1] = 'n'; break;
            case '\r': escape[1] = 'r'; break;
            case '\t': escape[1] = 't'; break;
            default: {
                char const code[] = {'u', '0', '0', digits[byte >> 4U], digits[byte & 0x0FU]};
                std::memcpy(escape + 1, code, sizeof code);
                size = 6;
                break;
            }
        }
        out.append(escape, size);
    }
    out.append(text.substr(start)) += '"';
}

template <class Integer>
inline void append_integer(std::string& out, Integer number) {
    char text[24];
    auto const end = std::to_chars(text, text + sizeof text, number).ptr;
    out.append(text, static_cast<std::size_t>(end - text));
}

ENTITABLE_DECL void append_float64(std::string& out, double number) {
    char text[40];
    auto const end = std::to_chars(text, text + sizeof text, number).ptr;
    std::string_view const written{text, static_cast<std::size_t>(end - text)};
    out.append(written);
    if (written.find_first_of(".e") == std::string_view::npos) {
        out += ".0";
    }
}

/// Appends `"name@odata.type":"Edm.Type","name":`.
inline void append_annotated_name(std::string& out, std::string_view name, std::string_view type) {
    append_json_string(out, name);
    out.back() = '@';
    out.append("odata.type\":\"Edm.").append(type).append("\",");
    append_json_string(out, name);
    out += ':';
}

ENTITABLE_DECL void append_json_property(std::string& out, std::string_view name, value_view value) {
    switch (value.type()) {
        case edm_type::string:
            append_json_string(out, name);
            out += ':';
            append_json_string(out, value.as_string());
            break;
        case edm_type::int32:
            append_json_string(out, name);
            out += ':';
            append_integer(out, value.as_int32());
            break;
        case edm_type::boolean:
            append_json_string(out, name);
            out += value.as_boolean() ? ":true" : ":false";
            break;
        case edm_type::int64:
            append_annotated_name(out, name, "Int64");
            out += '"';
            append_integer(out, value.as_int64());
            out += '"';
            break;
        case edm_type::float64: {
            double const number = value.as_float64();
            append_annotated_name(out, name, "Double");
            if (number != number) {
                out += "\"NaN\"";
            } else if (number - number != 0) {
                out += number > 0 ? "\"Infinity\"" : "\"-Infinity\"";
            } else {
                append_float64(out, number);
            }
            break;
        }
        case edm_type::date_time:
            append_annotated_name(out, name, "DateTime");
            out += '"';
            value.as_date_time().append_to(out);
            out += '"';
            break;
        case edm_type::guid:
            append_annotated_name(out, name, "Guid");
            out += '"';
            value.as_guid().append_to(out);
            out += '"';
            break;
        case edm_type::binary:
            append_annotated_name(out, name, "Binary");
            out += '"';
            append_base64(out, value.bytes());
            out += '"';
            break;
    }
}

ENTITABLE_DECL void append_json_entity(std::string& out, row_view entity) {
    out += "{\"PartitionKey\":";
    append_json_string(out, entity.partition_key);
    out += ",\"RowKey\":";
    append_json_string(out, entity.row_key);
    property_cursor cursor{entity.payload};
    property_view property;
    while (cursor.next(property)) {
        if (property.present) {
            out += ',';
            append_json_property(out, property.name, property.value);
        }
    }
    out += '}';
}

} // namespace detail
ENTITABLE_END_NAMESPACE
