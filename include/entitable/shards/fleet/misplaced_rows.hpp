// SPDX-License-Identifier: MIT
// Copyright (c) 2026 the entitable authors
#pragma once

/// \file
/// `remove_misplaced`: removes the rows that `check_fleet` reports as misplaced.

#include <entitable/shards/fleet/fleet_check.hpp>

#include <map>

ENTITABLE_BEGIN_NAMESPACE

/// The result of `remove_misplaced`.
struct misplaced_removal {
    std::uint64_t rows{}; ///< number of rows in all tables, excluding rows whose removal was not confirmed
    std::map<std::string, std::uint64_t> by_table; ///< number of rows for each logical table that had misplaced rows
    std::vector<unreachable_shard> unread;         ///< shards that failed: call again

    /// Returns this result if no shard failed; otherwise the error of the first shard that failed, with the name of its store.
    [[nodiscard]] result<misplaced_removal> whole() const;
};

/// Removes misplaced rows: rows in a table that belongs to only one shard, with keys that the shard does not own. A
/// write that arrives late, after its range was split and one half moved away, leaves such a row. The write was never
/// acknowledged, no client reads the row, and no move will copy it. Tables that two shards share, and tables from which
/// a move still has to erase keys, are skipped. Safe while clients write and shards are moved, split and merged; after
/// an interruption call it again.
///
/// Do not use it on stores in which another map has tables of the same names. Check the report of `check_fleet` first: a row that a program
/// wrote directly into a store is removed as well.
///
/// Errors: NotSupported if a user-defined function assigns shards, because after an extension of the function rows may still have to be
/// copied (`virtual_shards::otherwise`); those of the map. Errors of a store are in `misplaced_removal::unread`. Cost: with ranges,
/// two queries for each table and shard, otherwise a scan of all keys; and one transaction for every 100 rows removed from a partition.
/// Memory: one page of keys per store. Thread safety: safe to use from several threads and programs concurrently.
[[nodiscard]] result<misplaced_removal> remove_misplaced(fleet const& of);

ENTITABLE_END_NAMESPACE

#if !defined(ENTITABLE_SEPARATE_COMPILATION)
#include <entitable/shards/fleet/impl/misplaced_rows.ipp>
#endif
