// SPDX-License-Identifier: MIT
// Copyright (c) 2026 the entitable authors
#pragma once

#include <entitable/bulk/exchange/detail/text_column.hpp>
#include <entitable/core/detail/base64.hpp>
#include <entitable/core/detail/double_text.hpp>
#include <entitable/core/text.hpp>

#include <limits>

ENTITABLE_BEGIN_NAMESPACE
namespace detail {

ENTITABLE_DECL column_text append_text_of(std::string& out, value_view value) {
    char text[40];
    switch (value.type()) {
        case edm_type::string:
            if (text::valid_utf8_prefix(value.as_string()) != value.as_string().size()) { return column_text::refused; }
            out += value.as_string();
            break;
        case edm_type::int32:
        case edm_type::int64: out.append(text, std::to_chars(text, text + sizeof text, value.bits()).ptr); break;
        case edm_type::float64: {
            double const number = value.as_float64();
            if (number != number) {
                out += "NaN";
            } else if (number - number != 0) {
                out += number > 0 ? "Infinity" : "-Infinity";
            } else {
                out.append(text, std::to_chars(text, text + sizeof text, number).ptr);
            }
            break;
        }
        case edm_type::boolean: out += value.as_boolean() ? "true" : "false"; break;
        case edm_type::date_time:
            if (!value.as_date_time().is_valid()) { return column_text::refused; }
            value.as_date_time().append_to(out, true);
            break;
        case edm_type::guid: value.as_guid().append_to(out); break;
        case edm_type::binary: append_base64(out, value.bytes()); break;
    }
    return column_text::written;
}

/// Parses the words that stand for numbers without digits.
ENTITABLE_DECL bool special_double(std::string_view text, double& to) noexcept {
    using limits = std::numeric_limits<double>;
    if (text == "NaN") {
        to = limits::quiet_NaN();
    } else if (text == "Infinity") {
        to = limits::infinity();
    } else if (text == "-Infinity") {
        to = -limits::infinity();
    } else {
        return false;
    }
    return true;
}

template <class Number>
[[nodiscard]] bool integer_of_text(std::string_view text, value_view& to) noexcept {
    Number number{};
    auto const read = std::from_chars(text.data(), text.data() + text.size(), number);
    to = value_view{number};
    return read.ec == std::errc{} && read.ptr == text.data() + text.size();
}

ENTITABLE_DECL bool value_of_text(edm_type type, std::string_view text, std::string& bytes, value_view& to) {
    switch (type) {
        case edm_type::string: to.assign(type, text); return text::valid_utf8_prefix(text) == text.size();
        case edm_type::int32: return integer_of_text<std::int32_t>(text, to);
        case edm_type::int64: return integer_of_text<std::int64_t>(text, to);
        case edm_type::float64: {
            double number{};
            if (!special_double(text, number)) {
                auto const read = double_in(text);
                if (!read) { return false; }
                number = *read;
            }
            to = value_view{number};
            return true;
        }
        case edm_type::boolean: {
            bool const yes = text == "true" || text == "TRUE" || text == "True";
            to.assign(type, yes ? 1 : 0);
            return yes || text == "false" || text == "FALSE" || text == "False";
        }
        case edm_type::date_time: {
            auto read = date_time::parse(text);
            if (!read) { read = date_time::parse_date(text); }
            to = value_view{read.value_or(date_time{})};
            return read.has_value();
        }
        case edm_type::guid: {
            auto const read = guid::parse(text);
            if (!read) { return false; }
            bytes.assign(reinterpret_cast<char const*>(read->bytes.data()), read->bytes.size());
            to.assign(type, std::string_view{bytes});
            return true;
        }
        case edm_type::binary:
            if (!append_from_base64(bytes, text)) { return false; }
            to.assign(type, std::string_view{bytes});
            return true;
    }
    return false;
}

} // namespace detail
ENTITABLE_END_NAMESPACE
