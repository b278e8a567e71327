// SPDX-License-Identifier: MIT
// Copyright (c) 2026 the entitable authors
#pragma once

/// \file
/// `changes_of`, `trim_changes`: the change log of a table with `logged`.

#include <entitable/client/companions/index/detail/logged_writes.hpp>
#include <entitable/client/companions/several_types.hpp>

ENTITABLE_BEGIN_NAMESPACE

/// Reads what has changed in a partition after a position. A new position, or one that the log does not reach back to, is answered with
/// `needs_full_read`: read the partition then, and continue at the returned position.
///
///     log_position at;                                              // stored by the program, as at.to_string()
///     auto page = changes_of(orders, "Kiel", at).value();
///     if (page.needs_full_read) { ... read the partition ... }
///     for (logged_change const& each : page.changes) { ... each.rows ... }
///     at = page.position;
///
/// - Within a lane, each change is returned once, in order and without gaps. Changes of different lanes or partitions have no order.
/// - A change names the rows. It does not contain them: a read of a row returns that state or a later one.
/// - Changes by writers that bypass the table are missing (`table<E>`, `unmaintained`, requests to the store).
/// - `partition_key` is the PartitionKey as `partition_key_of(entity)` returns it.
///
/// Cost: one request for each lane; another one if there are more changes than `max_changes`, and for a full read. The declaration is read
/// once per `table_options::lease`. Errors: IndexNotReady until the log is built, see `table::build`; InvalidInput for a position of
/// another number of lanes.
template <class First, class Second, class... More>
[[nodiscard]] result<logged_changes> changes_of(reader<First, Second, More...> const& table,
    std::string_view partition_key, log_position const& after = {}, changes_options const& options = {}) {
    return detail::read_logged_changes(*table.logged_family(), partition_key, after, options);
}

/// Removes the changes of a partition up to a position that `changes_of` has returned. Readers behind the position are asked for a full read.
/// Returns how many were removed. May be called by several programs, and again after an interruption. Cost: two requests for each 100
/// changes, and one for each lane. Errors: InvalidInput if the position belongs to another log.
template <class First, class Second, class... More>
[[nodiscard]] result<std::uint64_t> trim_changes(reader<First, Second, More...> const& table,
    std::string_view partition_key, log_position const& up_to, trim_options const& options = {}) {
    return detail::trim_log(*table.logged_family(), partition_key, up_to, options);
}

/// Does not compile: the table has no change log.
template <class Entity, class... Given>
result<logged_changes> changes_of(table<Entity> const&, Given const&...) {
    static_assert(
        detail::never<Entity>, "this table has no change log: add logged to its types, as in table<order, logged>");
    return detail::reported();
}
/// Does not compile: the table has no change log.
template <class Entity, class... Given>
result<logged_changes> changes_of(reader<Entity> const&, Given const&...) {
    static_assert(
        detail::never<Entity>, "this table has no change log: add logged to its types, as in table<order, logged>");
    return detail::reported();
}

ENTITABLE_END_NAMESPACE
