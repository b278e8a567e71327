// SPDX-License-Identifier: MIT
// Copyright (c) 2026 the entitable authors
#pragma once

/// \file
/// `back_up` and `restore`: all tables of a fleet into one store of any kind, and back into a fleet of any number of stores and shards.
///
///     back_up(all, any_store{archive}, "nightly").value();
///     restore(any_store{archive}, "nightly", empty_fleet).value();
///
/// A backup contains every write that was acknowledged before it began, and some of the writes made while it ran. Each row is as it was at
/// some moment during the backup, so a concurrent transaction may be included in part. With `backup_options::snapshot` every store is a
/// snapshot of one moment, with whole transactions; the moments of different stores differ by up to the duration of the
/// backup. If all stores are read-only, the backup shows a single moment. ETags and Timestamps are not saved; system
/// rows are: queues, operation rows, index states.

#include <entitable/client/mapping/macro.hpp>
#include <entitable/shards/fleet/fleet.hpp>

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

/// Options of a backup.
struct backup_options {
    /// Returns a constant view of a store: a copy of a file, a transaction of a database. Called once for each store, and again for a
    /// store that received shards in the meantime. By default the store itself is read.
    std::function<result<any_store>(std::string_view store, any_store const& there)> snapshot{};
};
/// The contents of a backup.
struct backup_report {
    backup_header header;           ///< the stored header
    std::uint64_t rows{};           ///< rows of all tables, including system rows
    std::size_t kept{};             ///< virtual shards whose copies by an earlier run are reused
    std::vector<backup_part> parts; ///< sorted by shard and table
};

/// Copies all tables of a fleet under a name of 1 to 20 letters, from several stores concurrently, and reads back the copies. Clients do
/// not have to wait. A shard that is moved, split or merged during the backup is copied again from its new place: a copy is valid once the
/// map, read afterwards, still shows the shard and its tables at the place that was read. After an error, or the death
/// of the process, the same call resumes. A resumed backup keeps valid copies, unless the shard was moved, split or
/// merged since, or one of its tables was dropped and created again.
///
/// Errors: those of the map and the stores, with the name of the store; InvalidInput if a complete backup of that name exists;
/// UpdateConditionNotSatisfied if another process makes the same backup; the process that called last continues;
/// RowMismatch if a copy differs from what was written. Cost: a scan of everything, a batch for each hundred rows of a
/// partition, a scan of the copies, and a read of the map for each shard.
[[nodiscard]] result<backup_report> back_up(
    fleet const& of, any_store const& to, std::string name, backup_options const& options = {});
/// Reads a whole backup and compares it with its recorded digests. Errors: BackupIncomplete if it is incomplete, or does not exist;
/// RowMismatch, which names the shard and the table.
[[nodiscard]] result<backup_report> verify_backup(any_store const& from, std::string name);
/// The result of a restore.
struct restore_report {
    std::uint64_t rows{};    ///< rows of the backup
    std::uint64_t written{}; ///< rows inserted by this run
};
/// Creates the tables of a backup in a fleet, with any number of shards and stores, and inserts all rows; then reads and compares
/// everything. The tables must be empty, or filled by an earlier run of the same restore: after an error or a crash the same call resumes.
/// No program may use the stores before the call returns.
///
/// Errors: BackupIncomplete; RowMismatch if the backup is damaged, or the fleet's content differs afterwards;
/// EntityAlreadyExists if a row exists with different properties; those of the stores.
[[nodiscard]] result<restore_report> restore(any_store const& from, std::string name, fleet const& into);
/// Drops a backup, even an incomplete backup. Succeeds even if the backup does not exist.
[[nodiscard]] result<void> drop_backup(any_store const& from, std::string name);

ENTITABLE_END_NAMESPACE

#if !defined(ENTITABLE_SEPARATE_COMPILATION)
#include <entitable/shards/fleet/impl/fleet_backup.ipp>
#endif
