// SPDX-License-Identifier: MIT
// Copyright (c) 2026 the entitable authors
#pragma once

/// \file
/// One virtual shard in a fan-out: the ranges still to be queried, and the rows waiting to be merged.

#include <entitable/core/detail/hexadecimal.hpp>
#include <entitable/core/request/part_hash.hpp>
#include <entitable/core/result.hpp>
#include <entitable/core/text.hpp>
#include <entitable/shards/map/detail/watched_stores.hpp>
#include <entitable/shards/route/detail/sharded_state.hpp>

#include <algorithm>
#include <optional>
#include <string>
#include <vector>

ENTITABLE_BEGIN_NAMESPACE
namespace detail {

/// Like `run_all`. Each call holds the state of the request whose response was used.
[[nodiscard]] bool ask_hedged(std::vector<shard_page_request>& requests, std::vector<call>& calls,
    std::vector<channel*> const& places, io_driver& io, sharded_state& state);

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

inline failure invalid_shard_token(std::string const& token) {
    failure refused{error_code::continuation_invalid,
        "invalid continuation token: pass a token from this query back unchanged, with the same table, "
        "keys, filter and projection"};
    refused.error().detail = text::printable(text::shortened(token));
    return refused;
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
    return invalid_shard_token(token);
}

/// A place in a query that reads hashed shards one after the other: in this shard, after its last row if there is one.
struct shard_turn {
    std::int32_t shard{};
    std::optional<last_keys> last;
};

/// Whether a token has the form of `token_of_turn`.
[[nodiscard]] inline bool is_turn_token(std::string_view token) noexcept { return token.starts_with("2!"); }
/// "2!<checksum over query and place>!<shard>", then "!<partition key>!<row key>" in hexadecimal digits if there is a last row.
[[nodiscard]] std::string token_of_turn(std::uint64_t query, shard_turn const& at);
[[nodiscard]] result<shard_turn> turn_of_token(std::uint64_t query, std::string const& token);

/// Returns the remainder of a range after a row: the rest of its partition, and the partitions after it.
inline std::vector<key_range> ranges_behind(
    key_range const& whole, std::optional<last_keys> const& last, bool has_partition) {
    std::vector<key_range> left;
    auto const add = [&](key_range range) {
        if (!range.is_empty()) { left.push_back(std::move(range)); }
    };
    if (!last) {
        add(whole);
        return left;
    }
    if (has_partition && whole.partition.contains(last->partition_key)) {
        add({key_interval::only(last->partition_key),
            intersection(whole.row, {key_bound::excluding(last->row_key), {}})});
    }
    add({intersection(whole.partition, {key_bound::excluding(last->partition_key), {}}), whole.row});
    return left;
}

/// One virtual shard in a fan-out, as it was in the map at the start. With a map of ranges, it is a set of keys: the
/// shards that now hold them are queried one after the other.
struct shard_part {
    std::int32_t shard{};
    key_interval keys; ///< all keys if a function assigns the shards
    shard_route way;
    std::vector<key_range> ranges; ///< still to be queried, the current one first
    query_entities asked;          ///< the query of the current range, limited to the shard of `way`
    page rows;
    std::size_t at{};
    std::vector<std::size_t> run_ends; ///< ends of runs of `rows` that are of one partition each; may be fewer
    std::size_t run{};                 ///< runs before `at`
    std::optional<last_keys> last;     ///< the keys of the last row received from this shard
    bool ended{};
    bool failed{};
    bool queued{};    ///< its next row waits to be merged
    bool stale{};     ///< whether `rows` may be behind the primary
    bool has_etags{}; ///< `rows` have the ETags that clients of `sharded` see

    [[nodiscard]] bool hungry() const noexcept { return at == rows.size() && !ended; }
    /// Returns the keys whose shard is queried next, or was queried for these keys.
    [[nodiscard]] shard_keys keys_of(key_interval const& of) const noexcept {
        bool const bounded = of.lower.end != key_bound::kind::open;
        return {bounded ? std::string_view{of.lower.key} : std::string_view{}, &of, shard};
    }
    [[nodiscard]] row_view front() const noexcept { return rows[at]; }
    /// Returns the end of the rows that follow in the partition of the next one.
    [[nodiscard]] std::size_t end_of_partition(std::string_view partition) noexcept {
        std::size_t end = at;
        do {
            while (run < run_ends.size() && run_ends[run] <= end) { ++run; }
            end = run < run_ends.size() ? run_ends[run] : end + 1;
        } while (end < rows.size() && rows[end].partition_key == partition);
        return end;
    }
};

/// A part with rows, and the partition of its next row.
struct queued_part {
    std::string_view partition;
    shard_part* part;

    /// Whether it comes behind another one, so that a heap has the first at its front. A partition is in one shard.
    static bool behind(queued_part const& left, queued_part const& right) {
        return text::compare_utf16(left.partition, right.partition) > 0;
    }
};

/// Restores a heap of parts after its front has changed. The new front usually belongs near the leaves, so its place is sought from there.
inline void sink_front(std::vector<queued_part>& heap) {
    queued_part const moved = heap.front();
    std::size_t at = 0;
    for (std::size_t next = 1; next < heap.size(); next = 2 * at + 1) {
        bool const right = next + 1 < heap.size() && queued_part::behind(heap[next], heap[next + 1]);
        next += right ? 1 : 0;
        heap[at] = heap[next];
        at = next;
    }
    heap[at] = moved;
    std::push_heap(heap.begin(), heap.begin() + static_cast<std::ptrdiff_t>(at) + 1, queued_part::behind);
}

} // namespace detail
ENTITABLE_END_NAMESPACE
