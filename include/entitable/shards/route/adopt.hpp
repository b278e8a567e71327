// SPDX-License-Identifier: MIT
// Copyright (c) 2026 the entitable authors
#pragma once

/// \file
/// `adopt`: gives an identity to a map that was made by an earlier version, and writes it to every store. `release_store`: removes the
/// identity from a store.

#include <entitable/shards/route/sharded.hpp>

ENTITABLE_BEGIN_NAMESPACE

/// The result of `adopt`.
struct adoption {
    std::string identity;            ///< the map's identity
    std::vector<std::string> stores; ///< the stores that received the identity in this call
};

/// Writes the identity of a map to each of its stores, then to the map. Afterwards a store that lacks the identity,
/// contains the identity of another map, or is a different store of this map is refused with WrongStore: at its first
/// use, and within `lookup_map_options::check_every`. Creating a table again does not recreate a lost part. A map made
/// by `lookup_map::make` needs this only for stores that a program of an earlier version has moved shards to.
///
/// Before anything is written to a store, each table of the map must have its part in that store. After an error, the
/// same call resumes. Programs of earlier versions continue without the checks.
///
/// Errors: WrongStore if a store lacks a table of the map, belongs to another map, or is part of hashed stores; NotSupported for hashed
/// stores; those of the map and the stores. Cost: a query for each table of each virtual shard, four requests for each store.
[[nodiscard]] result<adoption> adopt(sharded const& cloud);

/// Removes a map's identity from a store, so that another map can claim the store. Programs of the old map then get WrongStore. Succeeds if
/// the store has no identity. Errors: those of the store.
[[nodiscard]] result<void> release_store(any_store const& store);

ENTITABLE_END_NAMESPACE

#if !defined(ENTITABLE_SEPARATE_COMPILATION)
#include <entitable/shards/route/impl/adopt.ipp>
#endif
