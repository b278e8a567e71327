// SPDX-License-Identifier: MIT
// Copyright (c) 2026 the entitable authors
#pragma once

/// \file
/// Copies of tables: row by row from any backend to any other, or under a new declaration of keys. System rows (operation
/// rows, for example) stay behind: they speak of writes of the source.
///
///     entitable::copy(file_orders, cloud_orders);                                        // as they are
///     entitable::copy(by_year, by_month, [](order const& one) { return finer(one); });   // under other keys
///
/// What makes a copy safe: rows are inserted, so that nothing of the target is overwritten unless that is asked for; a row that is
/// there already with the same properties counts as copied, so that a copy that was stopped may be run again, from its
/// start or from where it was; and what was written is read back and compared.

#include <entitable/client/detail/row_of_change.hpp>
#include <entitable/client/table.hpp>
#include <entitable/pattern/detail/copy_operation.hpp>

ENTITABLE_BEGIN_NAMESPACE

/// Copies the rows of a table, as they are or changed: `change` gives the row to write, or nothing to leave it out; an error of it
/// ends the copy. Both tables are there already. One thread at a time.
///
/// Errors: KeyReserved when `change` gives a row with the key of a system row; EntityAlreadyExists when the target has a row otherwise (`copy_options::overwrite`); InvalidDuplicateRow when two rows of
/// one page would get the same key; RowMismatch when what was read back is not what was written; those of `batch_packer`, of both
/// transports and of `change`. What the last page before reported (`copy_progress::next`) says where to go on. A write of unknown
/// effect ends the copy; going on is safe.
[[nodiscard]] result<copy_progress> copy_rows(any_transport const& from, std::string from_table,
    any_transport const& to, std::string to_table, detail::row_replacement change, copy_watcher watch,
    copy_options const& options = {});

/// Copies the rows of a table as they are.
[[nodiscard]] inline result<copy_progress> copy_rows(any_transport const& from, std::string from_table,
    any_transport const& to, std::string to_table, copy_options const& options = {}) {
    return copy_rows(
        from, std::move(from_table), to, std::move(to_table),
        [](row_view each) -> result<std::optional<row>> { return std::optional<row>{row{each}}; },
        [](copy_progress const&) {}, options);
}

/// Copies the entities of a table into one of another type: `change` makes of each `Source` a `Target`, or an optional of one, or a
/// result of either. Properties that `Source` does not declare are not copied. Otherwise as `copy_rows`.
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

/// The same, watched by nobody.
template <class Source, class Target, class Change>
[[nodiscard]] result<copy_progress> copy(
    table<Source> const& from, table<Target> const& to, Change const& change, copy_options const& options = {}) {
    return copy(from, to, change, [](copy_progress const&) {}, options);
}

/// Copies the entities of a table as they are, with the properties that the type does not declare.
template <class Entity>
[[nodiscard]] result<copy_progress> copy(
    table<Entity> const& from, table<Entity> const& to, copy_options const& options = {}) {
    return copy_rows(from.transport(), from.name(), to.transport(), to.name(), options);
}

ENTITABLE_END_NAMESPACE

#if !defined(ENTITABLE_SEPARATE_COMPILATION)
#include <entitable/pattern/impl/copy.ipp>
#endif
