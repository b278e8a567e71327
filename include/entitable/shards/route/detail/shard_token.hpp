// SPDX-License-Identifier: MIT
// Copyright (c) 2026 the entitable authors
#pragma once

/// \file
/// The continuation of a fan-out: the query's checksum, and the last key.

#include <entitable/core/detail/hexadecimal.hpp>
#include <entitable/core/request/part_hash.hpp>
#include <entitable/core/result.hpp>
#include <entitable/core/text.hpp>

#include <optional>
#include <string>

ENTITABLE_BEGIN_NAMESPACE
namespace detail {

/// The keys of the last row returned.
struct last_keys {
    std::string partition_key;
    std::string row_key;
};

/// "1!<checksum over query and keys>!<partition key>!<row key>", keys in hexadecimal digits.
inline std::string token_of_keys(std::uint64_t query, last_keys const& last) {
    part_hash hash{query};
    hash.add(std::string_view{last.partition_key});
    hash.add(std::string_view{last.row_key});
    std::string token = text::joined({"1!", std::to_string(hash.value()), "!"});
    append_hexadecimal(token, last.partition_key);
    token += '!';
    append_hexadecimal(token, last.row_key);
    return token;
}

inline result<last_keys> keys_of_token(std::uint64_t query, std::string const& token) {
    std::size_t const row = token.rfind('!');
    std::size_t const partition = row == std::string::npos || row == 0 ? std::string::npos : token.rfind('!', row - 1);
    if (partition != std::string::npos) {
        auto first = from_hexadecimal(std::string_view{token}.substr(partition + 1, row - partition - 1));
        auto second = from_hexadecimal(std::string_view{token}.substr(row + 1));
        if (first && second) {
            last_keys found{*std::move(first), *std::move(second)};
            if (token_of_keys(query, found) == token) { return found; }
        }
    }
    failure refused{error_code::continuation_invalid,
        "invalid continuation token: pass a token from this query back unchanged, with the same table, "
        "keys, filter and projection"};
    refused.error().detail = text::printable(text::shortened(token));
    return refused;
}

} // namespace detail
ENTITABLE_END_NAMESPACE
