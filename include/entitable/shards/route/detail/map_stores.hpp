// SPDX-License-Identifier: MIT
// Copyright (c) 2026 the entitable authors
#pragma once

/// \file
/// The stores of a map: a new store receives the identity of the map before it receives a shard.

#include <entitable/shards/route/detail/sharded_state.hpp>

#include <set>

ENTITABLE_BEGIN_NAMESPACE
namespace detail {

/// Adds a store to the map: writes the identity to the store, then lists it in the map. Does nothing for a map without an identity.
/// WrongStore if the map already lists the store but its identity is missing.
[[nodiscard]] result<void> list_store(sharded_state& state, std::string const& name);
/// Adds stores to the list in a change of the map.
[[nodiscard]] result<void> note_stores(
    shard_map_copy const& map, shard_map_draft& draft, std::set<std::string> const& names);
/// Checks that the table of a virtual shard is in its store. WrongStore if it is missing.
[[nodiscard]] result<void> check_part(
    sharded_state& state, shard_place const& place, shard_table const& table, call const& caller);
/// Whether the map was changed since this copy was read. If so, a shard may have moved, and a missing table need not be
/// lost.
[[nodiscard]] result<bool> has_changed(shard_map_copy const& map, lookup_map_state& source);

} // namespace detail
ENTITABLE_END_NAMESPACE

#if !defined(ENTITABLE_SEPARATE_COMPILATION)
#include <entitable/shards/route/impl/map_stores.ipp>
#endif
