// SPDX-License-Identifier: MIT
// Copyright (c) 2026 the entitable authors
#pragma once

/// \file
/// Copies of tables: row by row from any backend to any other, or under a new declaration of keys.
///
/// A copy takes what is data, also rows of the library: the parts of wide entities, the messages, identities and dead letters of a queue, outboxes,
/// states of indexes. It leaves behind what is bound to the source: operation rows, checkpoints, intents of writers. `system_row::kinds` has it for
/// each kind. Where a copy would lose data it ends with NotSupported, which names the table and what it holds.
///
/// A copy is not a snapshot. What is written to the source meanwhile may be in it in part: copy a queue or a wide table that nobody uses.
///
///     entitable::copy(file_orders, cloud_orders);                                        // as they are
///     entitable::copy(by_year, by_month, [](order const& one) { return finer(one); });   // under other keys
///
/// What makes a copy safe: rows are inserted, so nothing in the target is overwritten unless `copy_options::overwrite` says so; a row
/// that exists with the same properties counts as copied, so a copy that was stopped may be run again, from its start or from where it
/// was; and what was written is read back and compared.

#include <entitable/client/detail/row_of_change.hpp>
#include <entitable/client/table.hpp>
#include <entitable/pattern/detail/copy_operation.hpp>

ENTITABLE_BEGIN_NAMESPACE

/// Copies the rows of a table changed: `change` returns the row to write for the row of an entity, or nothing to leave it out; its error ends
/// the copy. Both tables exist.
///
/// Errors: NotSupported where the table holds wide entities, a queue, an outbox or a view; KeyReserved when `change` returns a row with the key of a system row; EntityAlreadyExists when a row of the target differs
/// (`copy_options::overwrite`); InvalidDuplicateRow when two rows of one page would get the same key; RowMismatch when what was read back
/// is not what was written; those of `batch_packer`, of both transports and of `change`. The last reported `copy_progress::next` says
/// where to resume. A write of unknown effect ends the copy; resuming is safe.
[[nodiscard]] result<copy_progress> copy_rows(any_transport const& from, std::string from_table,
    any_transport const& to, std::string to_table, detail::row_replacement change, copy_watcher watch,
    copy_options const& options = {});

/// Copies the rows of a table as they are, system rows that are data among them. Errors as above, but NotSupported only for the table of a view
/// and for rows of a newer version of the library.
[[nodiscard]] result<copy_progress> copy_rows(any_transport const& from, std::string from_table,
    any_transport const& to, std::string to_table, copy_watcher watch, copy_options const& options);

/// The same without a watcher.
[[nodiscard]] inline result<copy_progress> copy_rows(any_transport const& from, std::string from_table,
    any_transport const& to, std::string to_table, copy_options const& options = {}) {
    return copy_rows(from, std::move(from_table), to, std::move(to_table), [](copy_progress const&) {}, options);
}

/// Copies the entities of a table into one of another type: `change` makes a `Target` of each `Source`, or an optional of one, or a
/// result of either. Properties that `Source` does not declare are not copied. As `copy_rows` in all else.
template <class Source, class Target, class Change>
[[nodiscard]] result<copy_progress> copy(table<Source> const& from, table<Target> const& to, Change const& change,
    copy_watcher watch, copy_options const& options = {}) {
    Source read;
    return copy_rows(
        from.transport(), from.name(), to.transport(), to.name(),
        [&](row_view stored) -> result<std::optional<row>> {
            if (auto decoded = from_row(stored, read, from.options().reading); !decoded) {
                return std::move(decoded).as_failure();
            }
            return detail::row_of_change<Target>(change(std::as_const(read)));
        },
        watch, options);
}

/// The same without a watcher.
template <class Source, class Target, class Change>
[[nodiscard]] result<copy_progress> copy(
    table<Source> const& from, table<Target> const& to, Change const& change, copy_options const& options = {}) {
    return copy(from, to, change, [](copy_progress const&) {}, options);
}

/// Copies the rows of a table as they are, with the properties that the type does not declare, and system rows that are data.
template <class Entity>
[[nodiscard]] result<copy_progress> copy(
    table<Entity> const& from, table<Entity> const& to, copy_options const& options = {}) {
    return copy_rows(from.transport(), from.name(), to.transport(), to.name(), options);
}

ENTITABLE_END_NAMESPACE

#if !defined(ENTITABLE_SEPARATE_COMPILATION)
#include <entitable/pattern/impl/copy.ipp>
#endif
