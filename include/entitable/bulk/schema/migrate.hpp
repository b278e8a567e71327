// SPDX-License-Identifier: MIT
// Copyright (c) 2026 the entitable authors
#pragma once

/// \file
/// `migrate`: rewrites the rows of a table from an earlier declaration to the current one, in place.

#include <entitable/bulk/schema/detail/declared_properties.hpp>
#include <entitable/client/detail/migration_mark.hpp>
#include <entitable/client/detail/query_rows.hpp>
#include <entitable/client/detail/row_of_change.hpp>
#include <entitable/client/row_walk.hpp>
#include <entitable/client/table.hpp>
#include <entitable/core/load/detail/bulk_run.hpp>
#include <entitable/core/load/detail/migration_position.hpp>
#include <entitable/core/try.hpp>

ENTITABLE_BEGIN_NAMESPACE
namespace detail {

/// Whether a row was written under the new declaration: it has a property that only this one declares. Errors: RowMismatch if it also has
/// a property that only the old one declares.
[[nodiscard]] result<bool> is_of_new_type(row_view stored, declared_properties before, declared_properties after);

/// Returns the row to write: the new one, with the stored properties that neither type declares; nullopt if it equals the stored row.
/// Errors: InvalidInput if the keys differ.
[[nodiscard]] result<std::optional<row>> migrated_row(
    row_view stored, row_view made, declared_properties before, declared_properties after);

/// Starts the walk over the rows, at a token.
using migration_start = function_ref<result<shared<row_walk>>(std::optional<std::string> token)>;

/// Runs a migration: see `migrate`.
[[nodiscard]] result<bulk_report> run_migration(query_source const& found, any_store const& through,
    std::string const& table, call_options const& calls, bulk_change convert, migration_start start,
    bulk_options options);

/// Writes the marks of the members with an earlier name or type.
[[nodiscard]] result<void> mark_migrated(any_store const& through, std::string const& table, call_options const& calls,
    declared_properties of, key_layout row_layout, clock& time);
/// Whether the table has all these marks.
[[nodiscard]] result<bool> has_marks(any_store const& through, std::string const& table, call_options const& calls,
    declared_properties of, key_layout row_layout, clock& time);

/// Runs passes over a table until one of them, which began at the first row, found nothing to rewrite; then calls `mark`. Errors:
/// UpdateConditionNotSatisfied if each of several passes rewrote rows.
[[nodiscard]] result<bulk_report> run_passes(function_ref<result<bulk_report>(bulk_options const&)> pass,
    function_ref<result<void>()> mark, bulk_options const& options);

} // namespace detail

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
/// A row whose keys would change is refused with InvalidInput: use `bulk_copy` into another table. A table with indexes or sums is refused
/// with NotSupported: their rows belong to the entities as they were; copy it into a table that declares them.
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

/// Rewrites the rows of a table that have the former name or type of a member (`formerly`, `retyped`), and marks the table: from then on the
/// service compares these members in queries, as any other member. If a row has both names, the former one is removed.
///
/// Call it when no program with the former declaration writes any more. The table is read again until one pass finds nothing to rewrite, so
/// a run without a mark reads the table at least twice. UpdateConditionNotSatisfied if other programs still write former names. A table with
/// refused rows is not marked. `bulk_options::dry_run` marks nothing. Otherwise like the function above; call it again after an
/// interruption. The mark belongs to the names, the types, and the literal that the row key begins with: do not return to a name that the
/// property had before its former name.
template <mapped_entity Entity>
[[nodiscard]] result<bulk_report> migrate(table<Entity> const& of, bulk_options const& options = {}) {
    constexpr detail::declared_properties const& declared = detail::properties_of_entity<Entity>::declared;
    static_assert(detail::has_changed_members<typename mapping<Entity>::properties>,
        "migrate(table) needs members with formerly(...) or retyped(...): pass a query of the former struct, the "
        "table, "
        "and a function");
    auto const all = of.scan_table();
    detail::query_source const* const at = detail::query_rows::source_of(all);
    auto const convert = [&](row_view stored) -> result<std::optional<row>> {
        Entity current{};
        ENTITABLE_CHECK(from_row(stored, current, of.options().reading));
        ENTITABLE_TRY(row const made, to_row(current));
        return detail::migrated_row(stored, made, declared, declared);
    };
    auto const start = [&](std::optional<std::string> token) {
        return detail::query_rows::of(token ? all.resume(*std::move(token)) : all, false);
    };
    return detail::run_passes(
        [&](bulk_options const& how) {
            return detail::run_migration(*at, of.store(), of.name(), of.options(), convert, start, how);
        },
        [&] {
            return detail::mark_migrated(
                of.store(), of.name(), of.options(), declared, mapping<Entity>::row_layout, *options.time);
        },
        options);
}
/// Does not compile: rows of indexes and sums belong to the entities as they are stored.
template <class First, class Second, class... More>
result<bulk_report> migrate(table<First, Second, More...> const&, bulk_options const& = {}) {
    static_assert(sizeof(table<First, Second, More...>*) == 0,
        "a table of several types is not migrated in place: copy its entities with bulk_copy into a table with the new "
        "declarations");
    return failure{error_code::invalid_input, {}};
}

/// Whether `migrate` has marked a table: no row has the former name or type of a member of `Entity`. Cost: one request.
template <mapped_entity Entity>
[[nodiscard]] result<bool> is_migrated(table<Entity> const& of) {
    return detail::has_marks(of.store(), of.name(), of.options(), detail::properties_of_entity<Entity>::declared,
        mapping<Entity>::row_layout, system_clock());
}

ENTITABLE_END_NAMESPACE

#if !defined(ENTITABLE_SEPARATE_COMPILATION)
#include <entitable/bulk/schema/impl/migration.ipp>
#endif
