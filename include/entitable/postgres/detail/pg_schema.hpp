// SPDX-License-Identifier: MIT
// Copyright (c) 2026 the entitable authors
#pragma once

/// \file
/// The tables of the library in a database, version 1, and the statements over them.

#include <entitable/core/function_ref.hpp>
#include <entitable/postgres/detail/pg_connection.hpp>

ENTITABLE_BEGIN_NAMESPACE
namespace detail {

/// Marks the locks of this library among those that programs name by two numbers: "entb".
inline constexpr std::int32_t pg_lock_class = 0x656E7462;

/// What a session of ours has set when it begins: plans that do not depend on statistics, and how long a statement may take. As options of the
/// command line of the session.
[[nodiscard]] std::string pg_session_options(postgres_options const& options);
/// The longest time of a statement in milliseconds, at least one: 0 would be none.
[[nodiscard]] std::int64_t pg_longest_statement(std::chrono::nanoseconds wait) noexcept;
/// Compares the version of the tables, and makes them; `run` runs a text and gives the answers that have rows.
[[nodiscard]] result<void> check_pg_schema(postgres_options const& options, bool may_create,
    function_ref<result<std::vector<pg_rows>>(std::string const&)> run);

} // namespace detail
ENTITABLE_END_NAMESPACE

#if !defined(ENTITABLE_SEPARATE_COMPILATION)
#include <entitable/postgres/impl/pg_schema.ipp>
#endif
