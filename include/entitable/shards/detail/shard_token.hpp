// SPDX-License-Identifier: MIT
// Copyright (c) 2026 the entitable authors
#pragma once

/// \file
/// The continuation of a fan-out: the query it belongs to, and the last key.

#include <entitable/core/result.hpp>
#include <entitable/core/text.hpp>
#include <entitable/request/part_hash.hpp>

#include <optional>
#include <string>

ENTITABLE_BEGIN_NAMESPACE
namespace detail {

/// The keys of a row that was given last.
struct last_keys {
    std::string partition_key;
    std::string row_key;
};

inline std::string hexadecimal_text(std::string_view bytes) {
    std::string out;
    for (char const each : bytes) {
        auto const byte = static_cast<unsigned char>(each);
        out += "0123456789abcdef"[byte >> 4U];
        out += "0123456789abcdef"[byte & 15U];
    }
    return out;
}
inline std::optional<std::string> bytes_of_hexadecimal(std::string_view digits) {
    std::string out;
    for (std::size_t at = 0; at + 1 < digits.size(); at += 2) {
        std::size_t const high = std::string_view{"0123456789abcdef"}.find(digits[at]);
        std::size_t const low = std::string_view{"0123456789abcdef"}.find(digits[at + 1]);
        if (high == std::string_view::npos || low == std::string_view::npos) {
            return std::nullopt;
        }
        out += static_cast<char>(static_cast<unsigned char>(high * 16 + low));
    }
    return digits.size() % 2 == 0 ? std::optional{std::move(out)} : std::nullopt;
}

/// "1!<checksum over query and keys>!<partition key>!<row key>", keys in hexadecimal digits.
inline std::string token_of_keys(std::uint64_t query, last_keys const& last) {
    part_hash hash{query};
    hash.add(std::string_view{last.partition_key});
    hash.add(std::string_view{last.row_key});
    return text::joined({"1!", std::to_string(hash.value()), "!", hexadecimal_text(last.partition_key), "!",
        hexadecimal_text(last.row_key)});
}

inline result<last_keys> keys_of_token(std::uint64_t query, std::string const& token) {
    std::size_t const row = token.rfind('!');
    std::size_t const partition = row == std::string::npos || row == 0 ? std::string::npos : token.rfind('!', row - 1);
    if (partition != std::string::npos) {
        auto first = bytes_of_hexadecimal(std::string_view{token}.substr(partition + 1, row - partition - 1));
        auto second = bytes_of_hexadecimal(std::string_view{token}.substr(row + 1));
        if (first && second) {
            last_keys found{*std::move(first), *std::move(second)};
            if (token_of_keys(query, found) == token) {
                return found;
            }
        }
    }
    failure refused{error_code::continuation_invalid,
        "the continuation token is not one that the shards have given for this query: give it back unchanged, with the "
        "same table, keys, filter and projection"};
    refused.error().detail = text::printable(text::shortened(token));
    return refused;
}

} // namespace detail
ENTITABLE_END_NAMESPACE
