// SPDX-License-Identifier: MIT
// Copyright (c) 2026 the entitable authors
#pragma once

#include <entitable/client/mapping/codec.hpp>
#include <entitable/core/guid.hpp>
#include <entitable/core/request/detail/was_beaten.hpp>
#include <entitable/core/text.hpp>
#include <entitable/core/try.hpp>
#include <entitable/shards/map/detail/store_rows.hpp>
#include <entitable/shards/route/adopt.hpp>
#include <entitable/shards/route/detail/map_stores.hpp>

#include <algorithm>
#include <set>

ENTITABLE_BEGIN_NAMESPACE
namespace detail {

/// The stores of a map that have shards, or get one by a move that began before the map had an identity.
inline std::set<std::string> stores_in_use(shard_map_copy const& map) {
    std::set<std::string> names;
    for (shard_place const& place : map.places) {
        names.insert(place.row.store);
        if (!place.row.attempt_owner.empty()) { names.insert(place.row.attempt_store); }
    }
    return names;
}

/// Drafts a new identity of a map, without effect yet; false if an earlier call has written one.
inline result<bool> draft_identity(lookup_map_state const& map, shard_map_draft& draft, std::string& identity) {
    call context;
    auto const begun =
        map.catalogue.execute(get_entity{map.table, shard_map_identity{}.map, shard_map_identity{}.part, {}}, context);
    if (!begun && begun.error().code != error_code::resource_not_found) { return failure{begun.error()}; }
    shard_map_identity own;
    if (begun) {
        ENTITABLE_CHECK(from_row(begun->entity.view(), own));
        identity = own.identity;
        return false;
    }
    own.identity = identity = guid::random().to_string();
    own.state = "adopting";
    ENTITABLE_TRY(auto row, to_row(own));
    draft.others.push_back(mutation::insert(std::move(row)));
    return true;
}

} // namespace detail

ENTITABLE_DECL result<adoption> adopt(sharded const& cloud) {
    detail::sharded_state& state = cloud.state();
    if (state.fixed) { return failure{error_code::not_supported, "hashed stores have no map to adopt"}; }
    detail::lookup_map_state& source = state.map.state();
    adoption done;
    // The identity comes first, and has no effect yet: a resumed call writes the same identity.
    ENTITABLE_CHECK(source.change({}, [&](auto const& map, detail::shard_map_draft& draft) -> result<bool> {
        done.identity = map.identity;
        if (!done.identity.empty()) { return false; }
        return detail::draft_identity(source, draft, done.identity);
    }));
    std::set<std::string> marked;
    std::set<std::int64_t> whole; // the epochs of tables that have all parts
    for (bool ended = false; !ended;) {
        ENTITABLE_TRY(auto const map, source.fresh({}));
        bool moved = false; // a part that is missing in this store may have moved
        std::set<std::string> added;
        for (std::string const& name : detail::stores_in_use(*map)) {
            if (marked.find(name) == marked.end()) { added.insert(name); }
        }
        for (detail::shard_place const& place : map->places) {
            for (detail::shard_table const& table : map->tables) {
                if (table.dropping || added.find(place.row.store) == added.end()) { continue; }
                if (auto part = detail::check_part(state, place, table, {}); !part) {
                    ENTITABLE_TRY(moved, detail::has_changed(*map, source));
                    if (!moved) { return std::move(part).as_failure(); }
                }
                whole.insert(table.epoch);
            }
        }
        if (moved) { continue; }
        for (std::string const& name : added) {
            ENTITABLE_TRY(auto const through, state.stores.open(name));
            ENTITABLE_TRY(auto const before, detail::read_store_rows(through, name));
            ENTITABLE_CHECK(detail::write_identity(through, done.identity, name));
            if (!before.identity) { done.stores.push_back(name); }
            marked.insert(name);
        }
        ENTITABLE_CHECK(source.change({}, [&](auto const& now, detail::shard_map_draft& draft) -> result<bool> {
            auto const used = detail::stores_in_use(now);
            ended = std::includes(marked.begin(), marked.end(), used.begin(), used.end());
            if (!ended) {
                return false; // a shard has moved to another store in the meantime
            }
            ENTITABLE_CHECK(detail::note_stores(now, draft, marked));
            bool changes = !draft.others.empty();
            for (detail::shard_table& table : draft.tables) {
                if (!table.dropping && !table.whole && whole.find(table.epoch) != whole.end()) {
                    table.whole = changes = true;
                }
            }
            if (now.identity.empty()) {
                ENTITABLE_TRY(auto row, to_row(shard_map_identity{"map", "identity", done.identity, {}}));
                draft.others.push_back(mutation::insert_or_replace(std::move(row)));
                changes = true;
            }
            return changes;
        }));
    }
    ENTITABLE_CHECK(source.fresh({}));
    for (std::string const& name : marked) { state.stores.doubt(name); }
    return done;
}

ENTITABLE_DECL result<void> release_store(any_store const& store) {
    ENTITABLE_TRY(auto keys, to_row(store_identity{}));
    call context;
    auto const done = store.execute(
        write_entity{std::string{detail::store_rows_table}, mutation::remove(std::move(keys), any_etag)}, context);
    if (!done && !detail::is_absent(done)) { return failure{done.error()}; }
    return {};
}

ENTITABLE_END_NAMESPACE
