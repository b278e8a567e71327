// SPDX-License-Identifier: MIT
// Copyright (c) 2026 the entitable authors
#pragma once

#include <entitable/backends/detail/continuation.hpp>
#include <entitable/core/detail/characters.hpp>
#include <entitable/core/text.hpp>

ENTITABLE_BEGIN_NAMESPACE
namespace detail {

ENTITABLE_LAZY void append_hexadecimal(std::string& out, std::string_view bytes) {
    for (char const character : bytes) {
        auto const byte = static_cast<unsigned char>(character);
        out += hexadecimal_of(byte >> 4U);
        out += hexadecimal_of(byte);
    }
}

/// The bytes of an even number of lower-case hexadecimal digits.
ENTITABLE_LAZY std::optional<std::string> from_hexadecimal(std::string_view digits) {
    auto const nibble = [](char digit) {
        return digit >= '0' && digit <= '9' ? digit - '0' : digit >= 'a' && digit <= 'f' ? digit - 'a' + 10 : -1;
    };
    if (digits.size() % 2 != 0) {
        return std::nullopt;
    }
    std::string bytes;
    bytes.reserve(digits.size() / 2);
    for (std::size_t at = 0; at < digits.size(); at += 2) {
        int const high = nibble(digits[at]);
        int const low = nibble(digits[at + 1]);
        if (high < 0 || low < 0) {
            return std::nullopt;
        }
        bytes += static_cast<char>(static_cast<unsigned char>(high * 16 + low));
    }
    return bytes;
}

ENTITABLE_LAZY_BODY std::string make_continuation(std::uint64_t fingerprint, position const& next) {
    part_hash hash{fingerprint};
    hash.add(next.partition);
    hash.add(std::uint64_t{next.row ? 1U : 0U});
    hash.add(next.row ? std::string_view{*next.row} : std::string_view{});
    std::string checksum;
    for (int index = 7; index >= 0; --index) {
        checksum += static_cast<char>(static_cast<unsigned char>(hash.value() >> (8 * index)));
    }
    std::string token = "1!";
    append_hexadecimal(token, checksum);
    token += '!';
    append_hexadecimal(token, next.partition);
    if (next.row) {
        token += '!';
        append_hexadecimal(token, *next.row);
    }
    return token;
}

ENTITABLE_LAZY_BODY result<position> read_continuation(std::uint64_t fingerprint, std::string_view token) {
    constexpr std::size_t limit = 16 * 1024; // two keys of the largest size of any profile, and some more
    constexpr std::size_t keys_at = 19;      // behind "1!", 16 digits and "!"
    if (token.size() > limit) {
        return failure{error_code::continuation_invalid,
            text::joined({"the continuation token has ", std::to_string(token.size()),
                " bytes; those of this backend have at most ", std::to_string(limit)})};
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
            "the continuation token is not one that this backend has given for this query: give it back unchanged, "
            "with "
            "the same table, keys, filter and projection"};
        refused.error().detail = text::printable(text::shortened(token));
        return refused;
    }
    return next;
}

} // namespace detail
ENTITABLE_END_NAMESPACE
