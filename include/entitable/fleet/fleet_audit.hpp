// SPDX-License-Identifier: MIT
// Copyright (c) 2026 the entitable authors
#pragma once

/// \file
/// `audit`: two fleets, or any two transports, compared row by row; and `schema_drift`: stores of a fleet whose tables are not those of the map, which `drop_left_over` mends.

#include <entitable/fleet/fleet.hpp>

ENTITABLE_BEGIN_NAMESPACE

/// A row that two tables do not have alike.
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
/// What two tables have alike, and what not. Timestamps, ETags and the order of properties do not count; system rows do.
struct audit_report {
    std::string table;                         ///< the logical table
    std::uint64_t equal{};                     ///< rows
    std::uint64_t only_left{};                 ///< rows
    std::uint64_t only_right{};                ///< rows
    std::uint64_t different{};                 ///< rows
    std::vector<audit_difference> differences; ///< the first of them, `most_named` at most

    [[nodiscard]] bool same() const noexcept { return only_left + only_right + different == 0; } ///< all rows are equal
};

/// Compares a table of two transports, each read once in key order, with memory for two pages: so the number of shards may differ. Rows that
/// are written meanwhile may show as differences. Errors: those of both; NotSupported where one gives rows in no order.
[[nodiscard]] result<audit_report> audit(
    any_transport const& left, any_transport const& right, std::string table, std::size_t most_named = 20);
/// Compares every table that either fleet has; one that a fleet lacks counts as empty. By name.
[[nodiscard]] result<std::vector<audit_report>> audit(
    fleet const& left, fleet const& right, std::size_t most_named = 20);

/// Something in a store that is not as the map has it.
struct schema_difference {
    /// What it is.
    enum class kind : std::uint8_t {
        missing,    ///< a table of a virtual shard is not there: creating the logical table again makes it
        left_over,  ///< a table that looks like one of a virtual shard, and belongs to none, nor to a move
        other_type, ///< a property has another type than in another row of the same logical table
    };
    kind what{};       ///< what it is
    std::string store; ///< where
    std::string table; ///< the logical table; for `left_over` the name in the store
    std::string says;  ///< the stored table, or the property with both types; for people
};

/// Compares the tables of each store with the map, and the types of properties in the first `sample` rows of each virtual shard. Stores that
/// hold no shard are looked at too. Errors: those of the map; the first store that cannot be read, by name; ShardMoving.
[[nodiscard]] result<std::vector<schema_difference>> schema_drift(fleet const& of, std::size_t sample = 100);

/// Drops the tables that `schema_drift` has found to be left over: what a mover makes that was killed behind the back of who took over. Each is
/// looked for again first, and dropped only where it is a table of this map under a number that the map has given out and does not use: no client
/// reads it, and no move will. The number of those dropped; what was not is left over still. Not for stores in which another map has tables
/// of the same names. Errors: NotSupported over stores on a hash; those of the map; the first store that cannot be asked: run again to go on.
[[nodiscard]] result<std::size_t> drop_left_over(fleet const& of, std::vector<schema_difference> const& found);

ENTITABLE_END_NAMESPACE

#if !defined(ENTITABLE_SEPARATE_COMPILATION)
#include <entitable/fleet/impl/fleet_audit.ipp>
#endif
