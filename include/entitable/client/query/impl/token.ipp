// SPDX-License-Identifier: MIT
// Copyright (c) 2026 the entitable authors
#pragma once

#include <entitable/client/query/reading.hpp>
#include <entitable/core/detail/hexadecimal.hpp>
#include <entitable/core/request/part_hash.hpp>
#include <entitable/core/text.hpp>

ENTITABLE_BEGIN_NAMESPACE
namespace detail {

// 1!<16 hexadecimal digits>!<range>!<rows taken>[!<continuation of the service>]
//
// The digits are a checksum over the query and everything that follows. The continuation comes last, so that it may
// contain the separator; unprintable bytes, and '%', are written as %XX.

inline constexpr std::string_view token_digits = "0123456789abcdef";

ENTITABLE_LAZY std::uint64_t token_checksum(
    query_parts const& parts, projection const& select, std::string_view position) {
    part_hash hash{2};
    hash.add(std::string_view{parts.table});
    hash.add(std::uint64_t{parts.plan.ranges.size()});
    for (key_range const& range : parts.plan.ranges) {
        hash.add(range.partition);
        hash.add(range.row);
    }
    hash.add(std::uint64_t{parts.plan.server.nodes.size()});
    for (filter_node const& node : parts.plan.server.nodes) { hash.add(node.operation, node.name, node.operand); }
    hash.add(std::uint64_t{parts.plan.client.size()});
    for (predicate_node const& node : parts.plan.client) {
        hash.add(static_cast<std::uint64_t>(node.subject));
        hash.add(std::uint64_t{node.index} * 2 + (node.part == key_part::row ? 1U : 0U));
        hash.add(node.operation, node.name, node.operand);
        if (node.former != nullptr) { hash.add(node.former->name); }
    }
    hash.add(std::uint64_t{select.size()});
    for (std::string const& name : select) { hash.add(std::string_view{name}); }
    hash.add(position);
    return hash.value();
}

ENTITABLE_LAZY std::string token_of(query_parts const& parts, projection const& select, std::string_view position) {
    std::string token = "1!";
    append_hexadecimal(token, token_checksum(parts, select, position));
    token += '!';
    return token.append(position);
}

ENTITABLE_LAZY void append_printable(std::string& out, std::string_view bytes) {
    for (char const character : bytes) {
        auto const byte = static_cast<unsigned char>(character);
        if (byte > 0x20 && byte < 0x7F && byte != '%') {
            out += character;
        } else {
            out += '%';
            out += token_digits[byte >> 4U];
            out += token_digits[byte & 15U];
        }
    }
}

/// Decodes the text of `append_printable`.
ENTITABLE_LAZY std::string from_printable(std::string_view text) {
    std::string bytes;
    for (std::size_t at = 0; at < text.size(); ++at) {
        if (text[at] == '%' && at + 2 < text.size()) {
            std::size_t const high = token_digits.find(text[at + 1]);
            std::size_t const low = token_digits.find(text[at + 2]);
            bytes += static_cast<char>(static_cast<unsigned char>((high * 16 + low) & 0xFFU));
            at += 2;
        } else {
            bytes += text[at];
        }
    }
    return bytes;
}

/// Takes the number at the start of `text`, and the separator after it.
ENTITABLE_LAZY std::uint64_t take_decimal(std::string_view& text) noexcept {
    std::uint64_t number = 0;
    while (!text.empty() && text.front() >= '0' && text.front() <= '9') {
        number = number * 10 + static_cast<std::uint64_t>(text.front() - '0');
        text.remove_prefix(1);
    }
    text.remove_prefix(text.empty() ? 0 : 1);
    return number;
}

} // namespace detail

ENTITABLE_LAZY_BODY std::string make_token(
    query_parts const& parts, projection const& select, query_position const& position) {
    std::string place = text::joined({std::to_string(position.range), "!", std::to_string(position.taken)});
    if (position.continuation) {
        place += '!';
        detail::append_printable(place, *position.continuation);
    }
    return detail::token_of(parts, select, place);
}

ENTITABLE_LAZY_BODY result<query_position> read_token(
    query_parts const& parts, projection const& select, std::string_view token) {
    constexpr std::size_t position_at = 19; // follows "1!", 16 digits and "!"
    std::string_view place = token.substr(token.size() < position_at ? token.size() : position_at);
    if (token.size() < position_at || detail::token_of(parts, select, place) != token) {
        failure refused{error_code::continuation_invalid,
            token.starts_with("1!") ? "the token does not belong to this query: pass it unchanged, with the same "
                                      "table, predicate and select"
                                    : "the token is malformed, or from a later version of this library"};
        refused.error().detail = text::printable(text::shortened(token));
        return refused;
    }
    query_position position;
    position.range = static_cast<std::size_t>(detail::take_decimal(place));
    bool const with_continuation = place.find('!') != std::string_view::npos;
    position.taken = detail::take_decimal(place);
    if (with_continuation) { position.continuation = detail::from_printable(place); }
    return position;
}

ENTITABLE_END_NAMESPACE
