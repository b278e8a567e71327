// SPDX-License-Identifier: MIT
// Copyright (c) 2026 the entitable authors
#pragma once

/// \file
/// `audit` compares two fleets, or any two transports, row by row. `schema_drift` finds tables in a fleet's stores that disagree with the
/// map; `drop_orphaned_tables` drops the orphaned tables.

#include <entitable/shards/fleet/fleet.hpp>

ENTITABLE_BEGIN_NAMESPACE

/// A row that differs between two tables.
struct audit_difference {
    /// The kind of difference.
    enum class kind : std::uint8_t {
        only_left,  ///< the right table lacks the row
        only_right, ///< the left table lacks the row
        different,  ///< both tables contain the row, with different properties
    };
    kind how{};                ///< the kind of difference
    std::string partition_key; ///< key of the row
    std::string row_key;       ///< key of the row
};
/// The result of comparing two tables. Timestamps, ETags and the order of properties are ignored; system rows are compared too.
struct audit_report {
    std::string table;                         ///< the logical table
    std::uint64_t equal{};                     ///< number of rows
    std::uint64_t only_left{};                 ///< number of rows
    std::uint64_t only_right{};                ///< number of rows
    std::uint64_t different{};                 ///< number of rows
    std::vector<audit_difference> differences; ///< the first differences, at most `most_named`

    [[nodiscard]] bool same() const noexcept { return only_left + only_right + different == 0; } ///< all rows are equal
};

/// Compares a table in two transports. Their numbers of shards may differ. Rows written during the comparison may appear as differences.
///
/// Errors: those of both transports; NotSupported if one of them does not return rows in key order. Cost: reads each table once; memory for
/// two pages.
[[nodiscard]] result<audit_report> audit(
    any_store const& left, any_store const& right, std::string table, std::size_t most_named = 20);
/// Compares every table of either fleet, by name. A missing table counts as empty.
[[nodiscard]] result<std::vector<audit_report>> audit(
    fleet const& left, fleet const& right, std::size_t most_named = 20);

/// A difference between a store and the map.
struct table_difference {
    /// The kind of difference.
    enum class kind : std::uint8_t {
        missing,    ///< a table of a virtual shard is missing: `repair_tables` creates it, without its rows
        left_over,  ///< a table with the name of a virtual shard's table, but used by no shard and no move
        other_type, ///< a property's type differs from that in another row of the same logical table
    };
    kind what{};       ///< the kind of difference
    std::string store; ///< the store
    std::string table; ///< the logical table; for `left_over` the name in the store
    std::string text;  ///< the stored table, or the property with both types; readable text
};

/// Compares the tables of each store with the map, and the types of properties in the first `sample` rows of each virtual shard. Includes
/// stores without a shard.
///
/// Errors: those of the map; the error of the first store that cannot be read, with its name; ShardMoving.
[[nodiscard]] result<std::vector<table_difference>> schema_drift(fleet const& of, std::size_t sample = 100);

/// Drops the orphaned tables found by `schema_drift`, and returns their number. Such tables are left by a mover that was killed after
/// another process took over. Each table is checked again first. A table is dropped only if it belongs to this map, with a number that the
/// map has given out and does not use, so neither a client nor a move will read it. Do not use it on stores in which another map has tables
/// of the same names.
///
/// Errors: NotSupported over hashed stores; those of the map; the error of the first store that fails: call again to continue.
[[nodiscard]] result<std::size_t> drop_orphaned_tables(fleet const& of, std::vector<table_difference> const& found);

ENTITABLE_END_NAMESPACE

#if !defined(ENTITABLE_SEPARATE_COMPILATION)
#include <entitable/shards/fleet/impl/fleet_audit.ipp>
#endif
