// SPDX-License-Identifier: MIT
// Copyright (c) 2026 the entitable authors
#pragma once

/// \file
/// `migrate`: rewrites the rows of a table from an earlier declaration to the current one, in place.

#include <entitable/bulk/schema/detail/migration.hpp>
#include <entitable/client/detail/query_rows.hpp>
#include <entitable/client/detail/row_of_change.hpp>
#include <entitable/client/table.hpp>

ENTITABLE_BEGIN_NAMESPACE

/// Rewrites rows of the entity type `Old`, which a query finds, as rows of `New`, under the same keys in the same table:
///
///     table<book_v1> before{store, "books"};
///     table<book> books{store, "books"};
///     migrate(before.scan_table(), books, [](book_v1 const& from) { return book{from.shelf, from.number, from.name}; });
///
/// `change` returns a `New`, an optional `New`, or a result of either. An empty optional leaves the row as it is, which counts as already
/// there; an error refuses it.
/// - A row that has a property of `New` that `Old` does not declare was written by a program with the new declaration. It counts as already
///   there if `New` can read it. `change` is not called for it.
/// - A row with a property that only `Old` declares and a property that only `New` declares is refused with RowMismatch: a program with the
///   old declaration changed it after it was rewritten. Neither value is lost.
/// - A row that neither type can read is refused with the error of the read.
/// - Properties that neither type declares stay as they are. Properties that only `Old` declares are removed.
/// - A row that is equal afterwards is not written. Rows are replaced under their ETags: if another program writes a row in between, the row
///   is read again, and `change` is called again.
///
/// So the call may be repeated. If a row could be of either type (all names are the same, and each type reads the properties of the other),
/// `change` is called again for such a row: write it so that a changed row stays unchanged.
///
/// With `bulk_options::checkpoint` an interrupted migration continues after the last `bulk_options::window` rows that it completed, even in
/// another process; the rows after that are read again. Rows that a program with the old declaration writes behind that position are
/// not found: stop these programs first, or run the migration again; `schema_drift` shows the remaining rows.
///
/// Progress, refused rows, limits and errors are those of `bulk_update`; refused rows have their keys. Errors: InvalidInput for a query of a
/// different table; CheckpointInvalid for a checkpoint of a different table, query or input; NotSupported for the table of a queue or a view.
/// A row whose keys would change is refused with InvalidInput: use `bulk_copy` into another table. Do not migrate
/// a table with indexes or sums in place: their rows belong to the entities as they were. Copy it into a table that declares them.
template <class Old, access_path Path, mapped_entity New, class Change>
    requires std::invocable<Change const&, Old const&>
[[nodiscard]] result<bulk_report> migrate(
    query<Old, Path> const& found, table<New> const& to, Change const& change, bulk_options const& options = {}) {
    constexpr detail::declared_properties const& before = detail::properties_of_entity<Old>::declared;
    constexpr detail::declared_properties const& after = detail::properties_of_entity<New>::declared;
    detail::query_source const* const at = detail::query_rows::source_of(found);
    if (at == nullptr) { return detail::moved_from("query"); }
    reading const mode = at->options.reading;
    auto const convert = [&](row_view stored) -> result<std::optional<row>> {
        ENTITABLE_TRY(bool const is_new, detail::is_of_new_type(stored, before, after));
        Old read{};
        auto decoded = from_row(stored, read, mode);
        if (!is_new && decoded) {
            ENTITABLE_TRY(auto made, detail::row_of_change<New>(change(std::as_const(read))));
            if (!made) { return std::optional<row>{}; }
            return detail::migrated_row(stored, *made, before, after);
        }
        New current{};
        auto good = from_row(stored, current, to.options().reading);
        if (good) { return std::optional<row>{}; }
        return std::move(is_new ? good : decoded).as_failure();
    };
    return detail::run_migration(
        *at, to.store(), to.name(), to.options(), convert,
        [&](std::optional<std::string> token) {
            return detail::query_rows::of(token ? found.resume(*std::move(token)) : found, false);
        },
        options);
}

ENTITABLE_END_NAMESPACE
