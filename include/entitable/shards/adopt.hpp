// SPDX-License-Identifier: MIT
// Copyright (c) 2026 the entitable authors
#pragma once

/// \file
/// `adopt`: gives a map that was made by an earlier version its identity, which every store of a map has. `release_store`: takes it from a store.

#include <entitable/shards/sharded.hpp>

ENTITABLE_BEGIN_NAMESPACE

/// What `adopt` has done.
struct adoption {
    std::string identity;            ///< of the map
    std::vector<std::string> stores; ///< that have it from now on, and had it not before
};

/// Writes the identity of a map into each of its stores, then into the map. From then on a store that lacks it, has that of another map, or is another
/// store of this one, is WrongStore: at its first use, and within `lookup_map_options::check_every`; and a table that lacks a part is not made
/// again by creating it. A map that `lookup_map::make` has made needs it only for stores that a program of an earlier version has moved shards to.
///
/// Before anything is written to a store, each table of the map has to have its part there. After an error the same call resumes. Programs of earlier
/// versions go on without the checks.
///
/// Errors: WrongStore where a store lacks a table of the map, belongs to another map, or is one of stores on a hash; NotSupported for stores on a
/// hash; those of the map and the stores. Cost: a query for each table of each virtual shard, four requests for each store.
[[nodiscard]] result<adoption> adopt(sharded const& cloud);

/// Takes from a store the identity of the map that it belonged to, so that another map can have it. Programs of that map get WrongStore from then on.
/// Success where it has none. Errors: those of the store.
[[nodiscard]] result<void> release_store(any_transport const& store);

ENTITABLE_END_NAMESPACE

#if !defined(ENTITABLE_SEPARATE_COMPILATION)
#include <entitable/shards/impl/adopt.ipp>
#endif
