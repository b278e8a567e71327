// SPDX-License-Identifier: MIT
// Copyright (c) 2026 the entitable authors
#pragma once

#include <entitable/core/try.hpp>
#include <entitable/shards/fleet/detail/shard_visits.hpp>
#include <entitable/shards/fleet/detail/stored_rows.hpp>
#include <entitable/shards/fleet/fleet_ranges.hpp>

#include <algorithm>
#include <map>

ENTITABLE_BEGIN_NAMESPACE
namespace detail {

/// Compares keys in the service's order.
struct by_utf16 {
    bool operator()(std::string const& left, std::string const& right) const noexcept {
        return text::compare_utf16(left, right) < 0;
    }
};

} // namespace detail

ENTITABLE_DECL result<std::string> split_key(fleet const& of, std::int32_t shard) {
    std::map<std::string, std::uint64_t, detail::by_utf16> sizes;
    std::uint64_t whole = 0;
    auto const measure = [&](detail::shard_visit const& at, any_store const& through) -> result<void> {
        sizes.clear();
        whole = 0;
        for (detail::visited_table const& table : at.tables) {
            detail::stored_rows rows{through, table.stored, at.keys};
            for (;;) {
                ENTITABLE_TRY(auto const each, rows.next());
                if (!each) { break; }
                std::uint64_t const bytes = each->partition_key.size() + each->row_key.size() + each->payload.size();
                sizes[std::string{each->partition_key}] += bytes;
                whole += bytes;
            }
        }
        return {};
    };
    auto const wanted = [&](detail::shard_visit const& at) { return at.shard == shard; };
    ENTITABLE_TRY(auto const visited, detail::visit_shards(of, wanted, {}, measure));
    if (visited.shards.empty()) {
        return failure{error_code::invalid_input, text::joined({"no virtual shard ", std::to_string(shard)})};
    }
    ENTITABLE_CHECK(visited.shards.front().outcome);
    if (sizes.size() < 2) {
        return failure{error_code::invalid_input,
            text::joined({"the virtual shard ", std::to_string(shard),
                " has fewer than two partitions, so it cannot be split"})};
    }
    std::uint64_t below = 0;
    auto best = sizes.begin();
    std::uint64_t least = whole;
    for (auto each = sizes.begin(); each != sizes.end(); ++each) {
        std::uint64_t const larger = (std::max)(below, whole - below);
        if (below > 0 && larger < least) {
            least = larger;
            best = each;
        }
        below += each->second;
    }
    return best->first;
}

ENTITABLE_END_NAMESPACE
