// SPDX-License-Identifier: MIT
// Copyright (c) 2026 the entitable authors
#pragma once

#include <entitable/client/mapping/codec.hpp>
#include <entitable/core/text.hpp>
#include <entitable/core/try.hpp>
#include <entitable/shards/map/detail/store_rows.hpp>
#include <entitable/shards/route/detail/map_stores.hpp>
#include <entitable/shards/route/detail/shard_tables.hpp>

ENTITABLE_BEGIN_NAMESPACE
namespace detail {

/// Lists stores in a change of the map.
ENTITABLE_DECL result<void> note_stores(
    shard_map_copy const& map, shard_map_draft& draft, std::set<std::string> const& names) {
    for (std::string const& name : names) {
        if (!map.lists(name)) {
            ENTITABLE_TRY(auto row, to_row(shard_map_store{"map", name, system_clock().now()}));
            draft.others.push_back(mutation::insert_or_replace(std::move(row)));
        }
    }
    return {};
}

ENTITABLE_DECL result<void> list_store(sharded_state& state, std::string const& name) {
    lookup_map_state& source = state.map.state();
    ENTITABLE_TRY(auto const map, source.fresh({}));
    if (map->identity.empty()) { return {}; }
    if (map->lists(name)) {
        ENTITABLE_CHECK(state.store(name));
        return {};
    }
    ENTITABLE_TRY(auto const through, state.stores.open(name));
    ENTITABLE_CHECK(write_identity(through, map->identity, name));
    ENTITABLE_CHECK(source.change({}, [&](shard_map_copy const& now, shard_map_draft& draft) -> result<bool> {
        ENTITABLE_CHECK(note_stores(now, draft, {name}));
        return !draft.others.empty();
    }));
    ENTITABLE_CHECK(source.fresh({}));
    state.stores.doubt(name);
    return {};
}

ENTITABLE_DECL result<void> check_part(
    sharded_state& state, shard_place const& place, shard_table const& table, call const& caller) {
    ENTITABLE_TRY(auto const through, state.store(place.row.store, caller));
    call context;
    context.deadline = caller.deadline;
    context.cancellation = caller.cancellation;
    auto const found = through.execute(query_of_any_row(place.table_name(table)), context);
    if (!found && found.error().code == error_code::table_not_found) { return lost_part(place, table); }
    return found ? result<void>{} : result<void>{failure{found.error()}};
}

ENTITABLE_DECL result<bool> has_changed(shard_map_copy const& map, lookup_map_state& source) {
    ENTITABLE_TRY(auto const now, source.fresh({}));
    return now->header.version != map.header.version;
}

} // namespace detail
ENTITABLE_END_NAMESPACE
