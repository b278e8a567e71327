// SPDX-License-Identifier: MIT
// Copyright (c) 2026 the entitable authors
#pragma once

#include <entitable/cloud/http/http_message.hpp>
#include <entitable/cloud/wire/detail/service_token.hpp>
#include <entitable/cloud/wire/impl/escape.ipp>
#include <entitable/core/detail/characters.hpp>
#include <entitable/core/text.hpp>

ENTITABLE_BEGIN_NAMESPACE
namespace detail {

ENTITABLE_DECL service_token service_token_of(http_headers const& headers, read_location location) {
    auto const part = [&headers](std::string_view name) {
        auto const field = headers.find(name);
        return field && !field->empty() ? std::optional{std::string{*field}} : std::nullopt;
    };
    service_token token{location, part("x-ms-continuation-NextPartitionKey"), part("x-ms-continuation-NextRowKey"),
        part("x-ms-continuation-NextTableName")};
    // The emulator's token of the empty partition key is also empty.
    if (token.row && !token.partition && headers.find("x-ms-continuation-NextPartitionKey")) {
        token.partition.emplace();
    }
    return token;
}

ENTITABLE_DECL void append_token(std::string& url, service_token const& token, char& separator) {
    auto const append = [&](std::string_view name, std::optional<std::string> const& part) {
        if (part) {
            url += separator;
            url.append(name) += '=';
            append_url_escaped(url, *part);
            separator = '&';
        }
    };
    append("NextPartitionKey", token.partition);
    append("NextRowKey", token.row);
    append("NextTableName", token.table);
}

ENTITABLE_DECL std::string make_service_token(std::uint64_t fingerprint, service_token const& token) {
    std::string parts;
    auto const append = [&parts](char letter, std::optional<std::string> const& part) {
        if (part) {
            (parts += '!') += letter;
            append_url_escaped(parts, *part);
        }
    };
    append('P', token.partition);
    append('R', token.row);
    append('T', token.table);
    part_hash hash{fingerprint};
    hash.add(static_cast<std::uint64_t>(token.location));
    hash.add(parts);
    std::string made = token.location == read_location::secondary ? "r1!s!" : "r1!p!";
    for (unsigned shift = 64; shift > 0; shift -= 4) { made += hexadecimal_of(hash.value() >> (shift - 4)); }
    return made + parts;
}

ENTITABLE_DECL result<service_token> read_service_token(std::uint64_t fingerprint, std::string_view text) {
    constexpr std::size_t parts_at = 21; // follows "r1!p!" and 16 digits
    service_token token;
    bool good = text.size() > parts_at && text.size() <= parts_at + 9 * max_service_token;
    if (good) {
        token.location = text[3] == 's' ? read_location::secondary : read_location::primary;
        std::string_view rest = text.substr(parts_at);
        while (good && !rest.empty()) {
            std::size_t const end = rest.find('!', 1);
            std::string_view const part = rest.substr(0, end);
            good = part.size() >= 2 && part[0] == '!';
            if (good) {
                std::optional<std::string>* const to = part[1] == 'P' ? &token.partition
                    : part[1] == 'R'                                  ? &token.row
                    : part[1] == 'T'                                  ? &token.table
                                                                      : nullptr;
                good = to != nullptr && append_url_unescaped(to->emplace(), part.substr(2));
            }
            rest = end == std::string_view::npos ? std::string_view{} : rest.substr(end);
        }
        good = good && make_service_token(fingerprint, token) == text;
    }
    if (!good) {
        failure refused{error_code::continuation_invalid,
            "invalid continuation token: pass a token from this query back unchanged, with the same table, "
            "keys, filter and projection"};
        refused.error().detail = text::printable(text::shortened(text));
        return refused;
    }
    return token;
}

} // namespace detail
ENTITABLE_END_NAMESPACE
