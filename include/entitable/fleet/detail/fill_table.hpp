// SPDX-License-Identifier: MIT
// Copyright (c) 2026 the entitable authors
#pragma once

/// \file
/// A table is filled with the rows of another one, and counted on the way.

#include <entitable/fleet/detail/stored_rows.hpp>
#include <entitable/fleet/rows_content.hpp>

ENTITABLE_BEGIN_NAMESPACE
namespace detail {

/// Inserts all rows, with retries; a row that is there already with the same properties is one that an earlier run has written. What was
/// read. EntityAlreadyExists where a row is there otherwise.
[[nodiscard]] result<rows_content> fill_with_rows(
    stored_rows& from, any_transport const& to, std::string table, clock& time, std::uint64_t* written = nullptr);
/// Reads a whole table.
[[nodiscard]] result<rows_content> content_in(any_transport const& from, std::string table);
/// Drops a table; one that is gone is done.
[[nodiscard]] result<void> drop_if_there(any_transport const& from, std::string table);

} // namespace detail
ENTITABLE_END_NAMESPACE

#if !defined(ENTITABLE_SEPARATE_COMPILATION)
#include <entitable/fleet/impl/fill_table.ipp>
#endif
