// SPDX-License-Identifier: MIT
// Copyright (c) 2026 the entitable authors
#pragma once

/// \file
/// Fills a table with the rows of another table, and counts them.

#include <entitable/shards/fleet/detail/stored_rows.hpp>
#include <entitable/shards/fleet/rows_content.hpp>

ENTITABLE_BEGIN_NAMESPACE
namespace detail {

/// Inserts all rows, with retries, and returns the content read. An existing row with the same properties counts as written by an earlier
/// run; EntityAlreadyExists if its properties differ.
[[nodiscard]] result<rows_content> fill_with_rows(
    stored_rows& from, any_store const& to, std::string table, clock& time, std::uint64_t* written = nullptr);
/// Reads a whole table.
[[nodiscard]] result<rows_content> content_in(any_store const& from, std::string table);
/// Drops a table; succeeds if it does not exist.
[[nodiscard]] result<void> drop_if_there(any_store const& from, std::string table);

} // namespace detail
ENTITABLE_END_NAMESPACE

#if !defined(ENTITABLE_SEPARATE_COMPILATION)
#include <entitable/shards/fleet/impl/fill_table.ipp>
#endif
