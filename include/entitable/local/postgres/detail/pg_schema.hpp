// SPDX-License-Identifier: MIT
// Copyright (c) 2026 the entitable authors
#pragma once

/// \file
/// The tables of the library in a database, version 2, and the statements over them.

#include <entitable/core/function_ref.hpp>
#include <entitable/local/postgres/detail/pg_connection.hpp>

ENTITABLE_BEGIN_NAMESPACE
namespace detail {

/// Identifies this library's locks among two-number advisory locks: "entb".
inline constexpr std::int32_t pg_lock_class = 0x656E7462;

/// Returns the settings of our sessions, as command-line options: plans that do not depend on statistics, and the statement timeout.
[[nodiscard]] std::string pg_session_options(postgres_options const& options);
/// Returns the statement timeout in milliseconds, at least 1: 0 would disable it.
[[nodiscard]] std::int64_t pg_longest_statement(std::chrono::nanoseconds wait) noexcept;
/// Checks the format of the tables, and creates them; returns 1 or 2. `run` executes an SQL text and returns the results that have rows.
[[nodiscard]] result<std::int64_t> check_pg_schema(postgres_options const& options, bool may_create,
    function_ref<result<std::vector<pg_rows>>(std::string const&)> run);

/// Changes tables of format 1 into those of format 2; no effect on tables of format 2.
[[nodiscard]] result<void> migrate_pg_schema(
    std::string const& schema, function_ref<result<std::vector<pg_rows>>(std::string const&)> run);

} // namespace detail
ENTITABLE_END_NAMESPACE

#if !defined(ENTITABLE_SEPARATE_COMPILATION)
#include <entitable/local/postgres/impl/pg_schema.ipp>
#endif
