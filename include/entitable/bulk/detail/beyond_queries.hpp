// SPDX-License-Identifier: MIT
// Copyright (c) 2026 the entitable authors
#pragma once

/// \file
/// Rows that a bulk load over a query does not find, and must not lose: the rows of queues and views, and the parts of wide entities.

#include <entitable/core/row/system_rows.hpp>
#include <entitable/core/transport/any_store.hpp>

ENTITABLE_BEGIN_NAMESPACE
namespace detail {

/// Checks that a table does not belong to a queue or a view, in which queries find nothing. Errors: NotSupported. Cost: one request; such tables contain a marker row in a separate partition.
[[nodiscard]] result<void> check_found_by_queries(
    any_store const& in, std::string_view table, call_options const& calls, clock& time);

/// Checks that a table has no indexes and sums, whose rows belong to the entities as they are stored. Errors: NotSupported names one. Cost:
/// one request.
[[nodiscard]] result<void> check_without_companions(
    any_store const& in, std::string_view table, call_options const& calls, clock& time);

/// Checks that a row is not the main row of a wide entity, whose parts the operation would lose. Errors: NotSupported.
[[nodiscard]] result<void> check_not_wide(row_view found, std::string_view table, std::string_view instead);

} // namespace detail
ENTITABLE_END_NAMESPACE

#if !defined(ENTITABLE_SEPARATE_COMPILATION)
#include <entitable/bulk/impl/beyond_queries.ipp>
#endif
