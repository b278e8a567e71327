// SPDX-License-Identifier: MIT
// Copyright (c) 2026 the entitable authors
#pragma once

/// \file
/// Reads and changes a map, as resumable operations that use one transport.

#include <entitable/core/request/resumable.hpp>
#include <entitable/shards/map/shard_map.hpp>

#include <functional>

ENTITABLE_BEGIN_NAMESPACE
namespace detail {

/// Reads a map. MapUnavailable if it cannot be read, ShardMapInvalid if it is malformed. Leases count from the time at which it begins.
[[nodiscard]] resumable<shard_map_ref> read_shard_map(std::string table);

/// Receives the current map, any number of times. Returns false if there is nothing to change.
using shard_map_edit = std::function<result<bool>(shard_map_copy const&, shard_map_draft&)>;

/// One change of a map: its header and rows, in one transaction under their ETags, with a nonce in it. A change whose response was lost is
/// settled by a read: if the nonce is there, the change is done; if the ETag is unchanged, the same request is sent again; otherwise the
/// change starts over. So an applied change is repeated only if others have since changed the header and all of these rows: `edit` must
/// detect that. The nonce must be unique among changes.
[[nodiscard]] resumable<void> change_shard_map(std::string table, std::string nonce, shard_map_edit edit);

} // namespace detail
ENTITABLE_END_NAMESPACE
