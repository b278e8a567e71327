// SPDX-License-Identifier: MIT
// Copyright (c) 2026 the entitable authors
#pragma once

/// \file
/// Logical tables: made, dropped and listed; and which virtual shards a range of keys meets.

#include <entitable/shards/detail/sharded_state.hpp>

ENTITABLE_BEGIN_NAMESPACE
namespace detail {

[[nodiscard]] result<create_table::response> create_sharded_table(
    sharded_state& state, create_table const& request, call& context);
[[nodiscard]] result<delete_table::response> delete_sharded_table(
    sharded_state& state, delete_table const& request, call& context);
[[nodiscard]] result<list_tables::response> list_sharded_tables(
    sharded_state& state, list_tables const& request, call& context);

/// The same over stores on a hash.
[[nodiscard]] result<create_table::response> create_hashed_table(
    sharded_state& state, create_table const& request, call& context);
[[nodiscard]] result<delete_table::response> delete_hashed_table(
    sharded_state& state, delete_table const& request, call& context);

/// Whether the keys of a virtual shard and a range have some in common, as far as ranges tell.
[[nodiscard]] bool meets_range(shard_place const& place, key_range const& range);
/// WrongStore: a table that the map says was whole has no part in the store of a shard any more.
[[nodiscard]] failure lost_part(shard_place const& place, shard_table const& table);
/// Drops a physical table; one that is gone is done.
[[nodiscard]] result<void> drop_shard_table(
    sharded_state& state, std::string_view store, std::string table, call const& caller);

} // namespace detail
ENTITABLE_END_NAMESPACE
