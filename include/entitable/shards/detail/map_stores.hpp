// SPDX-License-Identifier: MIT
// Copyright (c) 2026 the entitable authors
#pragma once

/// \file
/// The stores of a map: a new one gets the identity of the map before it gets a shard.

#include <entitable/shards/detail/sharded_state.hpp>

#include <set>

ENTITABLE_BEGIN_NAMESPACE
namespace detail {

/// Makes a store one of the map: the identity is written there, then the map lists it. Nothing for a map without an identity. WrongStore where the map
/// lists it already, and it has no identity any more.
[[nodiscard]] result<void> list_store(sharded_state& state, std::string const& name);
/// Adds to a change of the map that it lists stores.
[[nodiscard]] result<void> note_stores(
    shard_map_copy const& map, shard_map_draft& draft, std::set<std::string> const& names);
/// Whether a table of a virtual shard is in its store: WrongStore where it is not.
[[nodiscard]] result<void> check_part(
    sharded_state& state, shard_place const& place, shard_table const& table, call const& caller);

} // namespace detail
ENTITABLE_END_NAMESPACE

#if !defined(ENTITABLE_SEPARATE_COMPILATION)
#include <entitable/shards/impl/map_stores.ipp>
#endif
