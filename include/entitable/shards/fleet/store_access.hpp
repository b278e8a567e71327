// SPDX-License-Identifier: MIT
// Copyright (c) 2026 the entitable authors
#pragma once

/// \file
/// `set_access`: makes the shards of a store read-only or offline, with a reason and an expected end; other stores are not affected.

#include <entitable/shards/fleet/fleet.hpp>

ENTITABLE_BEGIN_NAMESPACE

/// The access of clients to the shards of a store.
enum class store_access : std::uint8_t {
    open,      ///< reads and writes are allowed
    read_only, ///< reads are allowed; writes return ShardMoving
    offline,   ///< reads and writes return ShardMoving
};

/// The reason, as text, and the expected end.
struct access_reason {
    std::string reason{};             ///< part of the errors that clients receive
    std::optional<date_time> until{}; ///< stored in the map
};

/// Changes the access to all shards currently in a store, and returns their number once every client complies; closing
/// therefore waits for the lease. After an error or a crash the same call resumes.
///
/// Errors: those of the map; ShardMoving if a shard of the store is being moved, or shards keep moving to the store: changes already made
/// stay.
[[nodiscard]] result<std::size_t> set_access(
    fleet const& of, std::string_view store, store_access access, access_reason const& reason = {});

ENTITABLE_END_NAMESPACE

#if !defined(ENTITABLE_SEPARATE_COMPILATION)
#include <entitable/shards/fleet/impl/store_access.ipp>
#endif
