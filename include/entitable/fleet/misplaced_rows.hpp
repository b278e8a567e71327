// SPDX-License-Identifier: MIT
// Copyright (c) 2026 the entitable authors
#pragma once

/// \file
/// `remove_misplaced`: removes the rows that `check_fleet` reports as misplaced.

#include <entitable/fleet/fleet_check.hpp>

#include <map>

ENTITABLE_BEGIN_NAMESPACE

/// What `remove_misplaced` has removed.
struct misplaced_removal {
    std::uint64_t rows{};                          ///< of all tables; without those whose removal had no answer
    std::map<std::string, std::uint64_t> by_table; ///< by logical table, for tables that had some
    std::vector<unread_shard> unread;              ///< shards that failed: call again

    /// This if every shard was looked through. Else the error of the first one that failed, with the name of its store.
    [[nodiscard]] result<misplaced_removal> whole() const;
};

/// Removes the rows that are misplaced: those of a table that one shard has for itself, whose keys the shard does not have. A write that comes late,
/// behind a split and a move of half of the range, leaves such a row. It was never acknowledged, no client reads it, and no move copies it. A table that
/// two shards still share, or from which keys are still to be erased, is left alone. Clients, moves, splits and merges may go on meanwhile; it may be
/// ended anywhere and called again.
///
/// Not for stores in which another map has tables of the same names. Look at what `check_fleet` reports first: a row that was written past the map,
/// by hand or by another program, is removed as well.
///
/// Errors: NotSupported where a function of the caller decides on shards, since rows may wait to be copied after it was extended
/// (`virtual_shards::otherwise`); those of the map. What a store answers is in `misplaced_removal::unread`.
/// Cost: by ranges two queries for each table and shard, else a scan of all keys; and a transaction for each 100 rows of a partition that are
/// removed. Memory for a page of keys for each store. Thread safety: safe to use from several threads and programs at once.
[[nodiscard]] result<misplaced_removal> remove_misplaced(fleet const& of);

ENTITABLE_END_NAMESPACE

#if !defined(ENTITABLE_SEPARATE_COMPILATION)
#include <entitable/fleet/impl/misplaced_rows.ipp>
#endif
