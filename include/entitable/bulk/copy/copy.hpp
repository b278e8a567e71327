// SPDX-License-Identifier: MIT
// Copyright (c) 2026 the entitable authors
#pragma once

/// \file
/// Copies of tables: row by row from any backend to any other, or under a new declaration of keys.
///
/// A copy includes all data, including rows of the library: the parts of wide entities, the messages, identities and dead letters of a
/// queue, outboxes, states of indexes. It omits rows that belong to the source: operation rows, checkpoints, intents of writers.
/// `system_row::kinds` contains the rule for each kind. If a copy would lose data, it ends with NotSupported, which names the table and its
/// content.
///
/// A copy is not a snapshot. It may include some of the changes made while it runs: copy a queue or a wide table only while it is not in
/// use.
///
///     entitable::copy(file_orders, cloud_orders);                                        // as they are
///     entitable::copy(by_year, by_month, [](order const& one) { return finer(one); });   // under other keys
///
/// Copies are safe: rows are inserted, so nothing in the target is overwritten without `copy_options::overwrite`; a row that exists with
/// the same properties counts as copied, so an interrupted copy may be run again, from its start or from its last position; and written
/// rows are read back and compared.

#include <entitable/client/detail/row_of_change.hpp>
#include <entitable/client/table.hpp>
#include <entitable/core/function_ref.hpp>
#include <entitable/core/request/batch_packer.hpp>
#include <entitable/core/request/call.hpp>
#include <entitable/core/request/profile.hpp>
#include <entitable/core/request/requests.hpp>
#include <entitable/core/request/resumable.hpp>
#include <entitable/core/row/system_row_kinds.hpp>
#include <entitable/core/try.hpp>

ENTITABLE_BEGIN_NAMESPACE

/// Options of a copy.
struct copy_options {
    std::uint32_t page_size{1000}; ///< rows per request, 1 to 1000
    bool verify{true};             ///< whether written rows are read back and compared
    bool overwrite{}; ///< whether a different row of the target is overwritten; otherwise the copy ends there
    std::optional<std::string>
        from{};           ///< `copy_progress::next` of an earlier copy of the same table; absent: from the start
    call_options calls{}; ///< options of each request
};

/// Progress of a copy.
struct copy_progress {
    std::uint64_t pages{};             ///< pages read from the source
    std::uint64_t read{};              ///< rows read from the source
    std::uint64_t left_out{};          ///< rows that `change` skipped, included in `read`
    std::uint64_t written{};           ///< rows that were missing in the target, or differed
    std::uint64_t present{};           ///< rows that the target already had with the same properties
    std::uint64_t verified{};          ///< rows that were read back and compared
    std::uint64_t system_rows{};       ///< system rows that are data, included in `read`: see `system_row::copying`
    std::optional<std::string> next{}; ///< position to resume from; absent at the end
};

/// Called after each page, on the thread of the copy. May throw, which ends the copy after that page.
using copy_progress_callback = function_ref<void(copy_progress const&)>;

namespace detail {

/// Returns the row to write for a row that was read; nullopt skips it.
using row_replacement = function_ref<result<std::optional<row>>(row_view)>;

/// Returns the row unchanged.
[[nodiscard]] inline result<std::optional<row>> same_row(row_view each) { return std::optional<row>{row{each}}; }

/// What a copy reads, changes and writes. All that it refers to must outlive the copy.
struct copied_table {
    std::string from;
    std::string to;
    row_replacement change;
    copy_progress_callback watch;
    bool changes{}; ///< whether the copy changes rows or keys
};

using copy_operation = resumable<copy_progress>;

/// Copies a table, page after page, over two transports: the source is 0, the target 1.
copy_operation copy_table_pages(copied_table table, profile target, copy_options options);

} // namespace detail

/// Copies the rows of a table with changes: `change` returns the row to write for the row of an entity, or nullopt to skip it; an error
/// from it ends the copy. Both tables must exist.
///
/// Errors: NotSupported if the table holds wide entities, a queue, an outbox or a view; KeyReserved if `change` returns a row with the key
/// of a system row; EntityAlreadyExists if a row of the target differs (`copy_options::overwrite`); InvalidDuplicateRow if two rows of one
/// page would get the same key; RowMismatch if the row read back differs from the written row; errors from
/// `batch_packer`, from both transports and from `change`. Resume from the last reported `copy_progress::next`. A write of unknown effect ends the copy; resuming is safe.
[[nodiscard]] result<copy_progress> copy_rows(any_store const& from, std::string from_table, any_store const& to,
    std::string to_table, detail::row_replacement change, copy_progress_callback watch,
    copy_options const& options = {});

/// Copies the rows of a table unchanged, including system rows that are data. Errors as above, but NotSupported only for the table of a
/// view and for rows from a newer version of the library.
[[nodiscard]] result<copy_progress> copy_rows(any_store const& from, std::string from_table, any_store const& to,
    std::string to_table, copy_progress_callback watch, copy_options const& options);

/// Does the same without a progress callback.
[[nodiscard]] inline result<copy_progress> copy_rows(any_store const& from, std::string from_table, any_store const& to,
    std::string to_table, copy_options const& options = {}) {
    return copy_rows(from, std::move(from_table), to, std::move(to_table), [](copy_progress const&) {}, options);
}

/// Copies the entities of a table into a table of a different type: `change` makes a `Target` from each `Source`, or an optional `Target`,
/// or a result of either. Properties that `Source` does not declare are not copied. Otherwise like `copy_rows`.
template <class Source, class Target, class Change>
[[nodiscard]] result<copy_progress> copy(table<Source> const& from, table<Target> const& to, Change const& change,
    copy_progress_callback watch, copy_options const& options = {}) {
    Source read;
    return copy_rows(
        from.store(), from.name(), to.store(), to.name(),
        [&](row_view stored) -> result<std::optional<row>> {
            ENTITABLE_CHECK(from_row(stored, read, from.options().reading));
            return detail::row_of_change<Target>(change(std::as_const(read)));
        },
        watch, options);
}

/// Does the same without a progress callback.
template <class Source, class Target, class Change>
[[nodiscard]] result<copy_progress> copy(
    table<Source> const& from, table<Target> const& to, Change const& change, copy_options const& options = {}) {
    return copy(from, to, change, [](copy_progress const&) {}, options);
}

/// Copies the rows of a table unchanged, including properties that the type does not declare, and system rows that are data.
template <class Entity>
[[nodiscard]] result<copy_progress> copy(
    table<Entity> const& from, table<Entity> const& to, copy_options const& options = {}) {
    return copy_rows(from.store(), from.name(), to.store(), to.name(), options);
}

ENTITABLE_END_NAMESPACE

#if !defined(ENTITABLE_SEPARATE_COMPILATION)
#include <entitable/bulk/copy/impl/copy.ipp>
#endif
