// SPDX-License-Identifier: MIT
// Copyright (c) 2026 the entitable authors
#pragma once

#include <entitable/cloud/wire/detail/escape.hpp>
#include <entitable/core/detail/characters.hpp>
#include <entitable/core/guid.hpp>

ENTITABLE_BEGIN_NAMESPACE
namespace detail {

ENTITABLE_DECL void append_url_escaped(std::string& out, std::string_view bytes) {
    constexpr char digits[] = "0123456789ABCDEF";
    std::size_t start = 0;
    for (std::size_t at = 0; at < bytes.size(); ++at) {
        if (!is_unreserved(bytes[at])) {
            auto const byte = static_cast<unsigned char>(bytes[at]);
            char const escape[3] = {'%', digits[byte >> 4U], digits[byte & 0x0FU]};
            out.append(bytes.substr(start, at - start)).append(escape, 3);
            start = at + 1;
        }
    }
    out.append(bytes.substr(start));
}

ENTITABLE_DECL void append_url_quoted(std::string& out, std::string_view text) {
    for (std::size_t quote = text.find('\''); quote != std::string_view::npos; quote = text.find('\'')) {
        append_url_escaped(out, text.substr(0, quote));
        out += "%27%27";
        text.remove_prefix(quote + 1);
    }
    append_url_escaped(out, text);
}

ENTITABLE_DECL void append_entity_path(
    std::string& out, std::string_view table, std::string_view partition_key, std::string_view row_key) {
    out.append(table).append("(PartitionKey='");
    append_url_quoted(out, partition_key);
    out += "',RowKey='";
    append_url_quoted(out, row_key);
    out += "')";
}

ENTITABLE_DECL bool append_url_unescaped(std::string& out, std::string_view text) {
    while (!text.empty()) {
        std::size_t const percent = text.find('%');
        out.append(text.substr(0, percent));
        if (percent == std::string_view::npos) { return true; }
        text.remove_prefix(percent + 1);
        int const high = text.size() < 2 ? -1 : hexadecimal_digit(text[0]);
        int const low = text.size() < 2 ? -1 : hexadecimal_digit(text[1]);
        if (high < 0 || low < 0) { return false; }
        out += static_cast<char>(static_cast<unsigned char>(high * 16 + low));
        text.remove_prefix(2);
    }
    return true;
}

} // namespace detail
ENTITABLE_END_NAMESPACE
