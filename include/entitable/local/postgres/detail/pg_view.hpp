// SPDX-License-Identifier: MIT
// Copyright (c) 2026 the entitable authors
#pragma once

/// \file
/// The SQL of a view that shows the rows of a table with a typed column for each property.

#include <entitable/core/function_ref.hpp>
#include <entitable/core/row/stored_property.hpp>
#include <entitable/local/postgres/detail/pg_connection.hpp>

#include <span>

ENTITABLE_BEGIN_NAMESPACE
namespace detail {

/// Checks the names of a view and of its columns, without the database.
[[nodiscard]] result<void> check_pg_view(
    std::string_view view, std::string_view table, std::span<stored_property const> columns);
/// Makes a view, or replaces one that the library made. `key` is the stored key of the table. `run` executes an SQL text and returns the
/// results that have rows.
[[nodiscard]] result<void> make_pg_view(std::string const& schema, std::string_view view, std::string_view key,
    std::span<stored_property const> columns, function_ref<result<std::vector<pg_rows>>(std::string const&)> run);

} // namespace detail
ENTITABLE_END_NAMESPACE

#if !defined(ENTITABLE_SEPARATE_COMPILATION)
#include <entitable/local/postgres/impl/pg_view.ipp>
#endif
