// SPDX-License-Identifier: MIT
// Copyright (c) 2026 the entitable authors
#pragma once

/// \file
/// `set_access`: makes the shards of a store read-only or off-line, with a reason and an expected end; other stores are not affected.

#include <entitable/fleet/fleet.hpp>

ENTITABLE_BEGIN_NAMESPACE

/// What clients may do with the shards of a store.
enum class store_access : std::uint8_t {
    open,      ///< read and write
    read_only, ///< read; writes answer ShardMoving
    offline,   ///< both answer ShardMoving
};

/// The reason, for people, and the expected end.
struct access_reason {
    std::string why{};                ///< is in the answers to clients
    std::optional<date_time> until{}; ///< is in the map
};

/// Changes what clients may do with all shards that are in a store now, and returns how many were changed, once every client complies:
/// closing waits for the lease. After an error or a crash the same call resumes.
///
/// Errors: those of the map; ShardMoving if a shard of the store is being moved, or shards come to the store all the time: what was changed
/// before stays.
[[nodiscard]] result<std::size_t> set_access(
    fleet const& of, std::string_view store, store_access access, access_reason const& reason = {});

ENTITABLE_END_NAMESPACE

#if !defined(ENTITABLE_SEPARATE_COMPILATION)
#include <entitable/fleet/impl/store_access.ipp>
#endif
