// SPDX-License-Identifier: MIT
// Copyright (c) 2026 the entitable authors
#pragma once

/// \file
/// The header and the parts of a backup, as stored.

#include <entitable/client/mapping/macro.hpp>

#include <cstdint>
#include <optional>
#include <string>

ENTITABLE_BEGIN_NAMESPACE

/// A complete backup, as stored. Format: docs/stored_formats.md.
struct backup_header {
    std::string backup{"backup"}; ///< the partition of all rows about a backup
    std::string part{"header"};   ///< the row
    std::string state;            ///< "copying", "whole", "dropping"
    std::string tables;           ///< "books;orders"
    std::int32_t shards{};        ///< number of virtual shards of the fleet
    std::int64_t map_version{};   ///< version of the fleet's map at the end
    bool snapshots{};             ///< every store is a consistent snapshot
    date_time begun;              ///< the backup contains every write acknowledged before this time
    date_time ended;              ///< the backup contains no write that started after this time
};
ENTITABLE(backup_header, partition_key(backup), row_key(part),
    properties(state, tables, shards, map_version, snapshots, begun, ended))

/// A table of a virtual shard in a backup, as stored. Format: docs/stored_formats.md.
struct backup_part {
    std::string backup{"backup"};      ///< the partition of all rows about a backup
    std::int32_t shard{};              ///< the virtual shard
    std::string table;                 ///< the logical table
    std::string state;                 ///< "copying", "whole" once the map has confirmed the copy, "dropping"
    std::string store;                 ///< its store at that time
    std::optional<std::string> low;    ///< the first partition key of its range; empty for no bound
    std::optional<std::string> high;   ///< the end of its range, exclusive; empty for no bound
    std::int64_t attempt{};            ///< number of attempts
    std::string stored;                ///< the table that contains its rows
    std::int64_t rows{};               ///< number of rows
    std::int64_t digest{};             ///< digest of the rows: `rows_content`
    std::optional<std::string> source; ///< the table of the shard that was read; empty in parts of earlier programs
    std::optional<std::int64_t>
        epoch; ///< epoch of the shard in the map at that time; empty in parts of earlier programs
    std::optional<std::string>
        former; ///< "a;b": tables of earlier attempts that are being dropped; empty if there are none
};
ENTITABLE(backup_part, partition_key(backup), row_key(literal("part"), width(shard, 4), table),
    properties(state, store, low, high, attempt, stored, rows, digest, source, epoch, former))

ENTITABLE_END_NAMESPACE
