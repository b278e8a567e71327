// SPDX-License-Identifier: MIT
// Copyright (c) 2026 the entitable authors
#pragma once

/// \file
/// One virtual shard in a fan-out: the ranges still to be queried, and the rows waiting to be merged.

#include <entitable/shards/map/detail/shard_page_request.hpp>
#include <entitable/shards/route/detail/shard_token.hpp>
#include <entitable/shards/route/detail/sharded_state.hpp>

ENTITABLE_BEGIN_NAMESPACE
namespace detail {

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
    std::string etag_start; ///< start of the ETags of the rows, built when first needed
    std::size_t at{};
    std::optional<last_keys> last; ///< the keys of the last row received from this shard
    bool ended{};
    bool failed{};

    [[nodiscard]] bool hungry() const noexcept { return at == rows.size() && !ended; }
    /// Returns the keys whose shard is queried next, or was queried for these keys.
    [[nodiscard]] shard_keys keys_of(key_interval const& of) const noexcept {
        bool const bounded = of.lower.end != key_bound::kind::open;
        return {bounded ? std::string_view{of.lower.key} : std::string_view{}, &of, shard};
    }
    [[nodiscard]] row_view front() const noexcept { return rows[at]; }
};

} // namespace detail
ENTITABLE_END_NAMESPACE
