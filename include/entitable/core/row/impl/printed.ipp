// SPDX-License-Identifier: MIT
// Copyright (c) 2026 the entitable authors
#pragma once

#include <entitable/core/row/printed.hpp>
#include <entitable/core/text.hpp>

ENTITABLE_BEGIN_NAMESPACE
namespace detail {

ENTITABLE_LAZY void append_size_if_cut(std::string& out, std::size_t size, std::size_t shown) {
    if (size > shown) { out += text::joined({" (", std::to_string(size), " bytes)"}); }
}

/// Appends text with its special characters escaped.
ENTITABLE_LAZY void append_escaped_text(std::string& out, std::string_view plain) {
    std::string special; // a run of characters for `text::printable`
    auto const flush = [&] {
        out += text::printable(special);
        special.clear();
    };
    for (char const character : plain) {
        char const* const escaped = character == '"' ? "\\\""
            : character == '\\'                      ? "\\\\"
            : character == '\n'                      ? "\\n"
            : character == '\r'                      ? "\\r"
            : character == '\t'                      ? "\\t"
                                                     : nullptr;
        if (escaped == nullptr) {
            special += character;
        } else {
            flush();
            out += escaped;
        }
    }
    flush();
}

} // namespace detail

ENTITABLE_LAZY_BODY void append_quoted(std::string& out, std::string_view text) {
    out += '"';
    detail::append_escaped_text(out, text::shortened(text, max_printed_text));
    out += '"';
    detail::append_size_if_cut(out, text.size(), max_printed_text);
}

ENTITABLE_LAZY_BODY void append_hexadecimal(std::string& out, std::string_view bytes) {
    constexpr char digits[] = "0123456789abcdef";
    out += "X'";
    for (char const byte : bytes.substr(0, max_printed_binary)) {
        out += digits[static_cast<unsigned char>(byte) >> 4U];
        out += digits[static_cast<unsigned char>(byte) & 0x0FU];
    }
    out += bytes.size() > max_printed_binary ? "...'" : "'";
    detail::append_size_if_cut(out, bytes.size(), max_printed_binary);
}

ENTITABLE_LAZY_BODY void append_printed(std::string& out, value_view printed) {
    if (printed.type() == edm_type::string) {
        append_quoted(out, printed.as_string());
    } else if (printed.type() == edm_type::binary) {
        append_hexadecimal(out, printed.bytes());
    } else {
        out += value{printed}.to_string();
    }
}

ENTITABLE_LAZY_BODY void append_printed_keys(
    std::string& out, std::string_view partition_key, std::string_view row_key) {
    append_quoted(out, partition_key);
    out += " / ";
    append_quoted(out, row_key);
}

ENTITABLE_LAZY_BODY void append_printed(std::string& out, row_view const& printed) {
    append_printed_keys(out, printed.partition_key, printed.row_key);
    out += " {";
    std::string_view separator;
    property_view property;
    property_cursor properties{printed.payload};
    while (properties.next(property)) {
        out += text::joined({separator, text::printable(property.name), ": "});
        separator = ", ";
        if (property.present) {
            append_printed(out, property.value);
        } else {
            out += "absent";
        }
    }
    if (properties.damaged() && !printed.payload.empty()) { out += text::joined({separator, "damaged"}); }
    out += '}';
}

ENTITABLE_END_NAMESPACE
