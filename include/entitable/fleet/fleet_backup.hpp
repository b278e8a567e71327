// SPDX-License-Identifier: MIT
// Copyright (c) 2026 the entitable authors
#pragma once

/// \file
/// `back_up` and `restore`: all tables of a fleet into one store of any kind, and back into a fleet of any number of stores and shards.
///
///     back_up(all, any_transport{archive}, "nightly").value();
///     restore(any_transport{archive}, "nightly", empty_fleet).value();
///
/// What a backup holds: every write that was acknowledged before it began, and some of those made meanwhile. Each row is as it
/// was at some moment in between, so a transaction of that time may be in it in part. With `backup_options::snapshot` every store is as it
/// was at one moment, all transactions whole; the moments of two stores differ by as long as the backup takes. With all stores read-only it is
/// one moment. ETags and Timestamps are not kept; system rows are: queues, operation rows, index states.

#include <entitable/fleet/backup_rows.hpp>
#include <entitable/fleet/fleet.hpp>

ENTITABLE_BEGIN_NAMESPACE

/// Options of a backup.
struct backup_options {
    /// Returns something to read a store from that does not change while it is read: a copy of a file, a transaction of a database. Called once
    /// for each store, and again for one that shards moved to meanwhile. By default the store itself is read.
    std::function<result<any_transport>(std::string_view store, any_transport const& there)> snapshot{};
};
/// The contents of a backup.
struct backup_report {
    backup_header header;           ///< as it is stored
    std::uint64_t rows{};           ///< of all tables, including system rows
    std::size_t kept{};             ///< virtual shards whose copies by an earlier run count
    std::vector<backup_part> parts; ///< by shard and table
};

/// Copies all tables of a fleet under a name of 1 to 20 letters, from several stores at once, and reads back what was written. Clients are not
/// kept waiting. A shard that is moved, split or merged meanwhile is copied again from its new place: a copy counts once the map, read behind it,
/// still has the shard and its tables where they were read. After an error, or the death of the process, the same call resumes. It keeps the shards
/// whose copies count, unless the shard was moved, split or merged since, or a table of it was dropped and made again.
///
/// Errors: those of the map and the stores, with the name of the store; InvalidInput if a backup of that name is whole;
/// UpdateConditionNotSatisfied if another process makes the same one: the process that called last continues; RowMismatch if what was read
/// back is not what was written. Cost: a scan of everything, a batch for each hundred rows of a partition, a scan of the copies, and a read
/// of the map for each shard.
[[nodiscard]] result<backup_report> back_up(
    fleet const& of, any_transport const& to, std::string name, backup_options const& options = {});
/// Reads a whole backup and compares it with its own figures. Errors: BackupIncomplete where it is not whole, or does not exist; RowMismatch,
/// which names the shard and the table.
[[nodiscard]] result<backup_report> verify_backup(any_transport const& from, std::string name);
/// What a restore has done.
struct restore_report {
    std::uint64_t rows{};    ///< of the backup
    std::uint64_t written{}; ///< those that this run inserted
};
/// Creates the tables of a backup in a fleet and inserts all rows, whatever its number of shards and stores; then reads everything and compares.
/// The tables have to be empty, or filled by an earlier run of the same restore: after an error or a crash the same call resumes. No program may
/// use them before it returns.
///
/// Errors: BackupIncomplete; RowMismatch where the backup is damaged, or the fleet holds something else afterwards; EntityAlreadyExists where a
/// row exists with other properties; those of the stores.
[[nodiscard]] result<restore_report> restore(any_transport const& from, std::string name, fleet const& into);
/// Drops a backup, also one that is not whole. Success where there is none.
[[nodiscard]] result<void> drop_backup(any_transport const& from, std::string name);

ENTITABLE_END_NAMESPACE

#if !defined(ENTITABLE_SEPARATE_COMPILATION)
#include <entitable/fleet/impl/fleet_backup.ipp>
#endif
