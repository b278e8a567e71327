// SPDX-License-Identifier: MIT
// Copyright (c) 2026 the entitable authors
#pragma once

/// \file
/// Creates, drops and lists logical tables; finds the virtual shards that a range of keys overlaps.

#include <entitable/shards/route/detail/sharded_state.hpp>

ENTITABLE_BEGIN_NAMESPACE
namespace detail {

[[nodiscard]] result<create_table::response> create_sharded_table(
    sharded_state& state, create_table const& request, call& context);
[[nodiscard]] result<delete_table::response> delete_sharded_table(
    sharded_state& state, delete_table const& request, call& context);
[[nodiscard]] result<list_tables::response> list_sharded_tables(
    sharded_state& state, list_tables const& request, call& context);

/// Creates a logical table over hashed stores.
[[nodiscard]] result<create_table::response> create_hashed_table(
    sharded_state& state, create_table const& request, call& context);
[[nodiscard]] result<delete_table::response> delete_hashed_table(
    sharded_state& state, delete_table const& request, call& context);

/// Whether a virtual shard and a range of keys may overlap, judged by ranges.
[[nodiscard]] bool meets_range(shard_place const& place, key_range const& range);
/// WrongStore: according to the map a table was complete, but its part in the store of a shard is missing now.
[[nodiscard]] failure lost_part(shard_place const& place, shard_table const& table);
/// Drops a physical table; succeeds if it does not exist.
[[nodiscard]] result<void> drop_shard_table(
    sharded_state& state, std::string_view store, std::string table, call const& caller);

} // namespace detail
ENTITABLE_END_NAMESPACE
