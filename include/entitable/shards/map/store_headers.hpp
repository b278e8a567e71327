// SPDX-License-Identifier: MIT
// Copyright (c) 2026 the entitable authors
#pragma once

/// \file
/// The rows that identify a store. They are in the table `entitableshards` of each store, so they are missing from a store that was
/// emptied.

#include <entitable/client/mapping/macro.hpp>

ENTITABLE_BEGIN_NAMESPACE

/// The header of a store, as stored. Format: docs/stored_formats.md.
struct hash_store_header {
    std::string part{"stores"};       ///< the partition of all headers of a store
    std::int64_t generation{};        ///< generation of the fleet
    std::string fleet;                ///< random, generated when the fleet was made; the same in all of its stores
    std::int32_t number{};            ///< number of stores
    std::int32_t place{};             ///< index of this store, from 0
    std::int32_t hash_version{};      ///< version of `shard_hash`; 0 for a retired generation
    std::optional<std::string> state; ///< "making", "retired"; empty for a complete fleet
};
ENTITABLE(hash_store_header, partition_key(part), row_key(literal("generation"), width(generation, 9)),
    properties(fleet, number, place, hash_version, state))

/// The identity of a map, as it is stored in the table `entitableshards` of each of its stores. Format: docs/stored_formats.md.
struct store_identity {
    std::string part{"stores"}; ///< the partition of all rows that identify a store
    std::string kind{"map"};    ///< the row
    std::string map;            ///< the identity of the map
    std::string store;          ///< the name of the store in the map
};
ENTITABLE(store_identity, partition_key(part), row_key(kind), properties(map, store))

ENTITABLE_END_NAMESPACE
