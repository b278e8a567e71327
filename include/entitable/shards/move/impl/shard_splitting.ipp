// SPDX-License-Identifier: MIT
// Copyright (c) 2026 the entitable authors
#pragma once

#include <entitable/client/table.hpp>
#include <entitable/core/guid.hpp>
#include <entitable/core/request/batch_packer.hpp>
#include <entitable/core/request/page_cursor.hpp>
#include <entitable/core/request/validate.hpp>
#include <entitable/core/text.hpp>
#include <entitable/core/transport/contention.hpp>
#include <entitable/core/transport/run.hpp>
#include <entitable/core/try.hpp>
#include <entitable/shards/map/detail/lookup_map_state.hpp>
#include <entitable/shards/map/placement_rules.hpp>
#include <entitable/shards/move/detail/shard_splitting.hpp>

ENTITABLE_BEGIN_NAMESPACE
namespace detail {

inline result<void> lies_within(shard_map_row const& row, std::string_view key, std::string const& named) {
    bool const behind_first = text::compare_utf16(row.low, key) < 0;
    if (behind_first && (row.high.empty() || text::compare_utf16(key, row.high) < 0)) { return {}; }
    failure outside{error_code::invalid_input, named + " can only be split between its first key and its end"};
    outside.error().detail = text::printable(text::joined({"at ", text::shortened(key), ", from ",
        text::shortened(row.low), " to ", row.high.empty() ? std::string{"the end"} : text::shortened(row.high)}));
    return outside;
}

/// Checks that the range may be split now.
inline result<void> may_be_split(shard_map_copy const& map, shard_map_row const& row, std::string_view key) {
    constexpr std::int32_t last_number = 9'999; // four digits
    std::string const named = text::joined({"the virtual shard ", std::to_string(row.shard)});
    ENTITABLE_CHECK(lies_within(row, key, named));
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
        if (!list_contains(each.shards, std::to_string(shard))) { continue; }
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

/// Adds the removal of each row of a page.
inline result<void> add_removals(batch_packer& to, page const& rows) {
    for (row_view const each : rows) {
        ENTITABLE_CHECK(to.add(mutation::remove(row{each.partition_key, each.row_key, {}}, any_etag)));
    }
    return {};
}

ENTITABLE_DECL resumable<void> erase_keys(std::string table, std::vector<key_interval> partitions,
    std::uint32_t page_size, std::size_t place, std::uint64_t& erased) {
    query_entities keys_of_all{table, {}, {}, {}, page_size, {}};
    keys_of_all.select = {"PartitionKey", "RowKey"};
    page_cursor pages{std::move(keys_of_all)};
    batch_packer packer{std::move(table), storage_profile()};
    contention refusals{most_resends, resend_backoff}; // consecutive
    while (!partitions.empty()) {
        pages.request().range.partition = partitions.back();
        auto const found = pages.take(co_await ask(pages.request(), {.place = place}));
        if (!found && found.error().code == error_code::table_not_found) { co_return {}; }
        if (!found) { co_return failure{found.error()}; }
        if (found->rows.empty() && pages.more()) { continue; } // an empty page is not always the last one
        pages.restart(); // the rows of this page are erased: the next one begins where it did
        if (found->rows.empty()) { partitions.pop_back(); }
        ENTITABLE_CO_CHECK(add_removals(packer, found->rows));
        while (auto const batch = packer.take()) {
            auto const done = co_await ask(*batch, {.place = place});
            if (done) {
                refusals.restart();
                erased += done->results.size();
                continue;
            }
            if (done.error().code == error_code::table_not_found) { co_return {}; }
            bool const met =
                done.error().code == error_code::resource_not_found || done.error().effect == effect::unknown;
            if (!met || refusals.is_last()) { co_return failure{done.error()}; }
            while (packer.take()) {
            } // others erase the same rows, or the response was lost: a query shows the remaining rows
            co_await delay_next{refusals.delay(0)};
        }
    }
    co_return {};
}

} // namespace detail
ENTITABLE_END_NAMESPACE
