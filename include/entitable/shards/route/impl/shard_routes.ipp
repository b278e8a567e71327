// SPDX-License-Identifier: MIT
// Copyright (c) 2026 the entitable authors
#pragma once

// Finds the place of keys, and checks whether a response from there is still valid.

#include <entitable/core/text.hpp>
#include <entitable/core/try.hpp>
#include <entitable/shards/route/detail/sharded_state.hpp>

ENTITABLE_BEGIN_NAMESPACE
namespace detail {

inline failure no_such_table() { return failure{error_code::table_not_found, "the table is not in the shard map"}; }

ENTITABLE_DECL result<shard_map_ref> sharded_state::map_with(std::string_view table, call const& context) {
    ENTITABLE_TRY(auto known, map.state().current(context, map.state().now()));
    shard_table const* found = known->find(table);
    if (found == nullptr || found->dropping || !known->good(known->places.front(), map.state().now())) {
        ENTITABLE_TRY(known, map.state().fresh(context));
        found = known->find(table);
        if (found == nullptr || found->dropping) { return no_such_table(); }
    }
    return known;
}

ENTITABLE_DECL result<shard_route> sharded_state::route(
    shard_keys const& keys, std::string_view table, bool writes, call const& context) {
    lookup_map_state& source = map.state();
    steady_time const at = source.now();
    ENTITABLE_TRY(auto known, source.current(context, at));
    for (bool again = false;; again = true) {
        shard_table const* const found = known->find(table);
        shard_place const* const place = keys.place_in(*known);
        bool const there = found != nullptr && !found->dropping && place != nullptr;
        if (there && place->allows(writes) && (again || known->good(*place, at))) {
            return shard_route{std::move(known), place, found};
        }
        if (again) {
            if (!there) { return no_such_table(); }
            shard_map_row const& row = place->row;
            failure moving{error_code::shard_moving,
                text::joined({"the virtual shard ", std::to_string(row.shard), " on the store ", row.store, " is ",
                    row.state, row.reason.empty() ? "" : ": ", row.reason})};
            moving.error().retry_after = std::chrono::milliseconds{200};
            return moving;
        }
        ENTITABLE_TRY(known, source.fresh(context));
    }
}

/// Whether a place that still has the tables of a route, together with the following places that have these tables, covers all of these
/// keys.
inline bool all_lead_to(
    shard_map_copy const& map, shard_keys const& keys, function_ref<bool(shard_place const&)> leads) {
    shard_place const* place = keys.place_in(map);
    if (place == nullptr || !leads(*place)) { return false; }
    if (!map.by_ranges || keys.range == nullptr) { return true; }
    key_bound const& end = keys.range->upper;
    for (++place; place != map.places.data() + map.places.size(); ++place) { // after a split several places have these
                                                                             // tables
        int const order = end.end == key_bound::kind::open ? -1 : text::compare_utf16(place->row.low, end.key);
        if (order > 0 || (order == 0 && end.end == key_bound::kind::exclusive)) { return true; }
        if (!leads(*place)) { return false; }
    }
    return true;
}

ENTITABLE_DECL bool sharded_state::holds_by_lease(shard_route const& way, shard_keys const& keys, bool writes) {
    lookup_map_state& source = map.state();
    steady_time const at = source.now();
    shard_map_ref held;
    {
        std::lock_guard<std::mutex> const guard{source.lock};
        held = source.held;
    }
    if (held.get() == way.map.get() && keys.range == nullptr) { // the map was not read again since
        return held && way.place->allows(writes) && held->good(*way.place, at);
    }
    return held && all_lead_to(*held, keys, [&](shard_place const& each) {
        return way.leads_to(each) && each.allows(writes) && held->good(each, at);
    });
}

ENTITABLE_DECL result<bool> sharded_state::still_holds(shard_route const& way, shard_keys const& keys,
    std::string_view table, bool writes, bool table_missing, call const& context) {
    lookup_map_state& source = map.state();
    auto const holds = [&](shard_place const& place) { return way.leads_to(place) && place.allows(writes); };
    if (!table_missing && holds_by_lease(way, keys, writes)) { return true; }
    ENTITABLE_TRY(auto const read, source.fresh(context));
    if (!all_lead_to(*read, keys, holds)) { return false; }
    if (!table_missing) { return true; }
    shard_table const* const found = read->find(table);
    return found != nullptr && !found->dropping && (std::max)(way.epoch(), found->epoch) == way.table_epoch();
}

} // namespace detail
ENTITABLE_END_NAMESPACE
