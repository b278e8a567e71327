// SPDX-License-Identifier: MIT
// Copyright (c) 2026 the entitable authors
#pragma once

#include <entitable/client/table.hpp>
#include <entitable/core/guid.hpp>
#include <entitable/core/request/validate.hpp>
#include <entitable/core/text.hpp>
#include <entitable/core/transport/run.hpp>
#include <entitable/core/try.hpp>
#include <entitable/shards/map/detail/lookup_map_state.hpp>
#include <entitable/shards/map/detail/rule_lists.hpp>
#include <entitable/shards/map/placement_rules.hpp>
#include <entitable/shards/move/detail/shard_splitting.hpp>

ENTITABLE_BEGIN_NAMESPACE
namespace detail {

/// Checks that the range may be split now.
inline result<void> may_be_split(shard_map_copy const& map, shard_map_row const& row, std::string_view key) {
    constexpr std::int32_t last_number = 9'999; // four digits
    std::string const named = text::joined({"the virtual shard ", std::to_string(row.shard)});
    if (text::compare_utf16(row.low, key) >= 0 || (!row.high.empty() && text::compare_utf16(key, row.high) >= 0)) {
        failure outside{error_code::invalid_input, named + " can only be split between its first key and its end"};
        outside.error().detail = text::printable(text::joined({"at ", text::shortened(key), ", from ",
            text::shortened(row.low), " to ", row.high.empty() ? std::string{"the end"} : text::shortened(row.high)}));
        return outside;
    }
    if (!row.attempt_owner.empty()) {
        failure busy{error_code::shard_moving, named + " is being moved: finish or cancel that move first"};
        busy.error().retry_after = std::chrono::milliseconds{200};
        return busy;
    }
    if (row.state != "open") {
        return failure{error_code::shard_moving, text::joined({named, " is offline or read-only: ", row.reason})};
    }
    if (map.places.size() >= virtual_shards::most || map.header.number > last_number) {
        return failure{error_code::invalid_input,
            text::joined(
                {"a map can have at most ", std::to_string(virtual_shards::most), " virtual shards, numbered up to ",
                    std::to_string(last_number), ": merge some, or copy to a new map"})};
    }
    return {};
}

/// Changes the rows of both halves; false if the split is already in the map. `upper` is the number of the upper half in the last draft.
inline result<bool> draft_split(shard_map_copy const& map, shard_map_draft& draft, std::int32_t shard,
    std::string const& key, std::int32_t& upper) {
    if (!map.by_ranges) {
        return failure{error_code::invalid_input, "only ranges can be split: this map assigns shards by a function"};
    }
    shard_place const* const made = map.find_shard(upper);
    if (made != nullptr && made->row.low == key) {
        return false; // applied by an earlier send, and others have changed both halves since
    }
    shard_row_draft* const lower = draft.edit(map, shard);
    if (lower == nullptr) {
        return failure{error_code::invalid_input, text::joined({"no virtual shard ", std::to_string(shard)})};
    }
    ENTITABLE_CHECK(may_be_split(map, lower->row, key));
    shard_row_draft above{lower->row, {}, {}, false};
    upper = draft.header.number++;
    above.row.shard = upper;
    above.row.low = key;
    above.row.tables_of = lower->row.tables_of.value_or(shard);
    lower->row.high = key;
    draft.rows.push_back(std::move(above));
    return true;
}

ENTITABLE_DECL resumable<std::int32_t> split_in_map(
    std::string table, std::int32_t shard, std::string key, std::string nonce, also_in_splitting also) {
    std::int32_t upper = -1;
    shard_map_edit edit = [&](shard_map_copy const& map, shard_map_draft& draft) -> result<bool> {
        ENTITABLE_TRY(bool const wanted, draft_split(map, draft, shard, key, upper));
        if (wanted && also) { ENTITABLE_CHECK(also(upper, draft)); }
        return wanted;
    };
    ENTITABLE_CO_CHECK(co_await change_shard_map(std::move(table), std::move(nonce), std::move(edit)));
    co_return upper;
}

/// Adds the number of the upper half to the rules that name the shard.
inline result<void> name_upper_half(
    lookup_map const& map, std::int32_t shard, std::int32_t upper, std::vector<mutation>& changes) {
    table<placement_rule> const stored{map.state().catalogue, map.state().table};
    ENTITABLE_TRY(auto const rules, rules_of(map));
    for (placement_rule const& each : rules.all()) {
        if (!rule_names(each.shards, std::to_string(shard))) { continue; }
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

ENTITABLE_DECL result<std::int32_t> split_range(lookup_map const& map, std::int32_t shard, std::string key) {
    ENTITABLE_CHECK(validate_key(key, "PartitionKey", storage_profile()));
    lookup_map_state& state = map.state();
    call context;
    auto splitting = split_in_map(state.table, shard, std::move(key), guid::random().to_string(),
        [&](std::int32_t upper, shard_map_draft& draft) {
            return name_upper_half(map, shard, upper, draft.others);
        }).begin(state.now());
    auto done = run(splitting, context, *state.options.time, state.catalogue);
    if (done) {
        ENTITABLE_CHECK(state.fresh({})); // so that this process's copy has the new shard
    }
    return done;
}

} // namespace detail
ENTITABLE_END_NAMESPACE
