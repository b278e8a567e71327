// SPDX-License-Identifier: MIT
// Copyright (c) 2026 the entitable authors
#pragma once

/// \file
/// A migration without the user's types: steps of a bulk update, with a checkpoint after each.

#include <entitable/bulk/schema/detail/declared_properties.hpp>
#include <entitable/client/detail/migration_mark.hpp>
#include <entitable/client/row_walk.hpp>
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
ENTITABLE_END_NAMESPACE

#if !defined(ENTITABLE_SEPARATE_COMPILATION)
#include <entitable/bulk/schema/impl/migration.ipp>
#endif
