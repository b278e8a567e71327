// SPDX-License-Identifier: MIT
// Copyright (c) 2026 the entitable authors
#pragma once

/// \file
/// A migration without the user's types: steps of a bulk update, with a checkpoint after each.

#include <entitable/bulk/schema/detail/declared_properties.hpp>
#include <entitable/client/row_walk.hpp>
#include <entitable/core/load/detail/bulk_run.hpp>
#include <entitable/core/load/detail/migration_position.hpp>
#include <entitable/core/try.hpp>

ENTITABLE_BEGIN_NAMESPACE
namespace detail {

/// Whether a row was written under the new declaration: it has a property that only the new declaration has. Errors: RowMismatch
/// if it also has a property that only the old declaration has.
[[nodiscard]] result<bool> is_of_new_type(row_view stored, declared_properties before, declared_properties after);

/// Returns the row to write: the new row, with the stored properties that neither type declares; nullopt if it equals the stored row.
/// Errors: InvalidInput if the keys differ.
[[nodiscard]] result<std::optional<row>> migrated_row(
    row_view stored, row_view made, declared_properties before, declared_properties after);

/// Starts the walk over the rows, at a token.
using migration_start = function_ref<result<shared<row_walk>>(std::optional<std::string> token)>;

/// Runs a migration: see `migrate`.
[[nodiscard]] result<bulk_report> run_migration(query_source const& found, any_store const& through,
    std::string const& table, call_options const& calls, bulk_change convert, migration_start start,
    bulk_options options);

} // namespace detail
ENTITABLE_END_NAMESPACE

#if !defined(ENTITABLE_SEPARATE_COMPILATION)
#include <entitable/bulk/schema/impl/migration.ipp>
#endif
