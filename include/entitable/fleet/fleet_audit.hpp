// SPDX-License-Identifier: MIT
// Copyright (c) 2026 the entitable authors
#pragma once

/// \file
/// `audit` compares two fleets, or any two transports, row by row. `schema_drift` finds tables of a fleet's stores that are not as the map has them;
/// `drop_left_over` drops those that are left over.

#include <entitable/fleet/fleet.hpp>

ENTITABLE_BEGIN_NAMESPACE

/// A row in which two tables differ.
struct audit_difference {
    /// How it differs.
    enum class kind : std::uint8_t {
        only_left,  ///< the right one has no such row
        only_right, ///< the left one has no such row
        different,  ///< both have it, with other properties
    };
    kind how{};                ///< how it differs
    std::string partition_key; ///< of the row
    std::string row_key;       ///< of the row
};
/// What two tables have in common, and where they differ. Timestamps, ETags and the order of properties do not count; system rows do.
struct audit_report {
    std::string table;                         ///< the logical table
    std::uint64_t equal{};                     ///< rows
    std::uint64_t only_left{};                 ///< rows
    std::uint64_t only_right{};                ///< rows
    std::uint64_t different{};                 ///< rows
    std::vector<audit_difference> differences; ///< the first of them, `most_named` at most

    [[nodiscard]] bool same() const noexcept { return only_left + only_right + different == 0; } ///< all rows are equal
};

/// Compares a table of two transports. Their numbers of shards may differ. Rows that are written meanwhile may show as differences.
///
/// Errors: those of both; NotSupported where one does not give rows in key order. Cost: each is read once; memory for two pages.
[[nodiscard]] result<audit_report> audit(
    any_transport const& left, any_transport const& right, std::string table, std::size_t most_named = 20);
/// Compares every table that either fleet has, by name. A table that a fleet lacks counts as empty.
[[nodiscard]] result<std::vector<audit_report>> audit(
    fleet const& left, fleet const& right, std::size_t most_named = 20);

/// Something in a store that is not as the map has it.
struct schema_difference {
    /// What it is.
    enum class kind : std::uint8_t {
        missing,    ///< a table of a virtual shard is not there: `repair_tables` makes it, without its rows
        left_over,  ///< a table that looks like one of a virtual shard, and belongs to none, nor to a move
        other_type, ///< a property has another type than in another row of the same logical table
    };
    kind what{};       ///< what it is
    std::string store; ///< where
    std::string table; ///< the logical table; for `left_over` the name in the store
    std::string says;  ///< the stored table, or the property with both types; for people
};

/// Compares the tables of each store with the map, and the types of properties in the first `sample` rows of each virtual shard. Stores without
/// a shard are compared, too.
///
/// Errors: those of the map; that of the first store that cannot be read, by name; ShardMoving.
[[nodiscard]] result<std::vector<schema_difference>> schema_drift(fleet const& of, std::size_t sample = 100);

/// Drops the tables that `schema_drift` has found to be left over, and returns their number. A mover leaves them that was killed after another process
/// took over. Each is looked up again first. It is dropped only where it is a table of this map with a number that the map has given out and does not
/// use, so no client reads it and no move will. Not for stores in which another map has tables of the same names.
///
/// Errors: NotSupported over stores on a hash; those of the map; that of the first store that cannot be asked: call again to go on.
[[nodiscard]] result<std::size_t> drop_left_over(fleet const& of, std::vector<schema_difference> const& found);

ENTITABLE_END_NAMESPACE

#if !defined(ENTITABLE_SEPARATE_COMPILATION)
#include <entitable/fleet/impl/fleet_audit.ipp>
#endif
