// SPDX-License-Identifier: MIT
// Copyright (c) 2026 the entitable authors
#pragma once

#include <entitable/core/detail/hexadecimal.hpp>
#include <entitable/core/text.hpp>
#include <entitable/local/detail/continuation.hpp>

ENTITABLE_BEGIN_NAMESPACE
namespace detail {

ENTITABLE_LAZY_BODY std::string make_continuation(std::uint64_t fingerprint, position const& next) {
    part_hash hash{fingerprint};
    hash.add(next.partition);
    hash.add(std::uint64_t{next.row ? 1U : 0U});
    hash.add(next.row ? std::string_view{*next.row} : std::string_view{});
    std::string token = "1!";
    append_hexadecimal(token, hash.value());
    token += '!';
    append_hexadecimal(token, next.partition);
    if (next.row) {
        token += '!';
        append_hexadecimal(token, *next.row);
    }
    return token;
}

ENTITABLE_LAZY_BODY result<position> read_continuation(std::uint64_t fingerprint, std::string_view token) {
    constexpr std::size_t limit = 16 * 1024; // two keys of the largest size of any profile, with some reserve
    constexpr std::size_t keys_at = 19;      // follows "1!", 16 digits and "!"
    if (token.size() > limit) {
        return failure{error_code::continuation_invalid,
            text::joined({"the continuation token is too long: ", std::to_string(token.size()), " bytes; the limit is ",
                std::to_string(limit)})};
    }
    std::string_view const keys = token.substr(token.size() < keys_at ? token.size() : keys_at);
    std::size_t const split = keys.find('!');
    auto partition = from_hexadecimal(keys.substr(0, split));
    position next;
    bool good = partition.has_value();
    if (good && split != std::string_view::npos) {
        next.row = from_hexadecimal(keys.substr(split + 1));
        good = next.row.has_value();
    }
    if (good) {
        next.partition = *std::move(partition);
        good = make_continuation(fingerprint, next) == token;
    }
    if (!good) {
        failure refused{error_code::continuation_invalid,
            "invalid continuation token: pass a token from this query back unchanged, with the same table, "
            "keys, filter and projection"};
        refused.error().detail = text::printable(text::shortened(token));
        return refused;
    }
    return next;
}

} // namespace detail
ENTITABLE_END_NAMESPACE
