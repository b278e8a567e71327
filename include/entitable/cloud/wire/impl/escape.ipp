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

} // namespace detail
ENTITABLE_END_NAMESPACE
