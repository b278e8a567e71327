// SPDX-License-Identifier: MIT
// Copyright (c) 2026 the entitable authors
#pragma once

#include <entitable/client/table.hpp>
#include <entitable/core/try.hpp>
#include <entitable/fleet/detail/rule_lists.hpp>
#include <entitable/fleet/detail/shard_visits.hpp>
#include <entitable/fleet/detail/stored_rows.hpp>
#include <entitable/fleet/fleet_ranges.hpp>
#include <entitable/shards/detail/shard_splitting.hpp>

#include <algorithm>
#include <map>

ENTITABLE_BEGIN_NAMESPACE
namespace detail {

/// The service's order of keys.
struct by_utf16 {
    bool operator()(std::string const& left, std::string const& right) const noexcept {
        return text::compare_utf16(left, right) < 0;
    }
};

/// What rules that name a shard are to say once the upper half of it has a number.
inline result<void> name_upper_half(
    lookup_map const& map, std::int32_t shard, std::int32_t upper, std::vector<mutation>& changes) {
    table<placement_rule> const stored{map.state().catalogue, map.state().table};
    ENTITABLE_TRY(auto const rules, rules_of(map));
    for (placement_rule const& each : rules.all()) {
        if (!rule_names(each.shards, std::to_string(shard))) {
            continue;
        }
        if (each.name == placement_of(shard)) {
            placement_rule own = each;
            own.name = placement_of(upper);
            own.shards = std::to_string(upper);
            ENTITABLE_TRY(auto row, to_row(own));
            changes.push_back(mutation::insert_or_replace(std::move(row)));
            continue;
        }
        ENTITABLE_TRY(auto found, stored.get_stored("map", each.name));
        found.entity.shards += text::joined({";", std::to_string(upper)});
        ENTITABLE_TRY(auto row, to_row(found.entity));
        changes.push_back(mutation::replace(std::move(row), found.etag));
    }
    return {};
}

} // namespace detail

ENTITABLE_DECL result<std::int32_t> split_shard(fleet const& of, std::int32_t shard, std::string key) {
    lookup_map const& map = of.cloud().map();
    return detail::split_range(
        map.state(), shard, std::move(key), [&](std::int32_t upper, detail::shard_map_draft& draft) {
            return detail::name_upper_half(map, shard, upper, draft.others);
        });
}

ENTITABLE_DECL result<move_plan> plan_merge(
    fleet const& of, std::int32_t lower, std::int32_t upper, std::string target, move_options options) {
    ENTITABLE_TRY(auto const rules, rules_of(of.cloud().map()));
    ENTITABLE_CHECK(rules.allows(lower, target));
    ENTITABLE_CHECK(rules.allows(upper, target));
    for (placement_rule const& each : rules.all()) {
        bool const names_lower = detail::rule_names(each.shards, std::to_string(lower));
        if (names_lower != detail::rule_names(each.shards, std::to_string(upper))) {
            return failure{error_code::placement_forbidden,
                text::joined({"the rule \"", each.name, "\" names the virtual shard ",
                    std::to_string(names_lower ? lower : upper), " and not ",
                    std::to_string(names_lower ? upper : lower), ": they are not merged"})};
        }
    }
    return plan_merge(of.cloud(), lower, upper, std::move(target), std::move(options));
}

ENTITABLE_DECL result<std::string> split_key(fleet const& of, std::int32_t shard) {
    std::map<std::string, std::uint64_t, detail::by_utf16> sizes;
    std::uint64_t whole = 0;
    auto const measure = [&](detail::shard_visit const& at, any_transport const& through) -> result<void> {
        sizes.clear();
        whole = 0;
        for (detail::visited_table const& table : at.tables) {
            detail::stored_rows rows{through, table.stored, at.keys};
            for (;;) {
                ENTITABLE_TRY(auto const each, rows.next());
                if (!each) {
                    break;
                }
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
        return failure{error_code::invalid_input, text::joined({"there is no virtual shard ", std::to_string(shard)})};
    }
    ENTITABLE_CHECK(visited.shards.front().outcome);
    if (sizes.size() < 2) {
        return failure{error_code::invalid_input,
            text::joined({"the virtual shard ", std::to_string(shard), " has no two partitions to be split between"})};
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
