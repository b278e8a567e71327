// SPDX-License-Identifier: MIT
// Copyright (c) 2026 the entitable authors
#pragma once

/// \file
/// Ends an attempt to move a shard, in the rows of a map.

#include <entitable/core/text.hpp>
#include <entitable/shards/map/shard_map.hpp>

ENTITABLE_BEGIN_NAMESPACE
namespace detail {

inline void clear_attempt(shard_map_row& row) {
    row.state = "open";
    row.lease_ms = row.open_lease_ms;
    row.attempt_owner.clear();
    row.attempt_store.clear();
    row.attempt_epoch = 0;
    row.attempt_with.reset();
}

/// Ends the attempt in a row and in the adjacent row that shares its new tables. Marks these tables to be dropped.
inline void end_attempt(shard_map_copy const& map, shard_map_draft& draft, shard_map_row& row, shard_row_draft& own) {
    std::int32_t number = row.shard; // number of the lower shard, in the names of the new tables
    if (shard_row_draft* const other = row.attempt_with ? draft.edit(map, *row.attempt_with) : nullptr) {
        number = text::compare_utf16(other->row.low, row.low) < 0 ? other->row.shard : number;
        clear_attempt(other->row);
    }
    own.retired.push_back({row.attempt_store, row.attempt_epoch, draft.header.next_epoch, number});
    clear_attempt(row);
}

} // namespace detail
ENTITABLE_END_NAMESPACE
