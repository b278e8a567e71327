// SPDX-License-Identifier: MIT
// Copyright (c) 2026 the entitable authors
#pragma once

#include <entitable/client/companions/log/detail/feed_rows.hpp>
#include <entitable/client/mapping/key_adaptors.hpp>
#include <entitable/core/detail/hexadecimal.hpp>
#include <entitable/core/request/detail/refusal.hpp>
#include <entitable/core/request/part_hash.hpp>

ENTITABLE_BEGIN_NAMESPACE
namespace detail {

ENTITABLE_DECL std::string feed_table_name(std::string_view table) { return std::string{table} + "feed"; }

ENTITABLE_DECL std::size_t feed_lane_of(std::string_view partition_key, std::size_t lanes) noexcept {
    return log_lane_of(partition_key, lanes);
}

ENTITABLE_DECL std::string feed_lane_key(std::size_t lane) {
    std::string made{system_row::feed};
    made += static_cast<char>('0' + lane / 10);
    made += static_cast<char>('0' + lane % 10);
    return made;
}

ENTITABLE_DECL std::string feed_partition_text(std::string_view partition_key) {
    constexpr std::size_t most = 400; // leaves room for a prefix, a group and a number in a key of 512 units
    std::string made;
    append_escaped(made, partition_key);
    if (made.size() <= most) { return made; }
    made = "~2"; // an escaped text does not contain this
    for (std::uint64_t const start : {std::uint64_t{1}, std::uint64_t{2}}) {
        part_hash digest{start};
        digest.add(partition_key);
        append_hexadecimal(made, digest.value());
    }
    return made;
}

ENTITABLE_DECL std::string feed_prefix(char kind) {
    std::string made{system_row::feed};
    made += kind;
    made += '!';
    return made;
}

ENTITABLE_DECL row announcement_row(
    std::string_view partition_key, std::size_t feed_lanes, std::uint32_t log_lane, std::int64_t number) {
    std::string key = feed_prefix('a');
    key += feed_partition_text(partition_key);
    key += '!';
    key += static_cast<char>('0' + log_lane / 10);
    key += static_cast<char>('0' + log_lane % 10);
    key += '!';
    append_hexadecimal(key, static_cast<std::uint64_t>(number));
    row_builder made{feed_lane_key(feed_lane_of(partition_key, feed_lanes)), key};
    made.add("Partition", partition_key);
    return made.build();
}

/// Reads the lane of the log and the number, with which the row key of an announcement ends. Returns whether they have their form.
[[nodiscard]] inline bool read_end_of_key(std::string_view key, announcement& to) noexcept {
    constexpr std::size_t digits = 16;
    if (key.size() <= digits + 4) { return false; }
    std::uint64_t number = 0;
    for (std::size_t at = digits; at > 0; --at) {
        int const digit = hexadecimal_digit(key[key.size() - at]);
        if (digit < 0) { return false; }
        number = number << 4U | static_cast<std::uint64_t>(digit);
    }
    to.number = static_cast<std::int64_t>(number);
    for (std::size_t at = 0; at < 2; ++at) {
        char const digit = key[key.size() - digits - 3 + at];
        if (digit < '0' || digit > '9') { return false; }
        to.log_lane = to.log_lane * 10 + static_cast<std::uint32_t>(digit - '0');
    }
    return true;
}

ENTITABLE_DECL result<announcement> read_announcement(row_view stored) {
    auto const partition = stored.find("Partition");
    announcement made;
    if (!partition || partition->type() != edm_type::string || !read_end_of_key(stored.row_key, made)) {
        failure malformed{error_code::row_mismatch, "an announcement does not have the form of version 1"};
        malformed.error().detail = keys_text(stored.partition_key, stored.row_key);
        return malformed;
    }
    made.row_key = stored.row_key;
    made.partition_key = partition->bytes();
    made.time = stored.timestamp();
    return made;
}

} // namespace detail
ENTITABLE_END_NAMESPACE
